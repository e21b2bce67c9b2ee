"""Every write of the API carries an `Idempotency-Key`: a new one fails until it does."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import reduce
from operator import getitem
from typing import Any

import pytest
from django.utils import timezone
from rest_framework.test import APIClient

from memoryhub.pipeline.corrections import merge_memories
from memoryhub.tenants.models import Tenant
from memoryhub.tenants.scope import tenant_scope
from tests.api.conftest import Client
from tests.api.test_strangers import BODIES, PLACE, QUERIES, ROUTES, make_empty_export
from tests.support import api_scene
from tests.support.factories import make_entity, make_fact, make_note

# What is asked with a body and changes nothing.
ASKING = ("search", "context", "answer", "items-read")
WRITES = [
    name
    for name, methods in ROUTES.items()
    if "POST" in methods and name not in ASKING and name not in QUERIES
]
# What has to be done before there is something to do, with the part of the last answer that names
# the row.
MERGED: dict[str, Callable[..., Any]] = {
    "fact-merge": make_fact,
    "note-merge": make_note,
    "entity-merge": make_entity,
}
SHARED = {"label": "house", "shared": True}
BEFORE: dict[str, tuple[list[str], tuple[str, ...]]] = {
    "fact-restore": (["fact-retract"], ("fact", "id")),
    "note-restore": (["note-forget"], ("note", "id")),
    "event-undo": (["fact-pin"], ("event_id",)),
    "conflict-take-back": (["conflict-decide"], ("conflict", "id")),
    "block-attach": (["block-new", "block-detach"], ("block", "id")),
    "block-detach": (["block-new"], ("block", "id")),
    "replay-cancel": (["replay-new"], ("replay", "id")),
}


def make_write_body(name: str, rows: dict[str, Any]) -> Any:
    """One that is carried out on these rows."""
    fact = str(rows["fact"].id)
    golden = {"text": "Where?", "expected": [{"kind": "fact", "id": fact}]}
    fitting = {
        "feedback-set": {"kind": "fact", "memory_id": fact, "verdict": "positive"},
        "golden-new": golden,
        "golden-change": golden,
        "conflicts-decide-many": {"ids": [str(rows["conflict"].id)], "answer": "keep_both"},
        "block-new": SHARED,
    }
    if name in MERGED:  # with itself, which is refused, where no other row was made
        return {"other": str(rows.get("other", rows[name.removesuffix("-merge")]).id)}
    return fitting.get(name, BODIES.get(name, {}))


# What another body says, of a write that takes no reason; some take nothing at all.
OTHERS: dict[str, Any] = {
    "memories": {"agent": "tutor"},
    "memories-batch": {"items": [{"subject": "ana", "messages": [{"content": "Bye."}]}]},
    "fact-remember": {"text": "Ana keeps bees."},
    "name": {"subject_name": "Ana Gold"},
    "pause": {"paused": False},
    "imports": {"content": '{"note": "Bye."}'},
    "tools": {"arguments": {"label": "human", "text": "Else."}},
    "window-open": {"agent": "tutor"},
    "window-append": {"messages": [{"content": "I play go."}]},
    "window-step": {"messages": [{"content": "Where do I play go?"}]},
    "window-schedule": {"every_minutes": 90},
    "webhook-new": {"name": "ERP"},
    "webhook-change": {"name": "CRM"},
    "webhook-rotate": {"overlap_hours": 3},
    "key-new": {"name": "a third"},
    "key-rotate": {"overlap_hours": 3},
    "person-link-new": {"note": "for Ana"},
    "member-new": {"role": "editor"},
    "member-role": {"role": "editor"},
    "replay-new": {"overrides": {"recall.k_min": 8}},
    "replay-decide": {"decision": "live"},
    "feedback-set": {"verdict": "negative"},
    "items-write": {"items": [{**PLACE, "value": {"a": 1}}]},
}
BARE = {
    "job-retry",
    "review-rule-remove",
    "webhook-delete",
    "webhook-ping",
    "delivery-replay",
    "person-link-revoke",
    "replay-cancel",
    "member-remove",
    "key-revoke",
}


def send_write(client: APIClient, name: str, path: str, body: Any, key: str) -> Any:
    given = {"Idempotency-Key": key}
    if name == "import-export":
        return client.generic(
            "POST", path, make_empty_export(), "application/x-ndjson", headers=given
        )
    return client.generic("POST", path, json.dumps(body), "application/json", headers=given)


def prepare_path(name: str, client: APIClient, rows: dict[str, Any]) -> str:
    """The path of the write, when all is done that has to be before."""
    if name == "entity-split":
        gone, now = rows["entity"], timezone.now()
        with tenant_scope(gone.tenant_id):
            kept = make_entity(gone.space, "Another name")
        merge_memories(gone.space, "entity", gone.id, kept.id, "eva", now)
    steps, place = BEFORE.get(name, ([], ()))
    made = ""
    for step in steps:
        body = make_write_body(step, rows)
        answer = send_write(client, step, _build_row_path(step, rows, made), body, step)
        assert answer.status_code == 200, answer.content
        made = reduce(getitem, place, answer.json())
    return _build_row_path(name, rows, made)


def _build_row_path(name: str, rows: dict[str, Any], made: str) -> str:
    path = api_scene.build_route_path(name, rows, subject="ana")
    return path.replace(str(api_scene.get_row_id(name, rows)), made) if made else path


@pytest.mark.parametrize("name", WRITES)
def test_X5_a_write_sent_twice_with_a_key_is_done_once(
    tenant: Tenant, client_of: Client, acting_rules: None, name: str
) -> None:
    rows, admin = api_scene.make_row_of_every_kind(tenant), client_of(tenant, "admin")
    if name in MERGED:
        with tenant_scope(tenant.id):
            rows["other"] = MERGED[name](rows["fact"].space, "Says the same")
    path = prepare_path(name, admin, rows)
    body = make_write_body(name, rows)
    first, again = (send_write(admin, name, path, body, "once") for _ in range(2))
    assert first.status_code in (200, 202), first.content
    assert "Idempotent-Replayed" not in first
    assert again["Idempotent-Replayed"] == "true"
    assert again.status_code == first.status_code
    if name != "import-export":
        changed = body | OTHERS.get(name, {"reason": "another"})
        other = send_write(admin, name, path, changed, "once")
        refused = (422, "invalid") if name in BARE else (409, "idempotency_key_reused")
        assert (other.status_code, other.json()["code"]) == refused, other.content
