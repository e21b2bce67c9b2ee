"""What callers and people think of the memories they were shown."""

from __future__ import annotations

from typing import Any, ClassVar

from rest_framework import serializers

from api.core.fields import NameField, StrictIdField
from api.rows.answers import build_row_type, define_answer
from api.rows.columns import ID, TEXT, TIME, Column, Resource
from api.rows.lists import render_row
from api.rows.write_views import SpaceWriteRequest, SpaceWriteView
from memoryhub.recall.log.feedback import save_feedback
from memoryhub.tenants.scope import tenant_scope
from notes.models import Feedback
from notes.quality.feedback import MAX_REASON_LENGTH, RATED_MODELS

FEEDBACK = Resource(
    "feedback",
    "What somebody thinks of a memory: it helped, it did not, it harmed, or it is not true.",
    Feedback,
    {
        "id": ID,
        "kind": Column("text", "row_type"),
        "memory_id": Column("id", "row_id"),
        "recall_id": ID,
        "verdict": TEXT,
        "comment": Column("text", "reason"),
        "actor": TEXT,
        "created_at": TIME,
    },
    order=("-created_at", "-id"),
    component="MemoryFeedback",
)


class SetFeedbackSerializer(serializers.Serializer[Any]):
    """`recall_id`: that of the search it was shown by. `verdict` null takes the word back."""

    kind = serializers.ChoiceField(choices=tuple(RATED_MODELS))
    memory_id = StrictIdField()
    recall_id = StrictIdField(required=False, allow_null=True, default=None)
    verdict = serializers.ChoiceField(choices=tuple(Feedback.Verdict.values), allow_null=True)
    comment = NameField(required=False, default="", max_length=MAX_REASON_LENGTH)


class SetFeedbackView(SpaceWriteView):
    """The key's word on a memory, in place of an earlier one. It changes no memory by itself."""

    serializer_class = SetFeedbackSerializer
    answer: ClassVar = define_answer(
        "SavedFeedback",
        "The word as it is kept; null where it was taken back.",
        feedback=build_row_type(FEEDBACK) | None,
    )
    example: ClassVar = {
        "kind": "fact",
        "memory_id": "0197a0de-0000-7000-8000-000000000000",
        "recall_id": "0197a0de-0000-7000-8000-000000000001",
        "verdict": "wrong",
        "comment": "She moved in May.",
    }

    def run_write(self, deed: SpaceWriteRequest, **ids: Any) -> dict[str, Any]:
        given = deed.given
        with tenant_scope(deed.space.tenant_id):
            kept = save_feedback(
                deed.space,
                (given["kind"], given["memory_id"]),
                given["verdict"],
                deed.actor,
                deed.now,
                comment=given["comment"],
                recall_id=given["recall_id"],
            )
            shown = render_row(FEEDBACK, FEEDBACK.select_rows(), kept.id) if kept else None
        return {"feedback": shown}
