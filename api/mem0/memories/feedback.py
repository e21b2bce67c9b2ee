"""What a client thinks of a memory."""

from __future__ import annotations

from typing import Any, ClassVar

from django.utils import timezone
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from api.core.authentication import get_request_key
from api.core.fields import NULL, NameField, validate_body
from api.mem0.select import get_memory
from api.mem0.views import Mem0View, format_actor
from memoryhub.tenants.scope import tenant_scope
from notes.quality.feedback import MAX_REASON_LENGTH, set_feedback

_VERDICT_NAMES = ("POSITIVE", "NEGATIVE", "VERY_NEGATIVE")


class MemoryFeedbackSerializer(serializers.Serializer[Any]):
    memory_id = NameField(max_length=100)
    feedback = NameField(**NULL, max_length=20)
    feedback_reason = NameField(allow_null=True, default="", max_length=MAX_REASON_LENGTH)

    def validate_feedback(self, given: str | None) -> str | None:
        if given and given.upper() not in _VERDICT_NAMES:
            raise serializers.ValidationError(f"one of {', '.join(_VERDICT_NAMES)}, or null")
        return given


class MemoryFeedbackView(Mem0View):
    """The key's word on a memory; null takes it back."""

    scopes: ClassVar = {"POST": "write"}

    def post(self, request: Request) -> Response:
        wanted = validate_body(MemoryFeedbackSerializer, self.read_body(request))
        key, actor = get_request_key(request), format_actor(request)
        verdict = wanted["feedback"] and wanted["feedback"].lower()
        reason = wanted["feedback_reason"] or ""
        with tenant_scope(key.tenant_id):
            fact = get_memory(key, wanted["memory_id"])
            kept = set_feedback(fact, verdict or None, actor, timezone.now(), reason=reason)
        told = {"id": str(kept.id) if kept else None, "feedback": wanted["feedback"]}
        return Response(told | {"feedback_reason": reason or None})
