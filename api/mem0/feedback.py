"""What a client thinks of a memory."""

from __future__ import annotations

from typing import Any, ClassVar

from django.utils import timezone
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from api.authentication import key_of
from api.fields import NameField
from api.mem0.requests import checked
from api.mem0.selecting import memory
from api.mem0.views import Mem0View, actor_of
from memoryhub.tenants.scope import tenant_scope
from notes.feedback import MOST_CHARACTERS, judge

_WORDS = ("POSITIVE", "NEGATIVE", "VERY_NEGATIVE")


class FeedbackSerializer(serializers.Serializer[Any]):
    memory_id = NameField(max_length=100)
    feedback = NameField(required=False, allow_null=True, default=None, max_length=20)
    feedback_reason = NameField(
        required=False, allow_null=True, default="", max_length=MOST_CHARACTERS
    )

    def validate_feedback(self, given: str | None) -> str | None:
        if given and given.upper() not in _WORDS:
            raise serializers.ValidationError(f"one of {', '.join(_WORDS)}, or null")
        return given


class FeedbackView(Mem0View):
    """The key's word on a memory; null takes it back."""

    scopes: ClassVar = {"POST": "write"}

    def post(self, request: Request) -> Response:
        wanted, key = checked(FeedbackSerializer, self.body(request)), key_of(request)
        verdict = wanted["feedback"] and wanted["feedback"].lower()
        reason = wanted["feedback_reason"] or ""
        with tenant_scope(key.tenant_id):
            fact = memory(key, wanted["memory_id"])
            kept = judge(fact, verdict or None, actor_of(request), timezone.now(), reason=reason)
        told = {"id": str(kept.id) if kept else None, "feedback": wanted["feedback"]}
        return Response(told | {"feedback_reason": reason or None})
