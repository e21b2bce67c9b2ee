"""What is sent: ids from the event, and words from the rows as they are when it is sent.

Words are kept nowhere on their way, so that what is erased meanwhile is not sent.
"""

from __future__ import annotations

import json
from typing import Any

from memoryhub.dialogues.models import Turn
from memoryhub.pipeline.models import Job
from memoryhub.webhooks.event_names import TEST_EVENT
from memoryhub.webhooks.models import Delivery, Webhook, WebhookEvent
from memoryhub.webhooks.outbox import render_space
from notes.erasure.trace import collect_row_text
from notes.history import row_kinds
from notes.models import Proposal
from personas.models import Trait

LONGEST_TEXT, MOST_TURNS = 8_000, 100
_ROW_TYPES = {"fact": "fact", "note": "note", "episode": "episode", "trait": "trait"} | {
    "block": "coreblock"
}
# Whose words are one column; a trait says its level in words too, the others' are all of theirs.
_TEXT_COLUMNS = {"fact": "text", "coreblock": "value", "episode": "text"}
_MEM0_OPERATIONS = {"memory_add": "ADD", "memory_update": "UPDATE", "memory_delete": "DELETE"}


def build_body(delivery: Delivery) -> bytes:
    """What is sent. Call inside the tenant's scope."""
    told = delivery.webhook.content == Webhook.Content.TEXT
    payload = render_payload(delivery, load_event_words(delivery.event) if told else {})
    return json.dumps(payload, ensure_ascii=False).encode("utf-8", "replace")


def render_payload(delivery: Delivery, words: dict[str, Any]) -> dict[str, Any]:
    """The payload, with these words or with none."""
    event = delivery.event
    if delivery.webhook.style == Webhook.Style.MEM0 and event.kind != TEST_EVENT:
        return _render_mem0_payload(delivery.name, event, words)
    return {
        "id": str(event.id),
        "type": delivery.name,
        "timestamp": event.occurred_at.isoformat(),
        "tenant_id": str(event.tenant_id),
        "space": render_space(event.space),
        "data": event.data | words,
    }


def _render_mem0_payload(name: str, event: WebhookEvent, words: dict[str, Any]) -> dict[str, Any]:
    """The body their documentation shows, with the subject as `user_id`."""
    details: dict[str, Any] = {
        "id": event.data.get("lineage") or event.data.get("job_id") or str(event.id),
        "data": {"memory": words["text"]} if "text" in words else {},
        "event": _MEM0_OPERATIONS.get(name, name),
    }
    if event.space is not None:
        details["user_id"] = event.space.subject
    return {"event_details": details}


def load_event_words(event: WebhookEvent) -> dict[str, Any]:
    """The words that belong to it, as far as they are there still."""
    thing = event.kind.partition(".")[0]
    if thing in _ROW_TYPES:
        return _load_row_words(_ROW_TYPES[thing], event.data)
    if thing == "turns":
        return {"turns": _load_turns(event)}
    if thing == "conflict":
        proposals = Proposal.objects.filter(id=event.data["id"])
        return _render_text(proposals.values_list("reason", flat=True).first())
    if event.kind == "job.failed":
        jobs = Job.objects.filter(id=event.data["job_id"])
        return _render_text(jobs.values_list("error", flat=True).first(), "error")
    return {}


def _load_row_words(row_type: str, data: dict[str, Any]) -> dict[str, Any]:
    row = row_kinds.get_row_kind(row_type).model._default_manager.filter(pk=data["id"]).first()
    if row is None:
        return {}
    if isinstance(row, Trait):
        return _render_text("\n".join(filter(None, (str(row), row.rationale))))
    column = _TEXT_COLUMNS.get(row_type)
    return _render_text(getattr(row, column) if column else collect_row_text(row))


def _render_text(said: str | None, name: str = "text") -> dict[str, Any]:
    return {name: said[:LONGEST_TEXT]} if said else {}


def _load_turns(event: WebhookEvent) -> list[dict[str, Any]]:
    seqs = (event.data["first_seq"], event.data["last_seq"])
    rows = Turn.objects.filter(space=event.space, seq__range=seqs).order_by("seq")[:MOST_TURNS]
    return [
        {"id": str(t.id), "role": t.role, "speaker": t.speaker, "text": t.text[:LONGEST_TEXT]}
        for t in rows
    ]
