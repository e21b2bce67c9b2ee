"""The recall log: what was asked, and each question with the way it took."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db.models import Q, QuerySet
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils import timezone
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from memoryhub.console.frame import day_ranges, exports
from memoryhub.console.frame.access import page_at, tenant_page
from memoryhub.console.frame.forms import read_id
from memoryhub.console.frame.lists import (
    FilterChoice,
    Filters,
    ListPage,
    build_text_condition,
    load_page,
    read_filters,
)
from memoryhub.console.frame.requests import ConsoleRequest
from memoryhub.console.pages.search import explanation
from memoryhub.console.pages.search.stages import describe_route_reason
from memoryhub.recall.models import RecallLog, RecallLogItem
from memoryhub.recall.render.hydrate import FoundMemory, hydrate_memories, load_source_links
from memoryhub.recall.render.prompt import build_handles, choose_prompt_words, format_block
from memoryhub.recall.render.results import MemoryItem
from memoryhub.tenants.models import ApiKey, Space

RECALL_FORM_CHOICE = FilterChoice(
    "form", _("Request type"), (("all", _("anything")), *RecallLog.Form.choices)
)
RECALL_OUTCOME_CHOICE = FilterChoice(
    "outcome",
    _("Outcome"),
    (
        ("all", _("any")),
        ("insufficient", _("not enough found")),
        ("degraded", _("degraded")),
        ("pending", _("turns unread")),
        ("good", _("none of these")),
    ),
)
RECALL_VIA_CHOICE = FilterChoice(
    "via",
    _("By"),
    (("all", _("anyone")), ("api", _("API")), ("chat", _("chat")), ("console", _("console"))),
)
RECALL_CHOICES = (
    day_ranges.KEPT_DAYS_CHOICE,
    RECALL_FORM_CHOICE,
    RECALL_OUTCOME_CHOICE,
    RECALL_VIA_CHOICE,
)
_RECALL_OUTCOME_CONDITIONS = {
    "insufficient": Q(insufficient=True),
    "degraded": ~Q(degraded=[]),
    "pending": Q(pending_turns__gt=0),
    "good": Q(insufficient=False, degraded=[], pending_turns=0),
}
# Not read for a list.
_DEFERRED_LOG_COLUMNS = ("route", "dropped", "took_ms", "options")
# Of a memory's page, this many of the questions it was shown for.
MAX_LATEST_RECALLS = 5


def list_recalls(
    filters: Filters, space: Space | None, memory: UUID | None, now: datetime
) -> QuerySet[RecallLog]:
    """Newest first, without what only the page of one shows."""
    rows = _list_recalls_of(space, memory).filter(
        day_ranges.build_range_condition(filters["days"], "asked_at", now),
        _RECALL_OUTCOME_CONDITIONS.get(filters["outcome"], Q()),
        build_text_condition(filters.q, "query", "space__subject", "space__name", "asked_by"),
        **filters.chosen_values("form", "via"),
    )
    return rows.select_related("space")


def _list_recalls_of(space: Space | None, memory: UUID | None) -> QuerySet[RecallLog]:
    """One space's, or those that one memory was shown for."""
    rows: QuerySet[RecallLog] = RecallLog.objects.defer(*_DEFERRED_LOG_COLUMNS)
    if space is not None:
        rows = rows.filter(space=space)
    if memory is not None:
        rows = rows.filter(id__in=RecallLogItem.objects.filter(memory_id=memory).values("log"))
    return rows


def load_recalls_showing(space: Space, memory: UUID) -> ListPage[RecallLog]:
    """The latest questions that a memory was shown for, and how many there are."""
    return load_page(_list_recalls_of(space, memory), 1, MAX_LATEST_RECALLS)


def format_asker(log: RecallLog, keys: dict[str, str]) -> str:
    """Who asked, in words: a key by its name. `keys`: names by id."""
    if log.via == "api":
        name = keys.get(log.asked_by)
        return gettext("API key %(name)s") % {"name": name} if name else "API"
    via = str(dict(RECALL_VIA_CHOICE.options).get(log.via, log.via))
    return " ".join(part for part in (via, log.asked_by) if part) or gettext("the hub")


def _load_names_of_askers(logs: Iterable[RecallLog]) -> dict[str, str]:
    ids = {log.asked_by for log in logs if log.via == "api" and read_id(log.asked_by)}
    rows = ApiKey.objects.filter(id__in=ids).values_list("id", "name") if ids else ()
    return {str(at): name for at, name in rows}


def explain_recall(log: RecallLog) -> dict[str, Any]:
    """`shown`, `left` and, of a context, the `text` it would be with the words of today, and how
    many parts of `core` memory stood before, of which no words are kept.

    A query a kind. What is erased has no words any more.
    """
    every = list(log.items.all())
    rows = [row for row in every if row.kind != "core"]
    memories = [(row.kind, row.memory_id) for row in rows]
    known = load_memory_items(
        [*memories, *((each["kind"], UUID(each["id"])) for each in log.dropped)]
    )
    shown = explanation.explain_log(rows, known)
    return {
        "shown": shown,
        "because": describe_route_reason(log.route.get("because", "")),
        "left": explanation.explain_logged_dropped(log.dropped, known),
        "text": pack_shown_context(shown),
        "took": explanation.sort_stages(log.took_ms),
        "core": len(every) - len(rows),
    }


def pack_shown_context(shown: Sequence[explanation.ShownResult]) -> str:
    """The block of a context, as far as its memories have words."""
    sections: dict[str, list[MemoryItem]] = {}
    for row in shown:
        if row.section and row.item:
            sections.setdefault(row.section, []).append(row.item)
    parts = list(sections.items())
    words = choose_prompt_words(item.text for _, items in parts for item in items)
    return format_block(parts, build_handles(parts), words)


def load_memory_items(memories: Sequence[tuple[str, UUID]]) -> dict[UUID, MemoryItem]:
    """What memories, (kind, id) each, say today; of those that are gone nothing. A query a kind."""
    found = [FoundMemory(kind, at, 0.0) for kind, at in dict.fromkeys(memories)]  # type: ignore[arg-type]  # the kinds that were logged
    links = load_source_links(each.id for each in found if each.kind in ("fact", "note"))
    return {item.id: item for item in hydrate_memories(found, links)}


@page_at("recalls/", "recalls")
@tenant_page()
def recall_list_page(request: ConsoleRequest) -> HttpResponse:
    """`?space=` narrows it to one space, `?memory=` to what a memory was shown for."""
    filters = read_filters(request.GET, RECALL_CHOICES)
    space_id = read_id(request.GET.get("space", ""))
    space = Space.objects.filter(id=space_id).first() if space_id else None
    memory = read_id(request.GET.get("memory", ""))
    rows = list_recalls(filters, space, memory, timezone.now())
    if form := exports.read_export_format(request):
        return exports.export_rows(form, "recalls", _build_recall_columns(), rows)
    held = {"space": space.id if space else None, "memory": memory}
    page = load_page(rows, filters.page)
    keys = _load_names_of_askers(page.rows)
    context = {
        "filters": filters,
        "narrowed": {"space": space, "memory": memory},
        "held": {name: value for name, value in held.items() if value},
        "page": page.map(lambda log: (log, format_asker(log, keys))),
        "kept": settings.RECALL_LOG_DAYS,
    }
    return render(request, "recalls/list.html", context)


def _build_recall_columns() -> list[exports.ExportColumn]:
    keys = ApiKey.objects.order_by().values_list("id", "name")
    names = {str(key_id): name for key_id, name in keys}
    told = exports.build_columns(
        "asked_at space.subject form query shown tokens milliseconds insufficient unverified "
        "degraded pending_turns channels policy_version embedder id"
    )
    return [*told, ("asker", lambda log: format_asker(log, names))]


@page_at("recalls/<uuid:recall_id>/", "recall")
@tenant_page()
def recall_page(request: ConsoleRequest, recall_id: UUID) -> HttpResponse:
    log = get_object_or_404(RecallLog.objects.select_related("space").filter(id=recall_id))
    asker = format_asker(log, _load_names_of_askers([log]))
    context = {"log": log, "space": log.space, "asker": asker}
    return render(request, "recalls/recall.html", context | explain_recall(log))
