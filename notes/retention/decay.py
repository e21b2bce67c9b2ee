"""What may fade: dates of forgetting, what recall does to them, and what is seen meanwhile.

`forget_at` is the truth, set when a row is made or recalled; `visibility` follows it in sweeps,
so the rows hidden at a time are the same however often anybody swept. Nothing is deleted, and
everything comes back when it is recalled (spec §11.6).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple, TypeVar
from uuid import UUID

from django.db import connection
from django.db.backends.utils import CursorWrapper
from django.db.models import F, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce

from memoryhub.dialogues.models import Turn
from memoryhub.policies.schema import ForgetPolicy
from memoryhub.policies.services import load_effective_policy
from memoryhub.tenants.database.prepared import load_prepared_rows, open_prepared_cursor
from memoryhub.tenants.models import Space
from notes.facts.validity import build_fact_current_sql
from notes.history.change_set import ChangeSet
from notes.models import Episode, EvolutionEvent, Fact, Note, Page
from notes.models.base import Retained
from notes.retention.curve import (
    compute_forget_at,
    compute_rank_weight,
    compute_retention,
    is_hiding_enabled,
)

# A kind of recalled thing ("fact", "note", "page", "episode", or "turn" for its page) and its id.
RecalledItem = tuple[str, UUID]


class RecalledContext(NamedTuple):
    """What reached a context, and when."""

    items: Collection[RecalledItem]
    at: datetime


Retainable = Fact | Note | Page | Episode

RETAINED_MODELS: dict[str, Any] = {"fact": Fact, "note": Note, "page": Page, "episode": Episode}
ACTIVE, DORMANT = Retained.Visibility.ACTIVE, Retained.Visibility.DORMANT
# Renewed for ever: they are about all that was said and have no age of their own.
AGELESS_KINDS = (Episode.Kind.ROLLING, Episode.Kind.GLOBAL, Episode.Kind.GLOBAL_PERSONA)
_BATCH_SIZE = 1000
T = TypeVar("T")


# What may be seen


def build_visible_q(forget: ForgetPolicy) -> Q:
    """A filter for facts, notes, pages and episodes; leave it out to search deep."""
    return Q(visibility=ACTIVE) if is_hiding_enabled(forget) else Q()


def build_row_visible_sql(alias: str, forget: ForgetPolicy) -> str:
    """`visible` of the row named `alias`."""
    return f"({alias}.visibility = 'active')" if is_hiding_enabled(forget) else "(TRUE)"


# Shown


@dataclass(frozen=True, slots=True)
class RetentionState:
    """How well a row is remembered at a time: R, strength, and what `rank` makes of it.

    `spared`: it fades under no policy, being pinned, shelved or carried on.
    """

    r: float
    strength: int
    weight: float
    forget_at: datetime | None
    spared: bool = False

    @property
    def percent(self) -> int:
        return round(100 * self.r)


def compute_retention_state(
    row: Any, since: datetime, forget: ForgetPolicy, at: datetime
) -> RetentionState:
    """`since`: when it was said, for a row that was never recalled."""
    r = compute_retention(at - (row.last_recall_at or since), row.strength, forget.unit_days)
    spared = _is_exempt_row(row)
    date = row.forget_at if is_hiding_enabled(forget) and not spared else None
    return RetentionState(r, row.strength, compute_rank_weight(forget, r), date, spared)


def _is_exempt_row(row: Any) -> bool:
    """`exempt` of a row in hand."""
    carried_on = isinstance(row, Episode) and row.kind in AGELESS_KINDS
    return bool(row.pinned or getattr(row, "shelf", "") or carried_on)


# Dates

# When what a row tells was said. Of a page, when the last of its turns was.
SAID_COLUMNS: dict[Any, str] = {Fact: "asserted_at", Note: "occurred_at", Episode: "to_at"}


def annotate_since(rows: QuerySet[Any]) -> QuerySet[Any]:
    """Rows with `since`: their last recall, else when they were said (not when received: E8)."""
    found: QuerySet[Any] = rows.annotate(
        since=Coalesce("last_recall_at", _build_said_at(rows.model))
    )
    return found


def _build_said_at(model: Any) -> Any:
    if model is Page:
        last = Turn.objects.filter(space_id=OuterRef("space_id"), seq=OuterRef("last_seq"))
        return Subquery(last.values("occurred_at")[:1])
    return F(SAID_COLUMNS[model])


def set_forget_dates(space: Space, forget: ForgetPolicy, *, anew: bool = False) -> None:
    """Give every row without one its date of forgetting; `anew`: every row, the policy changed."""
    if not is_hiding_enabled(forget):
        return
    for model in RETAINED_MODELS.values():
        rows = model.objects.filter(space=space, retired_at=None)
        found = annotate_since(rows if anew else rows.filter(forget_at=None))
        columns = found.values_list("id", "since", "strength", "recall_count")
        dates = [(i, compute_forget_at(forget, i, since, s, n)) for i, since, s, n in columns]
        for some in _split_batches(dates):
            with connection.cursor() as cursor:
                _write_columns(model, ["forget_at"], some, cursor)


def _split_batches(rows: Sequence[T]) -> Iterator[Sequence[T]]:
    return (rows[at : at + _BATCH_SIZE] for at in range(0, len(rows), _BATCH_SIZE))


# Columns of book-keeping, as the database knows them.
_COLUMN_TYPES = {
    "strength": "int",
    "recall_count": "int",
    "last_recall_at": "timestamptz",
    "forget_at": "timestamptz",
    "visibility": "text",
    "version": "int",
}


def _write_columns(
    model: Any, names: Collection[str], rows: Sequence[Sequence[Any]], cursor: CursorWrapper
) -> None:
    """Rows of an id and the values of these columns, in one statement."""
    table = model._meta.db_table
    changed = ", ".join(f"{name} = given.{name}" for name in names)
    arrays = ", ".join(f"%s::{_COLUMN_TYPES[name]}[]" for name in names)
    cursor.execute(
        f"UPDATE {table} SET {changed} FROM unnest(%s::uuid[], {arrays})"  # noqa: S608  # own names
        f" AS given(id, {', '.join(names)}) WHERE {table}.id = given.id",
        [list(column) for column in zip(*rows, strict=True)],
    )


# Recall


def strengthen_recalled(space: Space, answers: Sequence[RecalledContext]) -> list[set[UUID]]:
    """Strengthen what reached a context: S+1, the time starts anew, with a new draw (spec §2.2).

    Each row once an answer. What was dormant is seen again, which is recorded; the rest are
    counters. Returns the pages of each answer, with those its turns are on. Call inside the
    tenant's scope, in a transaction of its own; the statements are the same for any number.
    """
    effective = load_effective_policy(space)
    changes = ChangeSet(
        space,
        EvolutionEvent.Kind.REFRESH,
        "recall",
        max(answer.at for answer in answers),
        reason="recalled while dormant",
        trigger="recall",
        policy_version=effective.version,
    )
    pages = _load_answer_pages(space, answers)
    # In order of kinds and ids: two recalls of the same rows wait for each other and never both.
    for model, times in _group_by_model(answers, pages).items():
        found = load_prepared_rows(
            model, _RECALLED_ROWS_SQL, [space.tenant_id, space.id, list(times)]
        )
        _strengthen_rows(model, found, effective.policy.forget, times, changes)
    changes.save()
    return pages


_RECALLED_ROWS_SQL = "tenant_id = %s AND space_id = %s AND id = ANY(%s) ORDER BY id FOR UPDATE"


def _load_answer_pages(space: Space, answers: Sequence[RecalledContext]) -> list[set[UUID]]:
    turns = {each for answer in answers for kind, each in answer.items if kind == "turn"}
    on = _load_pages_by_turn(space, turns)
    # Its pages, and those that its turns are on.
    return [
        {page for kind, each in answer.items if kind == "turn" for page in on.get(each, ())}
        | {each for kind, each in answer.items if kind == "page"}
        for answer in answers
    ]


def _group_by_model(
    answers: Sequence[RecalledContext], pages: Sequence[set[UUID]]
) -> dict[Any, dict[UUID, list[datetime]]]:
    """When each row was recalled, once an answer; kinds in the order of MODELS."""
    times: dict[Any, dict[UUID, list[datetime]]] = {
        model: defaultdict(list) for model in RETAINED_MODELS.values()
    }
    for answer, on in zip(answers, pages, strict=True):
        given = {item for item in answer.items if item[0] in RETAINED_MODELS}
        for kind, each in given | {("page", page) for page in on}:
            times[RETAINED_MODELS[kind]][each].append(answer.at)
    return {model: of_rows for model, of_rows in times.items() if of_rows}


_PAGES_OF_TURNS_SQL = """
SELECT t.id, p.id FROM dialogues_turn t JOIN notes_page p
  ON p.session_id = t.session_id AND p.first_seq <= t.seq AND p.last_seq >= t.seq
WHERE t.tenant_id = %s AND t.space_id = %s AND t.id = ANY(%s)
"""


def find_pages_of_turns(space: Space, turn_ids: Collection[UUID]) -> set[UUID]:
    """Ids of the pages that these turns are on."""
    return {page for on in _load_pages_by_turn(space, turn_ids).values() for page in on}


def _load_pages_by_turn(space: Space, turn_ids: Collection[UUID]) -> dict[UUID, list[UUID]]:
    found: dict[UUID, list[UUID]] = defaultdict(list)
    if turn_ids:
        with open_prepared_cursor(binary=True) as cursor:
            cursor.execute(_PAGES_OF_TURNS_SQL, [space.tenant_id, space.id, list(turn_ids)])
            for turn, page in cursor.fetchall():
                found[turn].append(page)
    return found


def _strengthen_rows(
    model: Any,
    found: Sequence[Any],
    forget: ForgetPolicy,
    times: Mapping[UUID, Sequence[datetime]],
    changes: ChangeSet,
) -> None:
    for row in found:
        at = times[row.id]
        row.strength += len(at)
        row.recall_count += len(at)
        row.last_recall_at = max(*at, row.last_recall_at or at[0])
        row.forget_at = compute_forget_at(
            forget, row.id, row.last_recall_at, row.strength, row.recall_count
        )
        if row.visibility == DORMANT:
            changes.edit_row(row, visibility=ACTIVE)
    for some in _split_batches(found):
        counters = [[getattr(row, name) for name in ("id", *_COLUMN_TYPES)] for row in some]
        with open_prepared_cursor() as cursor:
            _write_columns(model, _COLUMN_TYPES, counters, cursor)


# Fading


def update_visibility(
    space: Space, forget: ForgetPolicy, now: datetime, changes: ChangeSet
) -> tuple[int, int]:
    """Make what is seen agree with the dates: (how many faded, how many came back).

    Both ways, since an exemption may have come or gone. The caller saves the change-set.
    """
    if not is_hiding_enabled(forget):
        return 0, 0
    faded = woken = 0
    for model in RETAINED_MODELS.values():
        rows = model.objects.filter(space=space, retired_at=None)
        due = rows.filter(forget_at__lte=now)
        spared = _find_spared_pages(model, due, forget, now)
        hide = due.filter(visibility=ACTIVE).exclude(build_exempt_q(model)).exclude(id__in=spared)
        over = Q(forget_at=None) | Q(forget_at__gt=now) | build_exempt_q(model) | Q(id__in=spared)
        wake = rows.filter(over, visibility=DORMANT)
        woken += _set_visibility(model, wake, ACTIVE, changes)
        faded += _set_visibility(model, hide, DORMANT, changes)
    return faded, woken


def find_next_fade_date(space: Space, now: datetime) -> datetime | None:
    """When the next active row of the space fades, if any will."""
    dates = [
        model.objects.filter(space=space, retired_at=None, visibility=ACTIVE, forget_at__gt=now)
        .exclude(build_exempt_q(model))
        .order_by("forget_at")
        .values_list("forget_at", flat=True)
        .first()
        for model in RETAINED_MODELS.values()
    ]
    return min((date for date in dates if date is not None), default=None)


def build_exempt_q(model: Any) -> Q:
    """What never fades: pinned, shelved, or carried on without an age."""
    if model is Fact:
        return Q(pinned=True) | ~Q(shelf="")
    if model is Episode:
        return Q(pinned=True) | Q(kind__in=AGELESS_KINDS)
    return Q(pinned=True)


def _find_spared_pages(
    model: Any, due: QuerySet[Any], forget: ForgetPolicy, now: datetime
) -> set[UUID]:
    if model is not Page or not forget.keep_evidence:
        return set()
    return set(find_sole_evidence(due.values_list("id", flat=True), now))


# Other pages count whether they can be seen or not: else which of two fades would depend on
# which was swept first.
_SOLE_EVIDENCE_SQL = """
SELECT DISTINCT p.id FROM notes_page p
JOIN dialogues_turn t ON t.space_id = p.space_id AND t.session_id = p.session_id
  AND t.seq BETWEEN p.first_seq AND p.last_seq
JOIN notes_derivation d ON d.turn_id = t.id AND d.child_type = 'fact' AND d.role = 'support'
JOIN notes_fact f ON f.id = d.child_id AND {current}
WHERE p.id = ANY(%(ids)s) AND NOT EXISTS (
  SELECT 1 FROM notes_derivation o JOIN dialogues_turn u ON u.id = o.turn_id
  WHERE o.child_type = 'fact' AND o.child_id = f.id AND o.role = 'support'
    AND NOT (u.session_id = p.session_id AND u.seq BETWEEN p.first_seq AND p.last_seq)
)
"""


def find_sole_evidence(page_ids: Iterable[UUID], now: datetime) -> list[UUID]:
    """Those of the pages without which a current fact would have no support."""
    statement = _SOLE_EVIDENCE_SQL.format(
        current=build_fact_current_sql("f", "%(now)s::timestamptz")
    )
    with connection.cursor() as cursor:
        cursor.execute(statement, {"ids": list(page_ids), "now": now})
        return [row[0] for row in cursor.fetchall()]


def _set_visibility(model: Any, rows: QuerySet[Any], visibility: str, changes: ChangeSet) -> int:
    count = 0
    for some in _split_batches(list(rows.order_by("id").values_list("id", flat=True))):
        held = model.objects.filter(id__in=some)
        for row in held.order_by("id"):
            changes.edit_row(row, visibility=visibility)
            count += 1
        held.update(visibility=visibility, version=F("version") + 1)
    return count
