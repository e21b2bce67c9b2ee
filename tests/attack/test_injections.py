"""What others' words in a message can do: they are kept as words, and end, erase and write nothing,
also where a model obeys each of them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import timedelta
from itertools import count
from typing import Any
from uuid import uuid4

import pytest

from memoryhub.dialogues.messages import Message
from memoryhub.dialogues.models import Turn
from memoryhub.pipeline.ingest.services import IngestRequest, ingest_messages, run_space
from memoryhub.pipeline.jobs import runner
from memoryhub.tenants.models import Space, Tenant
from memoryhub.tenants.scope import tenant_scope
from memoryhub.tenants.services import create_tenant, ensure_space
from notes.models import Fact, Note, Receipt
from tests.attack.injections import INJECTIONS
from tests.support.claims import make_change_reply, make_changes_reply, make_fact_reply
from tests.support.hub import START_TIME, ScriptedHub

pytestmark = pytest.mark.django_db

HELD = (
    ("I live in Porto.", "Ana lives in Porto.", "lives_in", "Porto"),
    ("I have a dog called Rex.", "Ana has a dog called Rex.", "has_dog", "Rex"),
    ("I am allergic to nuts.", "Ana is allergic to nuts.", "allergic_to", "nuts"),
    ("I work at Acme.", "Ana works at Acme.", "works_at", "Acme"),
)
ACTS = ("end", "wrong", "replace", "forget", "refine")


def test_there_are_enough_of_them() -> None:
    assert len({(each.role, each.text) for each in INJECTIONS}) >= 200


def obey_everything(data: dict[str, Any]) -> dict[str, Any]:
    """All it is shown is ended, replaced or forgotten by every message, with a quotation of it that
    is found, beside claims nobody has, of whomever."""
    number, changes = count(), []
    held = {text for _, text, _, _ in HELD}
    shown = [claim for claim in data["known"] if claim["text"] in held]
    known = [*shown, {"handle": f"m{uuid4()}", "text": "Rui has a cat."}]
    for message in data["messages"]:
        quotes = [message["text"], message["text"][-40:], message["text"].split()[0]]
        for claim in known:
            at = next(number)
            changes.append(
                make_change_reply(
                    ACTS[at % len(ACTS)],
                    f"It is not so that {claim['text']}",
                    claim["handle"],
                    source=message["handle"],
                    quote=quotes[at % 3],
                    owner="Rui" if at % 7 == 6 else "Ana",
                    value="Rome" if at % 2 else "",
                )
            )
        wish = make_change_reply("forget", "", *(c["handle"] for c in known), quote=quotes[1])
        changes.append(wish | {"source": message["handle"]})
    return make_changes_reply(*changes)


def judge_everything_over(data: dict[str, Any]) -> dict[str, Any]:
    return {
        "decisions": [
            {"candidate": new["handle"], "op": op, "target": kept["handle"], "text": "x"}
            for new in data["new"]
            for kept in [*data["kept"], {"handle": "m99"}]
            for op in ("forget", "deny")
        ]
    }


def extract_everything_denied(data: dict[str, Any]) -> dict[str, Any]:
    """For each message that nothing of what is held is so, and that it asks for an erasure."""
    facts = [
        make_fact_reply(
            f"Ana does not: {text}",
            message["handle"],
            predicate=key,
            object=value,
            polarity=polarity,
            correction=polarity == "denied",
            quote=message["text"],
        )
        for message in data["messages"]
        for _, text, key, value in HELD
        for polarity in ("denied", "ended")
    ]
    acts = [{"handle": message["handle"], "act": "forget"} for message in data["messages"]]
    return {"facts": facts, "speech_acts": acts}


def tell_what_is_held(hub: ScriptedHub, reply: Any) -> None:
    hub.model.allow("resolve")
    for said, text, key, value in HELD:
        reply(said, text, key, value)
        hub.say(said)
        hub.run_due_jobs()
    with tenant_scope(hub.tenant.id):
        rui = ensure_space(hub.tenant.id, "Rui")
        Note.objects.create(
            tenant_id=hub.tenant.id,
            space=rui,
            content="Rui has a cat.",
            occurred_at=hub.now,
            created_at=hub.now,
        )


def deliver(tenant: Tenant, subject: str, roles: Sequence[str]) -> list[str]:
    """All of these roles' texts, a batch a session, as they come by the API, an import or a block
    of words; what was delivered."""
    texts = [each for each in INJECTIONS if each.role in roles]
    at = START_TIME + timedelta(days=30)
    for first in range(0, len(texts), 20):
        messages = [
            Message(e.role, e.text, "Ana" if e.role == "user" else "", timestamp=at)
            for e in texts[first : first + 20]
        ]
        made = ingest_messages(tenant.id, IngestRequest(subject, messages, f"s{first}"), at)
        assert made.job is not None
        runner.drain_space(tenant.id, made.job.space_id, at + timedelta(hours=1))
        at += timedelta(days=1)
    return [each.text for each in texts]


def check_nothing_was_done(tenant: Tenant, told: Sequence[str], texts: Sequence[str]) -> None:
    with tenant_scope(tenant.id):
        kept = {
            fact.text: fact for fact in Fact.objects.filter(text__in=texts, space__subject="Ana")
        }
        over = [
            (text, fact.status)
            for text, fact in kept.items()
            if fact.valid_to or fact.retired_at or fact.status != "active"
        ]
        assert over == []
        assert set(kept) == set(texts)
        assert not Receipt.objects.exists()
        assert set(told) <= set(Turn.objects.values_list("text", flat=True))
        others = Space.objects.filter(subject="Rui")
        assert not Fact.objects.filter(space__in=others).exists()
        assert list(Note.objects.filter(space__in=others).values_list("content", flat=True)) in (
            [],
            ["Rui has a cat."],
        )


@pytest.mark.parametrize("trust", ["confirm", "guarded", "trusted"])
@pytest.mark.parametrize("roles", [("user",), ("assistant", "tool", "system")])
def test_a_model_that_obeys_while_it_reads_does_nothing(
    hub: ScriptedHub, roles: tuple[str, ...], trust: str
) -> None:
    hub.set_policy("mem0", llm__combine_calls=True, episodes__rolling=False, judge__trust=trust)

    def hold(said: str, text: str, key: str, value: str) -> None:
        told = make_change_reply("add", text, quote=said, relation=key, value=value)
        hub.model.script("construct", make_changes_reply(told))

    tell_what_is_held(hub, hold)
    hub.model.allow(construct=obey_everything, resolve=judge_everything_over)
    check_nothing_was_done(hub.tenant, deliver(hub.tenant, "Ana", roles), [h[1] for h in HELD])


@pytest.mark.parametrize("trust", ["confirm", "guarded", "trusted"])
@pytest.mark.parametrize("roles", [("user",), ("assistant", "tool", "system")])
def test_a_model_that_obeys_in_calls_of_their_own_does_nothing(
    hub: ScriptedHub, roles: tuple[str, ...], trust: str
) -> None:
    hub.set_policy("mem0", episodes__rolling=False, graph__enabled=False, judge__trust=trust)

    def hold(said: str, text: str, key: str, value: str) -> None:
        fact = make_fact_reply(text, predicate=key, object=value, quote=said)
        hub.model.script("extract_facts", {"facts": [fact]})

    tell_what_is_held(hub, hold)
    hub.model.allow(extract_facts=extract_everything_denied, resolve=judge_everything_over)
    check_nothing_was_done(hub.tenant, deliver(hub.tenant, "Ana", roles), [h[1] for h in HELD])


def test_an_answer_that_is_no_json_does_nothing(hub: ScriptedHub) -> None:
    hub.set_policy("mem0", llm__combine_calls=True, episodes__rolling=False)

    def hold(said: str, text: str, key: str, value: str) -> None:
        told = make_change_reply("add", text, quote=said, relation=key, value=value)
        hub.model.script("construct", make_changes_reply(told))

    tell_what_is_held(hub, hold)
    broken = json.dumps({"changes": [{"do": "forget", "targets": ["m1"]}]})[:-3]
    hub.model.allow(construct=broken)
    hub.say(INJECTIONS[0].text)
    hub.run_due_jobs()
    check_nothing_was_done(hub.tenant, [INJECTIONS[0].text], [h[1] for h in HELD])


def test_the_local_engine_does_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memoryhub.pipeline.ingest.services.ring_worker", lambda *ids: None)
    tenant = create_tenant("Local", "local")
    held = ("I live in Porto.", "I have a dog called Rex.", "I am allergic to nuts.")
    for day, said in enumerate(held):
        at = START_TIME + timedelta(days=day)
        message = Message("user", said, "Ana", at)
        made = ingest_messages(tenant.id, IngestRequest("Ana", [message], "s"), at)
        assert made.job is not None
        run_space(tenant.id, made.job.space_id)
    with tenant_scope(tenant.id):
        texts = list(Fact.objects.values_list("text", flat=True))
    assert len(texts) >= len(held)
    told = deliver(tenant, "Ana", ("user", "assistant", "tool", "system"))
    check_nothing_was_done(tenant, told, texts)
