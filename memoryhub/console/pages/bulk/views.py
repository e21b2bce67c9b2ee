"""Facts, notes, entities and jobs that were chosen in a list: forgotten, pinned, merged or retried
together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext

from memoryhub.console.frame.access import EDITOR, action_at, tenant_view
from memoryhub.console.frame.forms import read_back_address, read_ids
from memoryhub.console.frame.requests import ConsoleRequest
from memoryhub.console.frame.space.tabs import get_plain_space_or_404
from memoryhub.console.frame.text.nouns import counted
from memoryhub.console.pages.history.views import build_correction_undo_tags
from memoryhub.errors import MemoryHubError
from memoryhub.pipeline import corrections
from memoryhub.pipeline.corrections import Correction
from memoryhub.pipeline.ingest.services import retry_job
from memoryhub.pipeline.models import Job
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope
from notes.models import Entity

MAX_AT_ONCE = 100
REASON = "chosen in a list"


@action_at("spaces/<uuid:space_id>/facts/chosen", "space-facts-chosen")
@tenant_view(role=EDITOR)
def change_chosen_facts(request: ConsoleRequest, space_id: UUID) -> HttpResponse:
    """Forget, pin or unpin them. Forgetting is one event, with one undo."""
    space, ids = _read_choice(request, space_id)
    if ids and request.POST.get("action") == "forget":
        forget = partial(
            corrections.forget_facts, space, ids, request.actor, timezone.now(), reason=REASON
        )
        _report(request, "fact", *_run_for_each([forget]), asked=len(ids), whole=True)
    else:
        _pin(request, space, "fact", ids)
    return _go_back(request, "space-facts", space_id)


@action_at("spaces/<uuid:space_id>/notes/chosen", "space-notes-chosen")
@tenant_view(role=EDITOR)
def change_chosen_notes(request: ConsoleRequest, space_id: UUID) -> HttpResponse:
    """Forget, pin or unpin them, each in an event of its own."""
    space, ids = _read_choice(request, space_id)
    if ids and request.POST.get("action") == "forget":
        now = timezone.now()
        works = [
            partial(corrections.forget_note, space, row, request.actor, now, reason=REASON)
            for row in ids
        ]
        _report(request, "note", *_run_for_each(works), asked=len(ids))
    else:
        _pin(request, space, "note", ids)
    return _go_back(request, "space-notes", space_id)


@action_at("spaces/<uuid:space_id>/entities/chosen", "space-entities-chosen")
@tenant_view(role=EDITOR)
def merge_chosen_entities(request: ConsoleRequest, space_id: UUID) -> HttpResponse:
    """The one that is mentioned most stands for all of them, each merge an event of its own."""
    space, ids = _read_choice(request, space_id)
    with tenant_scope(request.tenant.id):
        rows = Entity.objects.filter(space=space, id__in=ids, merged_into=None, retired_at=None)
        found = list(rows.order_by("-mention_count", "id"))
    if len(found) < 2:
        messages.error(request, gettext("Nothing was done: select two entities or more."))
        return _go_back(request, "space-entities", space_id)
    kept, *others = found
    merge = partial(corrections.merge_memories, space, "entity")
    now = timezone.now()
    works = [
        partial(merge, other.id, kept.id, request.actor, now, reason=REASON) for other in others
    ]
    done, refused = _run_for_each(works)
    if refused:
        messages.error(request, gettext("Not done: %(why)s.") % {"why": refused[0]})
    if done:
        said = gettext("Merged: %(name)s stands for all of them.") % {"name": kept.name}
        undo = build_correction_undo_tags(done[0]) if len(done) == 1 else ""
        messages.success(request, said, extra_tags=undo)
    return _go_back(request, "space-entities", space_id)


@action_at("jobs/chosen", "jobs-chosen")
@tenant_view(role=EDITOR)
def retry_chosen_jobs(request: ConsoleRequest) -> HttpResponse:
    """Those that were given up or wait to be tried again."""
    with tenant_scope(request.tenant.id):
        wanted = read_ids(request.POST.getlist("ids"))[:MAX_AT_ONCE]
        rows = Job.objects.filter(id__in=wanted, state__in=Job.RETRYABLE_STATES)
        ids = list(rows.values_list("id", flat=True))
        done, refused = _run_for_each([partial(retry_job, job) for job in ids])
    _report(request, "job", done, refused, asked=len(ids))
    return redirect(read_back_address(request) or "jobs")


def _read_choice(request: ConsoleRequest, space_id: UUID) -> tuple[Space, list[UUID]]:
    with tenant_scope(request.tenant.id):
        space = get_plain_space_or_404(space_id)
    return space, read_ids(request.POST.getlist("ids"))[:MAX_AT_ONCE]


def _pin(request: ConsoleRequest, space: Space, kind: str, ids: Sequence[UUID]) -> None:
    asked = request.POST.get("action")
    if asked not in ("pin", "unpin"):
        ids = []
    now = timezone.now()
    works = [
        partial(
            corrections.set_pinned,
            *(space, kind, row, asked == "pin", request.actor, now),
            reason=REASON,
        )
        for row in ids
    ]
    _report(request, kind, *_run_for_each(works), asked=len(ids))


def _run_for_each(works: Sequence[Callable[[], Any]]) -> tuple[list[Any], list[str]]:
    """What came of each, and why the others were refused."""
    done, refused = [], []
    for work in works:
        try:
            done.append(work())
        except MemoryHubError as error:
            refused.append(str(error.message))
    return done, refused


def _report(
    request: ConsoleRequest,
    noun: str,
    done: Sequence[Any],
    refused: Sequence[str],
    *,
    asked: int,
    whole: bool = False,
) -> None:
    """`whole`: one piece of work did all that was asked. A single one can be undone from here; of
    several each is undone in the history."""
    if not asked:
        messages.error(request, gettext("Nothing was done: select rows first, then an action."))
        return
    if refused:
        messages.error(request, gettext("Not done: %(why)s.") % {"why": refused[0]})
    if done:
        count = asked if whole else len(done)
        said = gettext("Done: %(what)s.") % {"what": counted(noun, count)}
        correction = done[0] if len(done) == 1 and isinstance(done[0], Correction) else None
        undo = build_correction_undo_tags(correction) if correction else ""
        messages.success(request, said, extra_tags=undo)


def _go_back(request: ConsoleRequest, name: str, space_id: UUID) -> HttpResponse:
    return redirect(read_back_address(request) or reverse(name, args=[space_id]))
