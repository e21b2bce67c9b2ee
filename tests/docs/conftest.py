from __future__ import annotations

import json
from pathlib import Path

import pytest
from pytest_django.live_server_helper import LiveServer

from memoryhub.tenants.services import create_key, create_tenant
from tests.clients.conftest import worker
from tests.docs.page_runner import PageRunner
from tests.docs.pages import ROOT, list_blocks
from tests.importers.samples import SAMPLES

__all__ = [
    "worker",
]
# The files that the pages speak of: exports of other systems, and lines that are shown there.
EXPORTS = {
    "mem0": "memories.json",
    "letta": "agent.af",
    "zep": "zep.json",
    "langmem": "items.json",
    "chatgpt": "conversations.json",
}
SHOWN = {"import.md": "talks.jsonl", "migrate.md": "lines.jsonl"}


@pytest.fixture
def desk(live_server: LiveServer, worker: None, acting_rules: None, tmp_path: Path) -> PageRunner:
    """A hub with what the pages take for granted: tenants, and Ana, who said where she lives."""
    tenants = [create_tenant(name, name.lower()) for name in ("Demo", "Other", "Example")]
    keys = [create_key(each, "docs", ["read", "write", "admin"])[1] for each in tenants[:2]]
    desk = PageRunner(tmp_path, live_server.url, *keys)
    for source, name in EXPORTS.items():
        (tmp_path / name).write_text(json.dumps(SAMPLES[source]), encoding="utf-8")
    for page, name in SHOWN.items():
        (shown,) = list_blocks(ROOT / "docs/how-to" / page, "json")
        (tmp_path / name).write_text(shown, encoding="utf-8")
    told = '{"subject": "ana", "messages": [{"content": "I live in Lisbon."}], "wait": true}'
    desk.run_shell(f"curl -s {desk.host}/api/v1/memories {desk.HEADERS} -d '{told}'")
    return desk
