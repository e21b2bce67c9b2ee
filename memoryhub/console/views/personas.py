"""Who a space is about, and the blocks in front of its agents."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from uuid import UUID

from django.db import transaction
from django.http import Http404, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.utils.translation import gettext as _

from memoryhub.console.access import tenant_page
from memoryhub.console.listing import page_in, read_filters
from memoryhub.console.outcomes import tried
from memoryhub.console.queries import personas as queries
from memoryhub.console.queries.spaces import space_or_404
from memoryhub.console.requests import ConsoleRequest
from memoryhub.console.views.history import undoing
from memoryhub.console.views.spaces import space_at, tab
from memoryhub.errors import InvalidInput
from memoryhub.policies.services import policy_of
from memoryhub.tenants.models import Membership, Space
from personas import blocks, portrait, profiles, traits
from personas.blocks import MAX_LIMIT, Writer
from personas.models import CoreBlock


@tenant_page()
def persona(request: ConsoleRequest, space_id: UUID) -> HttpResponse:
    space, moment = space_at(request, space_id)
    policy = policy_of(space).policy
    filters = read_filters(request.GET, (queries.CATEGORY, queries.LEVEL))
    shown = queries.persona(space, policy, moment, filters)
    return tab(
        request,
        space,
        "persona",
        persona=shown,
        policy=policy,
        filters=filters,
        moment=moment,
    )


@tenant_page(role=Membership.Role.EDITOR)
def set_trait(request: ConsoleRequest, space_id: UUID) -> HttpResponse:
    space = _posted(request, space_id)
    key, level = request.POST.get("key", ""), request.POST.get("level", "")
    now = timezone.now()

    def change() -> None:
        traits.correct(space, key, level, request.user.username, now)
        portrait.redraw(space, now)

    said = _("Set. The pipeline will propose a change, not make one.")
    _tried(request, space, now, change, said)
    return redirect("space-persona", space_id=space.id)


@tenant_page(role=Membership.Role.EDITOR)
def set_profile(request: ConsoleRequest, space_id: UUID) -> HttpResponse:
    space = _posted(request, space_id)
    key, value = request.POST.get("key", ""), request.POST.get("value", "")
    now = timezone.now()

    def change() -> None:
        profiles.write(space, key, value, request.user.username, now)
        portrait.redraw(space, now)

    _tried(request, space, now, change, _("The profile is changed."))
    return redirect("space-persona", space_id=space.id)


@tenant_page()
def block_list(request: ConsoleRequest, space_id: UUID) -> HttpResponse:
    space, moment = space_at(request, space_id)
    filters = read_filters(request.GET, (queries.BLOCK_KIND,))
    found = queries.blocks(space, filters, moment)
    return tab(
        request,
        space,
        "blocks",
        page=page_in(found, filters.page),
        filters=filters,
        moment=moment,
        attachable=queries.attachable(space),
        limit=policy_of(space).policy.core.char_limit,
    )


@tenant_page()
def block(request: ConsoleRequest, space_id: UUID, block_id: UUID) -> HttpResponse:
    space = space_or_404(space_id, timezone.now())
    found = queries.block_or_404(space, block_id)
    return tab(
        request,
        space,
        "block",
        core=found,
        versions=queries.versions(found),
        draft=request.session.pop(_draft_key(found), None),
    )


@tenant_page(role=Membership.Role.EDITOR)
def new_block(request: ConsoleRequest, space_id: UUID) -> HttpResponse:
    space = _posted(request, space_id)
    form, writer = request.POST, _writer(request, space)

    def change() -> None:
        blocks.create(
            writer,
            form.get("label", ""),
            _lines(form.get("value", "")),
            tenant_id=space.tenant_id,
            space=None if form.get("shared") else space,
            description=form.get("description", ""),
            char_limit=_number(form.get("char_limit", "")),
            read_only=bool(form.get("read_only")),
        )
        if form.get("shared"):
            label = form.get("label", "").strip()
            shared = CoreBlock.objects.get(space=None, agent="", label=label, retired_at=None)
            blocks.attach(shared, space)

    said = _("The block is there. Agents see it from their next step on.")
    _tried(request, space, writer.now, change, said)
    return redirect("space-blocks", space_id=space.id)


@tenant_page(role=Membership.Role.EDITOR)
def save_block(request: ConsoleRequest, space_id: UUID, block_id: UUID) -> HttpResponse:
    """All of the form at once; what was typed is kept when it is refused."""
    space, found = _block(request, space_id, block_id)
    form, writer = request.POST, _writer(request, space)
    value = _lines(form.get("value", ""))

    def change() -> None:
        blocks.revise(
            writer,
            found.id,
            _number(form.get("version", "")),
            value=value,
            label=form.get("label", ""),
            char_limit=_number(form.get("char_limit", "")),
        )

    if not _tried(request, space, writer.now, change, _("Saved as a new version.")):
        request.session[_draft_key(found)] = value[:MAX_LIMIT]
    return redirect("space-block", space_id=space.id, block_id=found.id)


@tenant_page(role=Membership.Role.EDITOR)
def delete_block(request: ConsoleRequest, space_id: UUID, block_id: UUID) -> HttpResponse:
    space, found = _block(request, space_id, block_id)
    done, writer = _("Taken away. Its versions stay."), _writer(request, space)
    _tried(request, space, writer.now, lambda: blocks.delete(writer, found.id), done)
    return redirect("space-blocks", space_id=space.id)


@tenant_page(role=Membership.Role.EDITOR)
def attach_block(request: ConsoleRequest, space_id: UUID, block_id: UUID) -> HttpResponse:
    space, found = _block(request, space_id, block_id, anywhere=True)
    done = _("Agents of this space see it now.")
    tried(request, lambda: blocks.attach(found, space), done, refused=_("Not changed"))
    return redirect("space-blocks", space_id=space.id)


@tenant_page(role=Membership.Role.EDITOR)
def detach_block(request: ConsoleRequest, space_id: UUID, block_id: UUID) -> HttpResponse:
    space, found = _block(request, space_id, block_id)
    done = _("Agents of this space no longer see it.")
    tried(request, lambda: blocks.detach(found, space), done, refused=_("Not changed"))
    return redirect("space-blocks", space_id=space.id)


def _posted(request: ConsoleRequest, space_id: UUID) -> Space:
    if request.method != "POST":
        raise Http404
    found: Space = space_or_404(space_id, timezone.now())
    return found


def _block(
    request: ConsoleRequest, space_id: UUID, block_id: UUID, *, anywhere: bool = False
) -> tuple[Space, CoreBlock]:
    space = _posted(request, space_id)
    return space, queries.block_or_404(space, block_id, anywhere=anywhere)


def _writer(request: ConsoleRequest, space: Space) -> Writer:
    return Writer(request.user.username, "person", timezone.now(), space, reason="by hand")


def _tried(
    request: ConsoleRequest, space: Space, at: datetime, change: Callable[[], object], done: str
) -> bool:
    """All of it or nothing, in one transaction; what it changed `at` this moment can be undone."""
    return tried(
        request,
        transaction.atomic()(change),
        done,
        refused=_("Not changed"),
        undo=lambda: undoing(space, request.user.username, at),
    )


def _number(text: str) -> int:
    if not text.strip().isdecimal() or len(text) > 9:
        raise InvalidInput(_("a whole number"), field="number")
    return int(text)


def _lines(text: str) -> str:
    """As agents write lines: browsers send two characters for an end of line."""
    return text.replace("\r\n", "\n").replace("\0", "")


def _draft_key(block: CoreBlock) -> str:
    return f"block-{block.id}"
