"""How many rows there are of each kind, how many came in the last days, and what ends them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.db import connection
from django.db.models import Model
from django.utils.translation import gettext_lazy as _

from memoryhub.declarations import Growth
from memoryhub.pipeline.ageing import AgeingTable, list_growing_tables
from memoryhub.policies.schema import Policy
from notes.history.row_kinds import list_row_kinds

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise

# Days that the chart of what came shows, today the last.
DAYS_SHOWN = 14


@dataclass(frozen=True, slots=True)
class KindWords:
    """A kind of rows in people's words: what it is, why it grows, when it is deleted other than by
    age, and the page that lists it ("": none)."""

    title: StrOrPromise
    why: StrOrPromise
    ends: StrOrPromise
    page: str = ""


_BY_ERASING = _("when erased, or with their space")
_WITH_SPACE = _("with their space")
_BY_HAND = _("by a person")
KINDS: Mapping[str, KindWords] = {
    "said": KindWords(
        _("Conversations"), _("Every message verbatim, and agents' windows."), _BY_ERASING
    ),
    "memories": KindWords(
        _("Memories"),
        _("What was derived from messages, with its search vectors and words."),
        _BY_ERASING,
        "spaces",
    ),
    "history": KindWords(
        _("History of memories"),
        _("Every change to a memory with its sources, so that it can be undone."),
        _BY_ERASING,
    ),
    "review": KindWords(
        _("Inbox cases and feedback"),
        _("Inbox cases, rules and people's feedback on memories."),
        _("with the memory they are about"),
        "review",
    ),
    "erasures": KindWords(
        _("Erasure records"),
        _("Receipts, and hashes that keep erased content from coming back."),
        _("after three years; hashes of returned content after thirty days"),
        "receipts",
    ),
    "recalls": KindWords(_("Recalls"), _("Every search and its results."), "", "recalls"),
    "requests": KindWords(_("Requests"), _("Every request with an API key."), "", "requests"),
    "calls": KindWords(
        _("Model calls"),
        _("Every model call with its text and cost."),
        _WITH_SPACE,
        "usage",
    ),
    "jobs": KindWords(
        _("Jobs"),
        _("Every processing step and its decisions."),
        _WITH_SPACE,
        "jobs",
    ),
    "answers": KindWords(
        _("Idempotent responses"),
        _("Responses to writes with an Idempotency-Key, so that each is carried out once."),
        "",
    ),
    "webhooks": KindWords(
        _("Events for webhooks"), _("Every event and every delivery."), "", "webhooks"
    ),
    "imports": KindWords(
        _("Imports"),
        _("The report of every import. The files themselves are deleted after the import."),
        _WITH_SPACE,
        "imports",
    ),
    "changes": KindWords(
        _("List of changes"),
        _("Every change to keys, people, webhooks and settings."),
        "",
        "changes",
    ),
    "golden": KindWords(
        _("Replays of test questions"), _("Every replay and its answers."), _BY_HAND, "replays"
    ),
    "lab": KindWords(_("Lab results"), _("Every run and its answers."), _BY_HAND, "lab"),
    "items": KindWords(
        _("Agent items"),
        _("Items that agents store themselves."),
        _("by the agent that stored them, or at the time it set"),
    ),
    "settings": KindWords(
        _("Settings and people"), _("Spaces, people, keys, policies."), _BY_HAND, "settings"
    ),
}


@dataclass(slots=True)
class KindGrowth:
    """The rows of a kind. `bytes` is about right: the rows times the bytes of one, indexes with
    it. `came`: rows that came on each of the last days. `days`: after how many its rows end, None:
    never by age; `bounded_by`: the hub's setting, where that is what counts."""

    words: KindWords
    rows: int = 0
    bytes: int = 0
    oldest: datetime | None = None
    came: list[int] = field(default_factory=lambda: [0] * DAYS_SHOWN)
    days: int | None = None
    bounded_by: str = ""
    share: float = 0.0

    @property
    def came_lately(self) -> int:
        return sum(self.came)

    @property
    def bars(self) -> list[tuple[int, float, float, int]]:
        """(x, y, height, rows) of each day, in a picture 14 wide and 10 high."""
        most = max(self.came) or 1
        heights = [round(10 * count / most, 2) for count in self.came]
        return [(x, 10 - h, h, self.came[x]) for x, h in enumerate(heights)]


@dataclass(frozen=True, slots=True)
class HubKind:
    """A kind's tables over all tenants: rows about, bytes, rows that come a day (None before a day
    was counted), its share."""

    title: StrOrPromise
    rows: int
    bytes: int
    a_day: float | None
    share: float


def list_tables() -> list[AgeingTable]:
    """Every table of tenants' rows, memories among them."""
    memories = [
        AgeingTable(model._meta.label_lower, model, Growth(kind="memories", at=_find_time(model)))
        for model in (kind.model for kind in list_row_kinds())
    ]
    return [*list_growing_tables(), *memories]


def _find_time(model: type[Model]) -> str:
    """The column that tells when a memory was written, "" where none does."""
    there = {column.name for column in model._meta.fields}
    return next((name for name in ("recorded_at", "created_at") if name in there), "")


def load_kinds(policy: Policy, now: datetime) -> list[KindGrowth]:
    """The tenant's own rows by kind, the largest first. Two statements, inside the scope."""
    tables = list_tables()
    weights = _load_row_weights()
    found: dict[str, KindGrowth] = {}
    for table, (rows, oldest, *came) in _count_rows(tables, now):
        kind = found.setdefault(table.growth.kind, KindGrowth(KINDS[table.growth.kind]))
        kind.rows += rows
        kind.bytes += round(rows * weights.get(table.model._meta.db_table, 0))
        kind.oldest = min((at for at in (kind.oldest, oldest) if at), default=None)
        kind.came = [one + more for one, more in zip(kind.came, came, strict=True)]
        _set_days(kind, table, policy)
    most = max((kind.bytes for kind in found.values()), default=0) or 1
    for kind in found.values():
        kind.share = round(100 * kind.bytes / most, 1)
    return sorted(found.values(), key=lambda kind: (-kind.bytes, -kind.rows))


def _set_days(kind: KindGrowth, table: AgeingTable, policy: Policy) -> None:
    days = table.find_days(policy)
    if days is None:
        return
    kind.days = days
    name = table.growth.hub_days
    told = getattr(policy.retention, table.growth.days)
    if name and days == getattr(settings, name) and days != told:
        kind.bounded_by = f"MEMORYHUB_{name}"


def _count_rows(
    tables: Sequence[AgeingTable], now: datetime
) -> Iterable[tuple[AgeingTable, Sequence[Any]]]:
    """(rows, the oldest's time, rows of each day) of each table; row-level security tells whose."""
    midnight = now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    starts = [midnight - timedelta(days=DAYS_SHOWN - 1 - n) for n in range(DAYS_SHOWN + 1)]
    values: dict[str, Any] = {f"d{n}": at for n, at in enumerate(starts)}
    quote = connection.ops.quote_name
    parts = []
    for place, table in enumerate(tables):
        told = ["NULL::timestamptz", *["0"] * DAYS_SHOWN]
        if table.growth.at:
            at = quote(table.growth.at)
            told = [f"min({at})"]
            told += [
                f"count(*) FILTER (WHERE {at} >= %(d{n})s AND {at} < %(d{n + 1})s)"
                for n in range(DAYS_SHOWN)
            ]
        name = quote(table.model._meta.db_table)
        parts.append(f"SELECT {place}, count(*), {', '.join(told)} FROM {name}")  # noqa: S608  # names of models
    with connection.cursor() as cursor:
        cursor.execute(" UNION ALL ".join(parts), values)
        return [(tables[place], counts) for place, *counts in cursor.fetchall()]


_SIZES_SQL = """
SELECT c.relname, pg_total_relation_size(c.oid), greatest(s.n_live_tup, c.reltuples::bigint, 0),
       s.n_tup_ins - s.n_tup_del
FROM pg_class c JOIN pg_stat_user_tables s ON s.relid = c.oid
WHERE c.relnamespace = 'public'::regnamespace
"""
_COUNTED_SINCE_SQL = """
SELECT coalesce(stats_reset, (SELECT min(applied) FROM django_migrations))
FROM pg_stat_database WHERE datname = current_database()
"""


def _load_row_weights() -> dict[str, float]:
    """By table, the bytes that one row takes on disk with its indexes, over all tenants."""
    with connection.cursor() as cursor:
        cursor.execute(_SIZES_SQL)
        return {name: size / rows for name, size, rows, _grown in cursor.fetchall() if rows}


def load_hub_kinds(now: datetime) -> tuple[list[HubKind], datetime | None, int]:
    """(kinds by size, since when PostgreSQL counts what comes, bytes of all). For operators."""
    kinds = {table.model._meta.db_table: table.growth.kind for table in list_tables()}
    with connection.cursor() as cursor:
        cursor.execute(_COUNTED_SINCE_SQL)
        (since,) = cursor.fetchone() or (None,)
        cursor.execute(_SIZES_SQL)
        sizes = cursor.fetchall()
    days = (now - since) / timedelta(days=1) if since else 0.0
    sums: dict[str, list[int]] = {}
    for name, size, rows, grown in sizes:
        kind = sums.setdefault(kinds.get(name, ""), [0, 0, 0])
        kind[:] = [kind[0] + size, kind[1] + rows, kind[2] + grown]
    total = sum(size for size, *_rest in sums.values())
    most = max((size for size, *_rest in sums.values()), default=0) or 1
    found = [
        HubKind(
            KINDS[kind].title if kind else _("Accounts, sessions and the queue"),
            rows,
            size,
            grown / days if days >= 1 else None,
            round(100 * size / most, 1),
        )
        for kind, (size, rows, grown) in sums.items()
    ]
    return sorted(found, key=lambda each: -each.bytes), since, total
