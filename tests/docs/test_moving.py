"""The commands and requests that move a space, as the page shows them."""

from __future__ import annotations

import io
import re
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from rest_framework.test import APIClient

from memoryhub.exchange.tables import SPACE_TABLES, TENANT_TABLES
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope
from memoryhub.tenants.services import create_key, create_tenant
from tests.docs.pages import ROOT, list_blocks
from tests.support.factories import make_space, make_turns

PAGE = ROOT / "docs/how-to/move-a-space.md"


def test_the_commands_move_a_subject(
    db: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    demo, example = create_tenant("Demo", "demo"), create_tenant("Example", "example")
    with tenant_scope(demo.id):
        make_turns(make_space(demo, "ana"), "I moved to Lisbon.")
    monkeypatch.chdir(tmp_path)
    shown = re.findall(r"manage\.py (.+)", list_blocks(PAGE, "sh")[0])
    assert len(shown) == 3
    for command in shown:
        call_command(*command.split(), stdout=io.StringIO())
    with tenant_scope(example.id):
        assert Space.objects.get().subject == "ana"


def test_the_requests_do_as_well(db: None) -> None:
    demo, example = create_tenant("Demo", "demo"), create_tenant("Example", "example")
    with tenant_scope(demo.id):
        make_turns(make_space(demo, "ana"), "I moved to Lisbon.")
    clients: list[Any] = []
    for tenant, scope in ((demo, "read"), (example, "admin")):
        _, key = create_key(tenant, "docs", [scope])
        clients.append(APIClient(headers={"Authorization": f"Bearer {key}"}))
    out, into = re.findall(r"http://127\.0\.0\.1:8000(\S+?)\"?$", list_blocks(PAGE, "sh")[1], re.M)
    data = b"".join(clients[0].get(out))
    answer = clients[1].generic("POST", into, data, "application/x-ndjson")
    assert answer.json()["spaces"][0]["subject"] == "ana"


def test_every_kind_of_line_is_explained() -> None:
    told = (ROOT / "docs/reference/exports.md").read_text(encoding="utf-8")
    kinds = {*SPACE_TABLES, *TENANT_TABLES, "space", "tenant", "vector", "end"}
    assert [kind for kind in kinds if f"`{kind}`" not in told] == []
