"""Golden questions with what they name."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import Q
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from memoryhub.console.frame.forms import read_id
from memoryhub.console.frame.lists import (
    FilterChoice,
    Filters,
    ListPage,
    build_text_condition,
    load_page,
)
from memoryhub.dialogues.models import Turn
from memoryhub.golden.models import GoldenQuestion, ReplayAnswer
from memoryhub.tenants.models import Space
from notes.models import Fact, Note

EXPECTED_KINDS = ("fact", "note", "turn")


@dataclass(frozen=True, slots=True)
class ExpectedMemory:
    """A memory that is expected. `value`: as forms name it. `source`: its row is gone or retired,
    and these are the words it rested on."""

    value: str
    kind: str
    text: str
    address: str
    source: bool = False


@dataclass(frozen=True, slots=True)
class GoldenQuestionRow:
    question: GoldenQuestion
    expected: list[ExpectedMemory]


def load_golden_tag_choice(space: Space | None = None) -> FilterChoice:
    rows = _list_standing_questions(space).values_list("tags", flat=True)
    tags = sorted({tag for row in rows for tag in row})
    return FilterChoice("tag", _("Tag"), (("", _("Any")), *((tag, tag) for tag in tags[:100])))


def _list_standing_questions(space: Space | None) -> Any:
    rows = GoldenQuestion.objects.filter(retired_at=None)
    return rows.filter(space=space) if space else rows


def list_question_ids(space: Space) -> list[UUID]:
    return list(_list_standing_questions(space).values_list("id", flat=True))


def load_golden_questions(
    filters: Filters, space: Space | None = None
) -> ListPage[GoldenQuestionRow]:
    rows = _list_standing_questions(space).filter(
        build_text_condition(filters.q, "text", "space__subject")
    )
    if filters["tag"]:
        rows = rows.filter(tags__contains=[filters["tag"]])
    found = load_page(rows.select_related("space").order_by("-changed_at", "-id"), filters.page)
    return found.with_rows(load_question_rows(found.rows))


def load_question_rows(rows: Sequence[GoldenQuestion]) -> list[GoldenQuestionRow]:
    """Each with the memories it names. Four statements at most."""
    stored = [each for row in rows for each in row.expected]
    held = load_expected_rows(stored)
    return [
        GoldenQuestionRow(row, [build_expected_memory(row.space_id, e, held) for e in row.expected])
        for row in rows
    ]


def load_expected_rows(stored: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """The rows by id: those named, and the turns they rested on."""
    wanted: dict[str, set[str]] = {kind: set() for kind in EXPECTED_KINDS}
    for each in stored:
        wanted[each["kind"]].add(each["id"])
        wanted["turn"] |= set(each["turns"])
    found: dict[str, Any] = {}
    for kind, model in (("fact", Fact), ("note", Note), ("turn", Turn)):
        rows: Any = model._default_manager
        found |= {str(key): row for key, row in rows.in_bulk(list(wanted[kind])).items()}
    return found


def build_expected_memory(
    space_id: UUID, stored: dict[str, Any], held: dict[str, Any]
) -> ExpectedMemory:
    kind, row_id = stored["kind"], stored["id"]
    row = held.get(row_id)
    value = f"{kind}:{row_id}"
    if row is not None and not getattr(row, "retired_at", None):
        text = row.context or row.content if isinstance(row, Note) else str(row.text)
        return ExpectedMemory(value, kind, text, reverse(f"space-{kind}", args=[space_id, row_id]))
    turns = [held[turn] for turn in stored["turns"] if turn in held]
    said = " … ".join(turn.text for turn in turns)
    address = reverse("space-turn", args=[space_id, turns[0].id]) if turns else ""
    return ExpectedMemory(value, kind, said or gettext("no longer kept"), address, source=True)


def load_expected_memories(space: Space, values: Iterable[str]) -> list[ExpectedMemory]:
    """What a form names, in its order; what the space does not hold is left out."""
    pairs = [(kind, row_id) for kind, row_id in map(parse_expected, values) if row_id is not None]
    named = [pair for pair in dict.fromkeys(pairs) if pair[0] in EXPECTED_KINDS]
    stored = [{"kind": kind, "id": str(row_id), "turns": []} for kind, row_id in named]
    held = {i: row for i, row in load_expected_rows(stored).items() if row.space_id == space.id}
    return [build_expected_memory(space.id, each, held) for each in stored if each["id"] in held]


def parse_expected(value: str) -> tuple[str, UUID | None]:
    """ "fact:<id>" as a form sends it."""
    kind, _, given = value.partition(":")
    return kind, read_id(given)


def get_question_or_404(space: Space, question_id: UUID) -> GoldenQuestion:
    found: GoldenQuestion = get_object_or_404(_list_standing_questions(space), id=question_id)
    return found


def load_latest_ranks(question: GoldenQuestion, most: int = 5) -> list[ReplayAnswer]:
    """How the question fared in the last replays."""
    rows = ReplayAnswer.objects.filter(question=question).exclude(Q(ranks=[]))
    return list(rows.select_related("run").order_by("-run__created_at", "side")[: 2 * most])
