"""What callers and people think of the memories they were shown."""

from __future__ import annotations

from typing import Any, ClassVar

from rest_framework import serializers

from api.columns import ID, TEXT, TIME, Column, Resource
from api.fields import IdField, NameField
from api.listing import shown_row
from api.resources.writing import Deed, WriteView
from memoryhub.recall.opinions import say
from memoryhub.tenants.scope import tenant_scope
from notes.feedback import JUDGED, MOST_CHARACTERS
from notes.models import Feedback

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
)


class FeedbackSerializer(serializers.Serializer[Any]):
    """`recall_id`: that of the search it was shown by. `verdict` null takes the word back."""

    kind = serializers.ChoiceField(choices=tuple(JUDGED))
    memory_id = IdField()
    recall_id = IdField(required=False, allow_null=True, default=None)
    verdict = serializers.ChoiceField(choices=tuple(Feedback.Verdict.values), allow_null=True)
    comment = NameField(required=False, default="", max_length=MOST_CHARACTERS)


class SetFeedbackView(WriteView):
    """The key's word on a memory, in place of an earlier one. It changes no memory by itself."""

    serializer_class = FeedbackSerializer
    example: ClassVar = {
        "kind": "fact",
        "memory_id": "0197a0de-0000-7000-8000-000000000000",
        "recall_id": "0197a0de-0000-7000-8000-000000000001",
        "verdict": "wrong",
        "comment": "She moved in May.",
    }

    def work(self, deed: Deed, **ids: Any) -> dict[str, Any]:
        given = deed.given
        with tenant_scope(deed.space.tenant_id):
            kept = say(
                deed.space,
                (given["kind"], given["memory_id"]),
                given["verdict"],
                deed.actor,
                deed.now,
                comment=given["comment"],
                recall_id=given["recall_id"],
            )
            shown = shown_row(FEEDBACK, FEEDBACK.rows(), kept.id) if kept else None
        return {"feedback": shown}

    def answers(self) -> dict[str, Any]:
        shown = FEEDBACK.schema() | {"type": ["object", "null"]}
        return {"type": "object", "properties": {"feedback": shown}}
