"""Writes one upon the other, each as the last one left it, with bodies that are bent at random.

Where `test_schemathesis.py` undoes every request, here rows are made, changed, erased and named
again, through the API, mem0's routes and MCP's tools. Nothing ends in an error of the hub's, and
what is refused has changed nothing. `make fuzz` sends thousands.
"""

from __future__ import annotations

import json
import logging
import os
import re
import time
from collections import Counter
from datetime import timedelta
from typing import Any, ClassVar

import pytest
from django.db import connections, transaction
from django.utils import timezone
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule, run_state_machine_as_test
from rest_framework.test import APIClient

from memoryhub.engines import registry
from memoryhub.engines.local.grammar.parse import parse_texts
from memoryhub.engines.local.grammar.verbs import is_dictionary_word
from memoryhub.tenants.models import ApiKey, Tenant
from memoryhub.tenants.scope import tenant_scope
from memoryhub.tenants.services import create_key, create_tenant
from tests.api.mcp.conftest import ACCEPT
from tests.api.mcp.test_mcp_door import ARGUMENTS
from tests.api.test_every_write import WRITES, make_write_body
from tests.api.test_strangers import make_empty_export
from tests.support import api_scene
from tests.support.attack import take_fingerprints
from tests.support.hub import TableEmbedder

EXAMPLES = int(os.environ.get("MEMORYHUB_FUZZ_EXAMPLES", "4"))
LONG = EXAMPLES >= 20
SEQUENCES, STEPS = (25, 50) if LONG else (10, 25)
LONGEST_SECONDS = 10.0
# What is written about a request whatever becomes of it.
LOGS = {"api_loggedrequest", "api_idempotentrequest", "api_ratewindow"}
# What a refusal leaves on purpose, by a word of the request or the answer. A step opens the window
# and then has a model asked, which no transaction waits for: the window stays, empty. An import
# that can't be read is listed among the failed ones.
LEFT = {
    "step_window": {
        *("dialogues_session", "notes_evolutionevent", "notes_revision"),
        *("personas_blockversion", "personas_coreblock", "personas_window", "tenants_space"),
    },
    '"import_id"': {"importers_importrun", "importers_importfile", "importers_importpart"},
}
_ID = re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}")
MEM0: dict[tuple[str, str], Any] = {
    ("POST", "/v1/memories/"): {"messages": "I live in Porto.", "user_id": "ana"},
    ("POST", "/v3/memories/add/"): {"messages": "I play go.", "user_id": "ana", "infer": False},
    ("PUT", "/v1/memories/{id}/"): {"text": "Ana lives in Faro."},
    ("DELETE", "/v1/memories/{id}/"): {},
    ("DELETE", "/v1/memories/?user_id=ana"): {},
    ("PUT", "/v1/batch/"): {"memories": [{"memory_id": "{id}", "text": "Ana lives in Faro."}]},
    ("DELETE", "/v1/batch/"): {"memories": [{"memory_id": "{id}"}]},
    ("POST", "/v1/feedback/"): {"memory_id": "{id}", "feedback": "POSITIVE"},
    ("DELETE", "/v2/entities/user/ana/"): {},
}

_ODD: st.SearchStrategy[Any] = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.floats(),
    st.text(max_size=40),
    st.sampled_from(
        [
            *("", " ", "\x00", "\ud800", "\u202e", "ana", "9999-12-31T23:59:59+14:00"),
            *("2026-02-30", "-1", "x" * 70_000, "😀" * 600, "00000000-0000-0000-0000-000000000000"),
            *([], {}, [[]], [None], {"a": {"b": []}}, {"": ""}, ["x"] * 600),
        ]
    ),
)
_BENDS = st.sampled_from(["as it is", "as it is", "less", "odd", "odd deep", "more", "named"])


class Writes(RuleBasedStateMachine):
    """`tenant`, `client` and `rows` are given by the fixture: hypothesis makes the machines."""

    tenant: ClassVar[Tenant]
    client: ClassVar[APIClient]
    rows: ClassVar[dict[str, Any]]
    answers: ClassVar[Counter[int]] = Counter()
    refused: ClassVar[int] = 0
    slowest: ClassVar[tuple[float, str]] = 0.0, ""

    def __init__(self) -> None:
        super().__init__()
        self.ids = [str(row.id) for row in self.rows.values() if hasattr(row, "id")]
        self.begun = transaction.atomic()
        self.begun.__enter__()
        self.held = self._look()

    def teardown(self) -> None:
        transaction.set_rollback(True)
        self.begun.__exit__(None, None, None)

    @rule(name=st.sampled_from(WRITES), data=st.data())
    def call_own_route(self, name: str, data: st.DataObject) -> None:
        path = api_scene.build_route_path(name, self.rows, subject="ana")
        if name == "import-export":
            lines = make_empty_export()
            cut = data.draw(st.integers(0, len(lines)))
            self._send("POST", path, lines[: -cut or None], "application/x-ndjson")
            return
        path = self._name_another(path, data)
        body = self._bend(make_write_body(name, self.rows), data)
        self._send("POST", path, _write_json(body), "application/json", self._draw_key(data))

    @rule(route=st.sampled_from(sorted(MEM0)), data=st.data())
    def call_route_of_mem0(self, route: tuple[str, str], data: st.DataObject) -> None:
        row = data.draw(st.sampled_from(self.ids))
        body = json.loads(json.dumps(MEM0[route]).replace("{id}", row))
        path = route[1].replace("{id}", row)
        self._send(route[0], path, _write_json(self._bend(body, data)), "application/json")

    @rule(tool=st.sampled_from(sorted(ARGUMENTS)), data=st.data())
    def call_tool(self, tool: str, data: st.DataObject) -> None:
        row = data.draw(st.sampled_from(self.ids))
        known = ('"fact"', '"event"', '"lineage"')
        told = json.dumps(ARGUMENTS[tool])
        for each in known:
            told = told.replace(f": {each}", f': "{row}"')
        call = {"name": tool, "arguments": self._bend(json.loads(told), data)}
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
        self._send("POST", "/mcp", _write_json(body), "application/json")

    @rule(text=st.binary(max_size=200), name=st.sampled_from(WRITES))
    def send_no_json(self, text: bytes, name: str) -> None:
        path = api_scene.build_route_path(name, self.rows, subject="ana")
        self._send("POST", path, text, "application/json")

    def _draw_key(self, data: st.DataObject) -> str:
        return data.draw(st.sampled_from(["", "", "", "one", "two", "é", "x" * 300]))

    def _name_another(self, path: str, data: st.DataObject) -> str:
        """One of the ids that were seen in place of its own, or a word, or another subject."""
        if not data.draw(st.sampled_from([False, False, True])):
            return path
        other = data.draw(st.sampled_from([*self.ids, "nobody", "%00", "%F0%9F%98%80"]))
        return _ID.sub(other, path) if _ID.search(path) else path.replace("/ana", f"/{other}")

    def _bend(self, body: Any, data: st.DataObject) -> Any:
        bend = data.draw(_BENDS)
        if not isinstance(body, dict) or bend == "as it is":
            return body
        names = sorted(body) or ["reason"]
        name = data.draw(st.sampled_from(names))
        if bend == "less":
            return {key: value for key, value in body.items() if key != name}
        if bend == "more":
            extra = data.draw(st.sampled_from(["reason", "dry_run", "cascade", "if_version", "x"]))
            return body | {extra: data.draw(_ODD)}
        if bend == "named":
            return body | {name: data.draw(st.sampled_from(self.ids))}
        if bend == "odd deep" and isinstance(body.get(name), list | dict):
            return body | {name: _bend_within(body[name], data)}
        return body | {name: data.draw(_ODD)}

    def _send(self, method: str, path: str, body: Any, kind: str, key: str = "") -> None:
        given = {"Idempotency-Key": key} if key else {}
        began = time.monotonic()
        answer = self.client.generic(method, path, body, kind, headers=given)
        told = b"".join(answer).decode(errors="replace")
        took = time.monotonic() - began
        cls = type(self)
        cls.slowest = max(cls.slowest, (took, f"{method} {path}"))
        cls.answers[answer.status_code] += 1
        assert answer.status_code < 500, (method, path, body[:2000], told[:2000])
        assert took < LONGEST_SECONDS or not LONG, (method, path, took)
        now = self._look()
        if answer.status_code >= 400 or (path == "/mcp" and '"isError":true' in told):
            cls.refused += 1
            changed = {table for table, was in self.held.items() if now[table] != was}
            for word, left in LEFT.items():
                changed -= left if word in f"{body!r}{told}" else set()
            assert not changed, (changed, method, path, body[:2000], told[:2000])
        self.held = now
        self.ids = list(dict.fromkeys([*self.ids, *_ID.findall(told)]))[-400:]

    def _look(self) -> dict[str, tuple[int, str]]:
        found = take_fingerprints(self.tenant.id)
        return {table: said for table, said in found.items() if table not in LOGS}


def _bend_within(value: Any, data: st.DataObject) -> Any:
    """One member of it, or of a member's own."""
    if isinstance(value, list) and value:
        at = data.draw(st.integers(0, len(value) - 1))
        return [_bend_within(each, data) if n == at else each for n, each in enumerate(value)]
    if isinstance(value, dict) and value:
        name = data.draw(st.sampled_from(sorted(value)))
        return value | {name: data.draw(_ODD)}
    return data.draw(_ODD)


def _write_json(body: Any) -> bytes:
    return json.dumps(body).encode()


@pytest.fixture
def machine(db: None, monkeypatch: pytest.MonkeyPatch) -> type[Writes]:
    # Between requests Django would close what is not as it left it: the transaction is open.
    monkeypatch.setattr(connections["default"], "close_if_unusable_or_obsolete", lambda: None)
    embedder = TableEmbedder()
    monkeypatch.setattr(registry, "get_embedder", lambda settings: embedder)
    monkeypatch.setattr("memoryhub.pipeline.ingest.services.ring_worker", lambda *ids: None)
    monkeypatch.setattr(logging.getLogger("django.request"), "disabled", True)
    # The parser and the dictionary are loaded once a process, which no request is to be blamed for.
    parse_texts(["She sails."])
    is_dictionary_word("sails")
    Writes.tenant = create_tenant("Fuzz", "fuzz")
    Writes.rows = api_scene.make_row_of_every_kind(Writes.tenant)
    key, secret = create_key(Writes.tenant, "fuzz", ["read", "write", "admin"])
    with tenant_scope(Writes.tenant.id):  # its use is noted now and then, whatever is asked
        ApiKey.objects.filter(id=key.id).update(last_used_at=timezone.now() + timedelta(days=1))
    Writes.client = APIClient(
        headers={"Authorization": f"Bearer {secret}"} | {"Accept": ACCEPT},
        raise_request_exception=False,
    )
    return Writes


@pytest.mark.parametrize("part", range(-(-EXAMPLES // SEQUENCES)))
def test_X5_no_sequence_of_writes_ends_in_an_error_or_half_done(
    machine: type[Writes], request: pytest.FixtureRequest, part: int
) -> None:
    request.addfinalizer(lambda: _tell(request, machine))
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=SEQUENCES,
            stateful_step_count=STEPS,
            deadline=None,
            derandomize=not LONG,
            database=None,
            phases=(Phase.generate,),  # a failure is told whole; making it smaller takes minutes
            suppress_health_check=list(HealthCheck),
        ),
    )
    assert machine.refused > 0, "nothing was refused: the fingerprints had nothing to hold"
    assert machine.answers[200] > 0


def _tell(request: pytest.FixtureRequest, machine: type[Writes]) -> None:
    plugins = request.config.pluginmanager
    terminal, capture = plugins.get_plugin("terminalreporter"), plugins.get_plugin("capturemanager")
    if terminal and capture and "MEMORYHUB_FUZZ_EXAMPLES" in os.environ:
        by_status = ", ".join(f"{status}: {n:,}" for status, n in sorted(machine.answers.items()))
        seconds, where = machine.slowest
        with capture.global_and_fixture_disabled():
            terminal.write_line(
                f"\n{machine.answers.total():,} writes ({by_status}), {machine.refused:,} refused "
                f"and nothing changed by them, the slowest {seconds:.1f} s ({where})"
            )
