"""The page on webhooks: every event has its row, and what it shows runs."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from ipaddress import ip_network
from pathlib import Path
from socket import create_connection, socket
from typing import Any
from uuid import uuid4

import httpx
from pytest_django import Settings
from pytest_django.live_server_helper import LiveServer

from memoryhub.background.news import NEWS_KINDS
from memoryhub.tenants.services import create_key, create_tenant
from memoryhub.webhooks import dispatch
from memoryhub.webhooks.event_names import MEM0_EVENTS
from memoryhub_client import MemoryHub
from tests.docs.pages import ROOT, list_blocks

PAGE = ROOT / "docs/how-to/webhooks.md"


def test_every_kind_of_event_has_its_row() -> None:
    rows = re.findall(r"^\| `(\w+\.\w+)` \|", PAGE.read_text(), re.M)
    assert rows == list(NEWS_KINDS)
    mem0 = (ROOT / "docs/reference/mem0.md").read_text()
    assert [name for name in MEM0_EVENTS if f"`{name}`" not in mem0] == []


def test_the_check_of_a_signature_does_what_it_says() -> None:
    shown, _ = list_blocks(PAGE, "python")
    names: dict[str, Any] = {}
    exec(shown, names)
    genuine = names["is_genuine"]
    key, tenant, hook, event = "a key of the hub", uuid4(), uuid4(), uuid4()
    old, new = (dispatch.derive_secret(key, tenant, hook, generation) for generation in (1, 2))
    body, now = b'{"type": "fact.added"}', int(time.time())
    both = dispatch.build_headers(event, now, body, [new, old])
    assert genuine(new, both, body)
    assert genuine(old, both, body)
    assert not genuine(old, dispatch.build_headers(event, now, body, [new]), body)
    assert not genuine(new, both, body + b" ")
    assert not genuine(new, both | {"webhook-timestamp": str(now + 1)}, body)
    assert not genuine(new, both | {"webhook-id": str(uuid4())}, body)
    assert not genuine(new, dispatch.build_headers(event, now - 301, body, [new]), body)


def test_the_receiver_takes_what_the_hub_sends_and_nothing_else(
    live_server: LiveServer, settings: Settings, tmp_path: Path
) -> None:
    settings.WEBHOOK_ALLOW_HTTP = True
    settings.WEBHOOK_PRIVATE_NETWORKS = (ip_network("127.0.0.1/32"),)
    _, key = create_key(create_tenant("Docs", "docs"), "docs", ["admin"])
    with MemoryHub(live_server.url, key) as hub, socket() as kept:
        kept.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{kept.getsockname()[1]}"
        kept.close()
        body = {"name": "CRM", "url": f"{url}/memoryhub", "events": ["fact.added"]}
        made = hub.request("POST", "webhooks/new", body=body)
        with run_page_program(url, made["secret"], tmp_path) as receiver:
            told = hub.request("POST", f"webhooks/{made['webhook']['id']}/ping")
            forged = httpx.post(url, json={}, headers=SIGNED)
            receiver.terminate()
            printed = receiver.stdout.read() if receiver.stdout else ""
    assert told["delivery"]["status"] == 204
    assert forged.status_code == 401
    assert printed == "webhook.test\n"


SIGNED = {"webhook-id": "e", "webhook-timestamp": str(int(time.time())), "webhook-signature": "v1,"}


@contextmanager
def run_page_program(url: str, secret: str, folder: Path) -> Iterator[subprocess.Popen[str]]:
    """The page's program, at an address of its own, once it listens."""
    script, port = folder / "receiver.py", url.rpartition(":")[2]
    script.write_text("\n".join(list_blocks(PAGE, "python")).replace("9000", port))
    with subprocess.Popen(
        [sys.executable, str(script)],
        env={"WEBHOOK_SECRET": secret},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as receiver:
        try:
            _wait_until_listening(int(port), receiver)
            yield receiver
        finally:
            receiver.kill()


def _wait_until_listening(port: int, receiver: subprocess.Popen[str]) -> None:
    while receiver.poll() is None:
        with suppress(OSError), create_connection(("127.0.0.1", port)):
            return
    raise AssertionError("it ended before it listened")
