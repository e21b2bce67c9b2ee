"""How good memory is: golden questions with what should be found, and readings of quality."""

from __future__ import annotations

from typing import Any, ClassVar, Literal
from uuid import UUID

from rest_framework import serializers
from typing_extensions import TypedDict

from api.core.fields import NOT_BLANK, ListField, StrictIdField, StrictSerializer, TextField
from api.rows.answers import build_written_type
from api.rows.columns import (
    Column,
    Resource,
    build_columns,
    build_unretired_condition,
    pick_columns,
)
from api.rows.write_views import (
    ReasonSerializer,
    RowWriteView,
    SpaceWriteRequest,
    SpaceWriteView,
    render_written_row,
)
from memoryhub.golden.models import GoldenQuestion
from memoryhub.golden.services import (
    MOST_EXPECTED,
    MOST_TAGS,
    TAG_LENGTH,
    TEXT_LENGTH,
    remove_question,
    save_question,
    update_question,
)
from memoryhub.pipeline.corrections import Correction
from memoryhub.pipeline.models import QualityReading


class ExpectedMemory(TypedDict):
    """`lineage`: of a fact. `turns`: those that it rests on."""

    kind: Literal["fact", "note", "turn"]
    id: UUID
    lineage: str
    turns: list[UUID]


GOLDEN_QUESTIONS = Resource(
    "golden question",
    "A question, and the memories that a search for it should find.",
    GoldenQuestion,
    build_columns(GoldenQuestion) | {"expected": Column("object", type=list[ExpectedMemory])},
    order=("-changed_at", "-id"),
    current_condition=build_unretired_condition,
    version="version",
)


class ExpectedMemorySerializer(StrictSerializer):
    kind = serializers.ChoiceField(choices=("fact", "note", "turn"))
    id = StrictIdField()


class GoldenQuestionSerializer(ReasonSerializer):
    text = TextField(max_length=TEXT_LENGTH, shape=NOT_BLANK)
    expected = ListField(ExpectedMemorySerializer(), allow_empty=False, max_length=MOST_EXPECTED)
    tags = ListField(
        TextField(max_length=TAG_LENGTH, shape=NOT_BLANK), default=list, max_length=MOST_TAGS
    )


def _list_expected(deed: SpaceWriteRequest) -> list[tuple[str, UUID]]:
    return [(each["kind"], each["id"]) for each in deed.given["expected"]]


_EXAMPLE_QUESTION = {
    "text": "Where does Ana live?",
    "expected": [{"kind": "fact", "id": "0197a0de-0000-7000-8000-000000000000"}],
}


class NewGoldenQuestionView(SpaceWriteView):
    """Save a golden question."""

    serializer_class = GoldenQuestionSerializer
    answer: ClassVar = build_written_type(GOLDEN_QUESTIONS)
    example: ClassVar = _EXAMPLE_QUESTION

    def run_write(self, deed: SpaceWriteRequest, **ids: Any) -> dict[str, Any]:
        text, tags = deed.given["text"], deed.given["tags"]
        expected, by = _list_expected(deed), (deed.actor, deed.now)
        saved = save_question(deed.space, text, expected, *by, tags=tags, reason=deed.reason)
        return render_written_row(deed.space, GOLDEN_QUESTIONS, saved.row.id, saved.event.id)


class ChangeGoldenQuestionView(RowWriteView):
    """Other words, memories and tags for a golden question."""

    resource = GOLDEN_QUESTIONS
    serializer_class = GoldenQuestionSerializer
    example: ClassVar = _EXAMPLE_QUESTION

    def change_row(self, deed: SpaceWriteRequest, row_id: UUID) -> Correction[Any]:
        text, tags = deed.given["text"], deed.given["tags"]
        return deed.correct(update_question, row_id, text, _list_expected(deed), tags=tags)


class RemoveGoldenQuestionView(RowWriteView):
    """Ask it no more; undo brings it back."""

    resource = GOLDEN_QUESTIONS

    def change_row(self, deed: SpaceWriteRequest, row_id: UUID) -> Correction[Any]:
        return deed.correct(remove_question, row_id)


QUALITY_READINGS = Resource(
    "quality reading",
    "How many facts a signal of quality is about, with a sample of them.",
    QualityReading,
    pick_columns(QualityReading, "id signal found of samples measured_at=computed_at"),
    order=("signal", "id"),
)
