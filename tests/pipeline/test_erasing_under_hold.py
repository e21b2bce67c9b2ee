"""Legal hold, signed receipts, and names of a subject outside of its memories."""

from __future__ import annotations

import io
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from rest_framework.test import APIClient

from memoryhub.errors import Conflict
from memoryhub.importers.models import ImportRun
from memoryhub.pipeline.erasure.erase_targets import ErasureTarget, execute_erasure
from memoryhub.policies.services import set_policy
from memoryhub.tenants.models import Space, Tenant
from memoryhub.tenants.scope import tenant_scope
from memoryhub.tenants.services import create_key, create_tenant, ensure_space
from memoryhub.webhooks import services as webhooks
from notes.models import Receipt
from tests.support.database_scan import find_tables_with_word

pytestmark = pytest.mark.django_db

NOW = datetime(2026, 5, 1, 9, tzinfo=UTC)
WHOLE = ErasureTarget("subject")


@pytest.fixture
def tenant() -> Tenant:
    return create_tenant("One", "one")


@pytest.fixture
def space(tenant: Tenant) -> Space:
    with tenant_scope(tenant.id):
        return ensure_space(tenant.id, "zephyrine")


def test_under_a_legal_hold_nothing_is_erased(tenant: Tenant, space: Space) -> None:
    set_policy(tenant.id, actor="eva", overrides={"erase.hold": True}, now=NOW)
    with pytest.raises(Conflict) as refused:
        execute_erasure(space, WHOLE, "eva", NOW)
    assert refused.value.code == "legal_hold"
    with tenant_scope(tenant.id):
        assert Space.objects.filter(id=space.id).exists()
        assert not Receipt.objects.exists()
    set_policy(tenant.id, actor="eva", overrides={"erase.hold": False}, now=NOW)
    assert execute_erasure(space, WHOLE, "eva", NOW).counts["spaces"] == 1


def test_a_printed_receipt_is_told_from_a_changed_one(space: Space, tmp_path: Path) -> None:
    receipt, out = execute_erasure(space, WHOLE, "eva", NOW, reason="asked"), io.StringIO()
    call_command("receipt", str(receipt.id), tenant="one", stdout=out)
    printed = tmp_path / "receipt.json"
    printed.write_text(out.getvalue())
    call_command("receipt", verify=printed, stdout=out)
    assert "Genuine: subject" in out.getvalue()
    printed.write_text(json.dumps(json.loads(printed.read_text()) | {"actor": "rui"}))
    with pytest.raises(CommandError, match="changed"):
        call_command("receipt", verify=printed)


def test_a_subject_is_named_nowhere_once_it_is_erased(tenant: Tenant, space: Space) -> None:
    """Not by files that were brought, webhooks, or what clients call their requests."""
    wanted = webhooks.WebhookDraft("of zephyrine", "https://example.com/z", ["fact.added"], space)
    hook, _ = webhooks.create_webhook(tenant.id, wanted, "eva", NOW)
    webhooks.update_webhook(tenant.id, hook.id, NOW, name="for zephyrine")
    webhooks.delete_webhook(tenant.id, hook.id)
    _, key = create_key(tenant, "bot", ["read", "write"])
    client = APIClient(headers={"Authorization": f"Bearer {key}"})
    body = {"subject": "zephyrine", "messages": [{"role": "user", "content": "Hello."}]}
    sent: dict[str, Any] = {"headers": {"Idempotency-Key": "of-zephyrine-1"}, "format": "json"}
    assert client.post("/api/v1/memories", body, **sent).status_code < 300
    with tenant_scope(tenant.id):
        ImportRun.objects.create(
            tenant=tenant,
            source="chat",
            file_name="zephyrine.json",
            state="done",
            report={"subjects": {"zephyrine": 3}},
            actor="eva",
            created_at=NOW,
        )
        assert len(find_tables_with_word("zephyrine")) >= 4
    execute_erasure(space, WHOLE, "eva", NOW)
    with tenant_scope(tenant.id):
        assert find_tables_with_word("zephyrine") == []
    again = client.post("/api/v1/memories", body, **sent)
    assert again.status_code in (200, 202, 410)  # it counts as used
    assert again.status_code == 410 or again.headers["Idempotent-Replayed"] == "true"
