"""The page on webhooks: every event has its row, and what it shows runs."""

from __future__ import annotations

import json
import re
import time
from typing import Any
from uuid import uuid4

from rest_framework.test import APIClient

from memoryhub.news import KINDS
from memoryhub.tenants.services import create_key, create_tenant
from memoryhub.webhooks import signing
from memoryhub.webhooks.naming import MEM0
from tests.docs.pages import ROOT, blocks
from tests.docs.test_examples import CURL

PAGE = ROOT / "docs/how-to/webhooks.md"


def test_every_kind_of_event_has_its_row() -> None:
    rows = re.findall(r"^\| `(\w+\.\w+)` \|", PAGE.read_text(), re.M)
    assert rows == list(KINDS)
    mem0 = (ROOT / "docs/reference/mem0.md").read_text()
    assert [name for name in MEM0 if f"`{name}`" not in mem0] == []


def test_the_check_of_a_signature_does_what_it_says() -> None:
    (shown,) = blocks(PAGE, "python")
    names: dict[str, Any] = {}
    exec(shown, names)
    genuine = names["is_genuine"]
    key, tenant, hook, event = "a key of the hub", uuid4(), uuid4(), uuid4()
    old, new = (signing.secret_of(key, tenant, hook, generation) for generation in (1, 2))
    body, now = b'{"type": "fact.added"}', int(time.time())
    both = signing.headers(event, now, body, [new, old])
    assert genuine(new, both, body)
    assert genuine(old, both, body)
    assert not genuine(old, signing.headers(event, now, body, [new]), body)
    assert not genuine(new, both, body + b" ")
    assert not genuine(new, both | {"webhook-timestamp": str(now + 1)}, body)
    assert not genuine(new, both | {"webhook-id": str(uuid4())}, body)
    assert not genuine(new, signing.headers(event, now - 301, body, [new]), body)


def test_the_request_that_makes_one_is_taken(db: None) -> None:
    _, key = create_key(create_tenant("Docs", "docs"), "docs", ["admin"])
    api = APIClient(headers={"Authorization": f"Bearer {key}"})
    sent = [match for block in blocks(PAGE, "sh") for match in CURL.findall(block)]
    assert len(sent) == 1
    for path, body in sent:
        answer = api.post(path, json.loads(body), format="json")
        assert answer.status_code == 200, answer.content
        assert answer.json()["secret"]
