"""What an admin may do to chosen rows: each goes through the service that the pages go through.

Corrections embed with nothing open and open their own scopes, so a list's POST comes without one
(see the middleware of pages).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from django.contrib import messages
from django.db.models import Model
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from memoryhub.console.admin.row_names import name_row
from memoryhub.console.frame.forms import read_back_address, read_ids
from memoryhub.console.frame.requests import ConsoleRequest
from memoryhub.console.pages.corrections import actions as corrections
from memoryhub.console.pages.corrections.actions import CorrectionInput
from memoryhub.console.pages.corrections.consequences import Consequences, preview_correction
from memoryhub.console.pages.history.views import build_correction_undo_tags, build_event_undo_tags
from memoryhub.errors import MemoryHubError
from memoryhub.pipeline.corrections import (
    Correction,
    correct_profile,
    correct_trait,
    select_standing,
    split_entity,
    undo_event,
)
from memoryhub.pipeline.ingest.services import cancel_job, retry_job
from memoryhub.pipeline.models import Job
from memoryhub.tenants.models import ApiKey, Space
from memoryhub.tenants.scope import tenant_scope
from memoryhub.tenants.services import pause_space, resume_space, revoke_key
from notes.models import Entity, Episode, EvolutionEvent, Fact, Note, Page
from personas.blocks import BlockWriter, delete_block, rethink_block
from personas.models import BlockVersion, CoreBlock, ProfileAttribute, Trait

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise

MAX_ROWS = 100  # of one action


@dataclass(frozen=True, slots=True)
class Order:
    """One action on one row: who wants it, when and why."""

    row: Any
    actor: str
    now: datetime
    reason: str = ""


@dataclass(frozen=True, slots=True)
class RowAction:
    """`carry_out` raises a MemoryHubError where it can't be done, and returns what offers to undo
    it, "" where nothing does. `rehearse`: what it would change. `fits`: whether a row asks for
    it; `choose`: which of several do, where that is cheaper to tell of all at once. `takes_reason`:
    whether its why stands in the history."""

    name: str
    label: StrOrPromise
    help: StrOrPromise
    done: StrOrPromise
    carry_out: Callable[[Order], str]
    fits: Callable[[Any], bool]
    danger: bool = False
    rehearse: Callable[[Order], Consequences] | None = None
    takes_reason: bool = False
    choose: Callable[[Sequence[Any]], list[Any]] | None = None

    def choose_fitting(self, rows: Sequence[Any]) -> list[Any]:
        return self.choose(rows) if self.choose else [row for row in rows if self.fits(row)]


def _build_correction(kind: str, name: str, fits: Callable[[Any], bool]) -> RowAction:
    """One of the corrections of pages, in their words."""
    told = corrections.ACTIONS_BY_NAME[name]

    def correct(order: Order, *, dry_run: bool = False) -> Any:
        given = CorrectionInput(kind, order.row.id, {"reason": order.reason}, order.row.space)
        return corrections.run_action(name, given, order.actor, order.now, dry_run=dry_run)

    return RowAction(
        name,
        told.label,
        told.help,
        told.done,
        lambda order: build_correction_undo_tags(correct(order)),
        fits,
        danger=told.danger,
        rehearse=lambda order: preview_correction(
            order.row.space, lambda: correct(order, dry_run=True)
        ),
        takes_reason=True,
    )


def _is_offered(kind: str, name: str) -> Callable[[Any], bool]:
    action = corrections.ACTIONS_BY_NAME[name]
    return lambda row: action in corrections.list_offered_actions(kind, row)


def _build_correction_of_kind(
    name: str,
    words: tuple[StrOrPromise, StrOrPromise, StrOrPromise],
    work: Callable[[Order], Correction[Any]],
    fits: Callable[[Any], bool],
    *,
    danger: bool = False,
) -> RowAction:
    """A correction that one kind of row has to itself."""
    label, help_, done = words
    return RowAction(
        name,
        label,
        help_,
        done,
        lambda order: build_correction_undo_tags(work(order)),
        fits,
        danger=danger,
        takes_reason=True,
    )


def _build_block_edit(
    name: str,
    words: tuple[StrOrPromise, StrOrPromise, StrOrPromise],
    work: Callable[[BlockWriter, Any], object],
    fits: Callable[[Any], bool],
    *,
    danger: bool = False,
) -> RowAction:
    """An edit of a block, by the service that agents and pages write it with."""

    def carry_out(order: Order) -> str:
        with tenant_scope(order.row.tenant_id):
            space = _get_block(order.row).space
            reason = order.reason or "by hand"
            writer = BlockWriter(order.actor, "person", order.now, space, reason=reason)
            work(writer, order.row)
            return build_event_undo_tags(writer.events[0]) if writer.events else ""

    label, help_, done = words
    return RowAction(name, label, help_, done, carry_out, fits, danger=danger, takes_reason=True)


def _get_block(row: Any) -> Any:
    return row if isinstance(row, CoreBlock) else row.block


def _is_own_block(row: Any) -> bool:
    """What is generated follows what it is made of, and an edit of a shared block belongs in the
    history of the space that it is made from: neither is edited from here."""
    block = _get_block(row)
    return bool(block.space_id and not block.retired_at and not block.generated)


def _rehearse_undo(order: Order) -> Consequences:
    def rehearse() -> Correction[Any]:
        return undo_event(order.row, order.actor, order.now, dry_run=True)

    return preview_correction(order.row.space, rehearse)


def _undo(order: Order) -> str:
    made = undo_event(order.row, order.actor, order.now, reason=order.reason)
    return build_event_undo_tags(made.event, gettext("Redo"))


def _choose_undoable(rows: Sequence[Any]) -> list[Any]:
    return [row for row in select_standing(rows) if not row.is_purged]


def _build_scoped(
    name: str,
    words: tuple[StrOrPromise, StrOrPromise, StrOrPromise],
    work: Callable[[Order], object],
    fits: Callable[[Any], bool],
    *,
    danger: bool = False,
) -> RowAction:
    """An action of a service that runs in its caller's scope."""

    def carry_out(order: Order) -> str:
        with tenant_scope(order.row.tenant_id):
            work(order)
        return ""

    label, help_, done = words
    return RowAction(name, label, help_, done, carry_out, fits, danger=danger)


_FACT_ACTIONS = ("retract", "end", "restore", "pin", "unpin", "forget")
_NOTE_ACTIONS = ("restore", "pin", "unpin", "forget")


def _build_pins(kind: str) -> list[RowAction]:
    """Of what may fade, and has no other correction."""
    return [
        _build_correction(kind, "pin", lambda row: not row.pinned and not row.retired_at),
        _build_correction(kind, "unpin", lambda row: row.pinned and not row.retired_at),
    ]


ACTIONS: Mapping[type[Model], Sequence[RowAction]] = {
    Fact: [_build_correction("fact", name, _is_offered("fact", name)) for name in _FACT_ACTIONS],
    Note: [_build_correction("note", name, _is_offered("note", name)) for name in _NOTE_ACTIONS],
    Episode: _build_pins("episode"),
    Page: _build_pins("page"),
    Entity: [
        _build_correction_of_kind(
            "split",
            (
                _("Split"),
                _("It stands for itself again, with what was told of it before the merge."),
                _("Split: it stands for itself."),
            ),
            lambda order: split_entity(
                order.row.space, order.row.id, order.actor, order.now, reason=order.reason
            ),
            lambda row: row.merged_into_id is not None,
        )
    ],
    Trait: [
        _build_correction_of_kind(
            "withdraw",
            (
                _("Mark as wrong"),
                _(
                    "It no longer holds from now on, and the portrait is written without it. The "
                    "hub may only propose it again."
                ),
                _("Marked as wrong: it no longer holds."),
            ),
            lambda order: correct_trait(
                order.row.space, order.row.key, "", order.actor, order.now, reason=order.reason
            ),
            lambda row: (
                row.valid_to is None
                and row.retired_at is None
                and row.owner in row.space.called_names
            ),
            danger=True,
        )
    ],
    ProfileAttribute: [
        _build_correction_of_kind(
            "remove",
            (
                _("Remove"),
                _("The profile no longer says it, and the portrait is written without it."),
                _("Removed from the profile."),
            ),
            lambda order: correct_profile(
                order.row.space, order.row.key, "", order.actor, order.now, reason=order.reason
            ),
            lambda row: row.fact_id is None and row.retired_at is None,
            danger=True,
        )
    ],
    CoreBlock: [
        _build_block_edit(
            "remove",
            (
                _("Remove"),
                _("Agents no longer see it. Its versions stay."),
                _("Removed. Its versions stay."),
            ),
            lambda writer, row: delete_block(writer, row.id),
            _is_own_block,
            danger=True,
        )
    ],
    BlockVersion: [
        _build_block_edit(
            "restore",
            (
                _("Restore this version"),
                _("The block says again what it said in this version, as a new version."),
                _("Restored as a new version."),
            ),
            lambda writer, row: rethink_block(writer, row.block_id, row.value),
            lambda row: _is_own_block(row) and row.value != row.block.value,
        )
    ],
    EvolutionEvent: [
        RowAction(
            "undo",
            _("Undo"),
            _("What it changed is as it was before. This can be undone in turn."),
            _("Undone."),
            _undo,
            lambda row: bool(_choose_undoable([row])),
            rehearse=_rehearse_undo,
            takes_reason=True,
            choose=_choose_undoable,
        )
    ],
    Job: [
        _build_scoped(
            "retry",
            (
                _("Try again"),
                _("It is attempted again from the start."),
                _("Queued for another attempt"),
            ),
            lambda order: retry_job(order.row.id),
            lambda row: row.state in Job.RETRYABLE_STATES,
        ),
        _build_scoped(
            "cancel",
            (
                _("Cancel"),
                _("It stops unfinished, and its partial results are discarded."),
                _("Cancelled"),
            ),
            lambda order: cancel_job(order.row.id, order.actor),
            lambda row: row.state in (*Job.UNFINISHED_STATES, Job.State.DEAD),
            danger=True,
        ),
    ],
    ApiKey: [
        _build_scoped(
            "revoke",
            (
                _("Revoke"),
                _("Requests with this key will be refused. This can't be undone."),
                _("Revoked"),
            ),
            lambda order: revoke_key(order.row, order.now, actor=order.actor),
            lambda row: row.revoked_at is None,
            danger=True,
        )
    ],
    Space: [
        _build_scoped(
            "pause",
            (
                _("Pause"),
                _("New messages are not kept until it is resumed."),
                _("Paused: new messages are not kept until it is resumed."),
            ),
            lambda order: pause_space(order.row, order.actor, order.now),
            lambda row: row.paused_at is None,
        ),
        _build_scoped(
            "resume",
            (
                _("Resume"),
                _("New messages are kept again."),
                _("Resumed: new messages are kept again."),
            ),
            lambda order: resume_space(order.row),
            lambda row: row.paused_at is not None,
        ),
    ],
}


def list_actions(model: type[Model]) -> Sequence[RowAction]:
    return ACTIONS.get(model, ())


def list_fitting_actions(row: Any) -> list[RowAction]:
    """Those that the row as it is asks for."""
    return [action for action in list_actions(type(row)) if action.fits(row)]


def answer_action(request: ConsoleRequest, model: type[Model], list_address: str) -> HttpResponse:
    """What a list or a row's page sends: first what it would do is shown, then it is done.

    Call without a scope.
    """
    action = next((a for a in list_actions(model) if a.name == request.POST.get("action")), None)
    back = read_back_address(request) or list_address
    ids = read_ids(request.POST.getlist("_selected_action"))[:MAX_ROWS]
    with tenant_scope(request.tenant.id):
        related = [f.name for f in model._meta.fields if f.name in ("space", "block")]
        rows = list(model._default_manager.filter(pk__in=ids).select_related(*related))
    if action is None or not rows:
        messages.error(request, gettext("Nothing was changed: select rows and an action."))
        return redirect(back)
    now, reason = timezone.now(), request.POST.get("reason", "").replace("\0", "").strip()
    orders = [Order(r, request.actor, now, reason[: corrections.MAX_REASON_LENGTH]) for r in rows]
    if request.POST.get("confirmed"):
        _carry_out(request, action, orders)
        return redirect(back)
    with tenant_scope(request.tenant.id):
        alone = len(orders) == 1 and action.rehearse
        context = {
            "action": action,
            "rows": [(row.pk, name_row(row)) for row in rows],
            "fitting": action.choose_fitting(rows),
            "outlook": alone(orders[0]) if alone else None,
            "back": back,
            "opts": model._meta,
            "takes_reason": action.takes_reason,
        }
        return render(request, "admin/confirm_action.html", context)


def _carry_out(request: ConsoleRequest, action: RowAction, orders: Sequence[Order]) -> None:
    """One by one, so that a refusal of one leaves the others done."""
    undo, refused = [], []
    for order in orders:
        try:
            undo.append(action.carry_out(order))
        except MemoryHubError as error:
            refused.append(error.message)
    if undo:
        count = ngettext("%(count)s row", "%(count)s rows", len(undo)) % {"count": len(undo)}
        said = f"{action.done} ({count})" if len(orders) > 1 else str(action.done)
        messages.success(request, said, extra_tags=undo[0] if len(undo) == 1 else "")
    for why in dict.fromkeys(refused):
        messages.error(request, gettext("Nothing was changed: %(why)s.") % {"why": why})
