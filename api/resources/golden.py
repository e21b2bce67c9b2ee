"""Golden questions: what should be found, kept with the memories that answer it."""

from __future__ import annotations

from typing import Any, ClassVar
from uuid import UUID

from rest_framework import serializers

from api.columns import DERIVED, ID, LIST, OBJECT, TEXT, TIME, Resource, unretired
from api.fields import SAID, IdField, TextField
from api.resources.writing import (
    Deed,
    ReasonSerializer,
    RowWriteView,
    WriteView,
    changed,
    changed_schema,
)
from memoryhub.golden.models import GoldenQuestion
from memoryhub.golden.services import (
    MOST_EXPECTED,
    MOST_TAGS,
    TAG_LENGTH,
    TEXT_LENGTH,
    change_question,
    remove_question,
    save_question,
)

QUESTIONS = Resource(
    "golden question",
    "A question, and the memories that a search for it should find.",
    GoldenQuestion,
    {
        "id": ID,
        "text": TEXT,
        "tags": LIST,
        "expected": OBJECT,
        "created_by": TEXT,
        "created_at": TIME,
        "changed_at": TIME,
        **DERIVED,
    },
    order=("-changed_at", "-id"),
    held=unretired,
    version="version",
)


class ExpectedSerializer(serializers.Serializer[Any]):
    kind = serializers.ChoiceField(choices=("fact", "note", "turn"))
    id = IdField()


class QuestionBodySerializer(ReasonSerializer):
    text = TextField(max_length=TEXT_LENGTH, shape=SAID)
    expected = serializers.ListField(
        child=ExpectedSerializer(), allow_empty=False, max_length=MOST_EXPECTED
    )
    tags = serializers.ListField(
        child=TextField(max_length=TAG_LENGTH, shape=SAID),
        required=False,
        default=list,
        max_length=MOST_TAGS,
    )


def _named(deed: Deed) -> list[tuple[str, UUID]]:
    return [(each["kind"], each["id"]) for each in deed.given["expected"]]


_EXAMPLE = {
    "text": "Where does Ana live?",
    "expected": [{"kind": "fact", "id": "0197a0de-0000-7000-8000-000000000000"}],
}


class NewQuestionView(WriteView):
    """Save a golden question."""

    serializer_class = QuestionBodySerializer
    example: ClassVar = _EXAMPLE

    def work(self, deed: Deed, **ids: Any) -> dict[str, Any]:
        given = deed.given
        made = save_question(
            deed.space,
            given["text"],
            _named(deed),
            deed.actor,
            deed.now,
            tags=given["tags"],
            reason=deed.reason,
        )
        return changed(deed.space, QUESTIONS, made.id)

    def answers(self) -> dict[str, Any]:
        return changed_schema(QUESTIONS)


class ChangeQuestionView(RowWriteView):
    """Other words, memories and tags for a golden question."""

    resource = QUESTIONS
    settles = False
    serializer_class = QuestionBodySerializer
    example: ClassVar = _EXAMPLE

    def change(self, deed: Deed, row_id: UUID) -> None:
        change_question(
            deed.space,
            row_id,
            deed.given["text"],
            _named(deed),
            deed.actor,
            deed.now,
            tags=deed.given["tags"],
            reason=deed.reason,
            version=deed.version,
        )


class RemoveQuestionView(RowWriteView):
    """Ask it no more; undo brings it back."""

    resource = QUESTIONS
    settles = False

    def change(self, deed: Deed, row_id: UUID) -> None:
        remove_question(
            deed.space,
            row_id,
            deed.actor,
            deed.now,
            reason=deed.reason,
            version=deed.version,
        )
