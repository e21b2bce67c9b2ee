"""The recall log: what was asked, what was shown and why, for some days.

An entry is made with the answer, out of what is at hand, and written down later with the counters
(reinforcement.py): never in the request, and never twice for want of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, Protocol
from uuid import UUID

from django.conf import settings
from django.db.models import Max

from memoryhub.recall.models import RecallLog, RecallLogItem
from memoryhub.recall.question.caller import SearchCaller
from memoryhub.recall.question.prepare import strip_unstorable
from memoryhub.recall.render.explanation import SearchTrace, build_route_taken
from memoryhub.recall.render.results import ChannelRank, DroppedMemory, MemoryItem
from memoryhub.tenants.database.prepared import insert_rows
from memoryhub.tenants.ids import new_id
from memoryhub.tenants.models import Space
from notes.models import Receipt

# Of a longer question, its beginning.
_MAX_QUERY_CHARACTERS = 2000
_SCORE_DIGITS = 4


@dataclass(frozen=True, slots=True)
class RecallEntry:
    """What is to be written: a row of RecallLog, and of RecallLogItem for each shown item."""

    log: dict[str, Any]
    items: list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class AskedQuestion:
    """What was asked, in which form, how, by whom and when."""

    form: str
    query: str
    options: Mapping[str, Any]
    asked_by: SearchCaller
    at: datetime


class LoggableResult(Protocol):
    """A search's result, or a context."""

    @property
    def took_ms(self) -> Mapping[str, float]: ...
    @property
    def insufficient(self) -> bool: ...
    @property
    def degraded(self) -> Sequence[str]: ...
    @property
    def pending_turns(self) -> int: ...
    @property
    def tokens(self) -> int | None: ...
    @property
    def recall_id(self) -> UUID | None: ...


def generate_recall_id() -> UUID | None:
    """The id that the next entry will have, None where nothing is logged."""
    return new_id() if settings.RECALL_LOG_DAYS > 0 else None


def build_entry(
    told: SearchTrace,
    done: LoggableResult,
    sections: Sequence[tuple[str, Sequence[MemoryItem]]],
    asked: AskedQuestion,
) -> RecallEntry | None:
    """Plain values, without the words of any memory; None for what has no `recall_id`.

    Touches no database.
    """
    if done.recall_id is None:
        return None
    log = {
        "id": done.recall_id,
        "form": asked.form,
        "asked_at": asked.at,
        "query": strip_unstorable(asked.query)[:_MAX_QUERY_CHARACTERS],
        "via": asked.asked_by.via[:20],
        "asked_by": asked.asked_by.name[:120],
        "options": {name: value for name, value in asked.options.items() if value},
        "route": _render_route(told),
        "channels": dict(told.first.counts),
        "dropped": [_render_dropped(each) for each in told.list_dropped()],
        "judged": told.judged.verdict[:200],
        "shown": sum(len(items) for _, items in sections),
        "tokens": done.tokens,
        "took_ms": dict(done.took_ms),
        "milliseconds": round(sum(done.took_ms.values()), 2),
        "insufficient": done.insufficient,
        "unverified": told.judged.unverified,
        "degraded": list(done.degraded),
        "pending_turns": done.pending_turns,
        "rounds": told.judged.rounds,
        "policy_version": told.ask.version,
        "embedder": told.ask.model,
    }
    shown = [(name, item) for name, items in sections for item in items]
    return RecallEntry(log, [_render_item(place, *each) for place, each in enumerate(shown, 1)])


def _render_route(told: SearchTrace) -> dict[str, Any]:
    """The question once is enough: not again as the arms looked for it."""
    taken = asdict(build_route_taken(told.ask, told.channels))
    return taken | {"query": taken["query"][:_MAX_QUERY_CHARACTERS], "embedded": "", "words": ""}


def _render_item(place: int, section: str, item: MemoryItem) -> dict[str, Any]:
    return {
        "place": place,
        "section": section,
        "kind": item.kind,
        "memory_id": item.id,
        "score": round(item.score, _SCORE_DIGITS),
        "parts": {name: round(value, _SCORE_DIGITS) for name, value in item.parts.items()},
        "found": [_render_channel_rank(each) for each in item.found],
    }


def _render_channel_rank(found: ChannelRank) -> dict[str, Any]:
    """Without the reason, which may hold words of a memory."""
    return {
        "channel": found.channel,
        "rank": found.rank,
        "score": found.score,
        "arms": {name: [arm.rank, arm.score] for name, arm in found.arms.items()},
    }


def _render_dropped(dropped: DroppedMemory) -> dict[str, Any]:
    return {
        "kind": dropped.kind,
        "id": str(dropped.id),
        "why": dropped.why,
        "detail": dropped.detail,
        "score": None if dropped.score is None else round(dropped.score, _SCORE_DIGITS),
        "of": str(dropped.of) if dropped.of else None,
        "found": [[each.channel, each.rank] for each in dropped.found],
    }


def write_entries(space: Space, made: Sequence[RecallEntry]) -> None:
    """Call inside the tenant's scope. What tells of something erased meanwhile is not written."""
    erased = Receipt.objects.aggregate(at=Max("created_at"))["at"] if made else None
    kept = [each for each in made if erased is None or erased < each.log["asked_at"]]
    if not kept:
        return
    places = {"tenant_id": space.tenant_id, "space_id": space.id}
    insert_rows(RecallLog, [{**places, **each.log} for each in kept])
    items = [{**places, "log_id": e.log["id"], **item} for e in kept for item in e.items]
    insert_rows(RecallLogItem, items)
