"""What was asked of the spaces, what was shown and why: the recall log for people."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Q, QuerySet
from django.http import Http404
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from memoryhub.console import explained, ranges
from memoryhub.console.listing import Choice, Filters, Page, containing, page_of
from memoryhub.console.reading import read_id
from memoryhub.console.staging import because
from memoryhub.recall.hydration import Found, hydrate, links_of
from memoryhub.recall.models import RecallLog, RecallLogItem
from memoryhub.recall.prompting import block, handles_of, words_for
from memoryhub.recall.results import Item
from memoryhub.tenants.models import ApiKey, Space

FORM = Choice("form", _("Asked as"), (("all", _("anything")), *RecallLog.Form.choices))
OUTCOME = Choice(
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
VIA = Choice(
    "via",
    _("By"),
    (
        ("all", _("anyone")),
        ("api", _("API")),
        ("chat", _("chat")),
        ("console", _("console")),
    ),
)
CHOICES = (ranges.KEPT, FORM, OUTCOME, VIA)
_OUTCOMES = {
    "insufficient": Q(insufficient=True),
    "degraded": ~Q(degraded=[]),
    "pending": Q(pending_turns__gt=0),
    "good": Q(insufficient=False, degraded=[], pending_turns=0),
}
# Not read for a list.
_HEAVY = ("route", "dropped", "took_ms", "options")
# Of a memory's page, this many of the questions it was shown for.
LATEST = 5


@dataclass(frozen=True, slots=True)
class Narrowed:
    """One space's questions, or those that one memory was shown for."""

    space: Space | None = None
    memory: UUID | None = None


def recalls(filters: Filters, narrowed: Narrowed, now: datetime) -> QuerySet[RecallLog]:
    """Newest first, without what only the page of one shows."""
    rows = _of(narrowed).filter(ranges.within(filters["days"], "asked_at", now))
    for name in ("form", "via"):
        if filters[name] != "all":
            rows = rows.filter(**{name: filters[name]})
    if filters["outcome"] != "all":
        rows = rows.filter(_OUTCOMES[filters["outcome"]])
    rows = rows.filter(containing(filters.q, "query", "space__subject", "space__name", "asked_by"))
    return rows.select_related("space").defer(*_HEAVY)


def page_of_recalls(rows: QuerySet[RecallLog], number: int) -> Page[Any]:
    """(entry, who asked) a row."""
    page = page_of(rows, number)
    keys = _keys(page.rows)
    return page.map(lambda log: (log, asker(log, keys)))


def _of(narrowed: Narrowed) -> QuerySet[RecallLog]:
    rows: QuerySet[RecallLog] = RecallLog.objects.all()
    if narrowed.space is not None:
        rows = rows.filter(space=narrowed.space)
    if narrowed.memory is not None:
        items = RecallLogItem.objects.filter(memory_id=narrowed.memory)
        rows = rows.filter(id__in=items.values("log"))
    return rows


def shown_for(space: Space, memory: UUID) -> Page[RecallLog]:
    """The latest questions that a memory was shown for, and how many there are."""
    rows = _of(Narrowed(space, memory)).defer(*_HEAVY)
    return page_of(rows, 1, LATEST)


def recall_or_404(recall_id: UUID) -> RecallLog:
    rows = RecallLog.objects.select_related("space")
    found: RecallLog | None = rows.filter(id=recall_id).first()
    if found is None:
        raise Http404
    return found


def asker_of(log: RecallLog) -> str:
    return asker(log, _keys([log]))


def asker(log: RecallLog, keys: dict[str, str]) -> str:
    """Who asked, in words: a key by its name. `keys`: names by id."""
    if log.via == "api":
        name = keys.get(log.asked_by)
        return gettext("API key %(name)s") % {"name": name} if name else "API"
    return " ".join(part for part in (_via(log.via), log.asked_by) if part) or gettext("the hub")


def _via(name: str) -> str:
    return str(dict(VIA.options).get(name, name))


def _keys(logs: Iterable[RecallLog]) -> dict[str, str]:
    ids = {log.asked_by for log in logs if log.via == "api" and read_id(log.asked_by)}
    rows = ApiKey.objects.filter(id__in=ids).values_list("id", "name") if ids else ()
    return {str(at): name for at, name in rows}


def key_names() -> dict[str, str]:
    """Of all keys, as `asker` wants them."""
    return {str(at): name for at, name in ApiKey.objects.order_by().values_list("id", "name")}


def told(log: RecallLog) -> dict[str, Any]:
    """`shown`, `left` and, of a context, the `text` it would be with the words of today, and how
    many parts of `core` memory stood before, of which no words are kept.

    A query a kind. What is erased has no words any more.
    """
    every = list(log.items.all())
    rows = [row for row in every if row.kind != "core"]
    memories = [(row.kind, row.memory_id) for row in rows]
    known = words_of([*memories, *((each["kind"], UUID(each["id"])) for each in log.dropped)])
    shown = explained.of_log(rows, known)
    return {
        "shown": shown,
        "because": because(log.route.get("because", "")),
        "left": explained.of_logged_dropped(log.dropped, known),
        "text": packed(shown),
        "took": explained.stages(log.took_ms),
        "core": len(every) - len(rows),
    }


def packed(shown: Sequence[explained.Shown]) -> str:
    """The block of a context, as far as its memories have words."""
    sections: dict[str, list[Item]] = {}
    for row in shown:
        if row.section and row.item:
            sections.setdefault(row.section, []).append(row.item)
    parts = list(sections.items())
    words = words_for(item.text for _, items in parts for item in items)
    return block(parts, handles_of(parts), words)


def words_of(memories: Sequence[tuple[str, UUID]]) -> dict[UUID, Item]:
    """What memories, (kind, id) each, say today; of those that are gone nothing. A query a kind."""
    found = [Found(kind, at, 0.0) for kind, at in dict.fromkeys(memories)]  # type: ignore[arg-type]  # the kinds that were logged
    links = links_of(each.id for each in found if each.kind in ("fact", "note"))
    return {item.id: item for item in hydrate(found, links)}
