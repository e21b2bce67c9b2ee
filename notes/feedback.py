"""What callers and people think of memories. Kept apart: it changes no memory by itself."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from memoryhub.errors import InvalidInput
from notes.models import Fact, Feedback

MOST_CHARACTERS = 2_000


def judge(
    fact: Fact, verdict: str | None, actor: str, now: datetime, *, reason: str = ""
) -> Feedback | None:
    """Keep the actor's word on the memory in place of an earlier one; None takes it back.
    Call inside the tenant's scope. Raises InvalidInput."""
    about: dict[str, Any] = {
        "space_id": fact.space_id,
        "row_type": "fact",
        "row_id": fact.id,
        "actor": actor,
    }
    if verdict is None:
        Feedback.objects.filter(**about).delete()
        return None
    if verdict not in Feedback.Verdict.values:
        raise InvalidInput(f"one of {', '.join(Feedback.Verdict.values)}", field="feedback")
    if len(reason) > MOST_CHARACTERS:
        raise InvalidInput(f"at most {MOST_CHARACTERS} characters", field="feedback_reason")
    said = {"tenant_id": fact.tenant_id, "verdict": verdict, "reason": reason, "created_at": now}
    feedback, _ = Feedback.objects.update_or_create(**about, defaults=said)
    return feedback
