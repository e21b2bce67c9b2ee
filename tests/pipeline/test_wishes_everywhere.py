"""A wish to forget is noticed whatever the policy has read, and by each kind of engine (E20)."""

from __future__ import annotations

from typing import Any

import pytest

from memoryhub.dialogues.messages import Message
from memoryhub.dialogues.models import Turn
from memoryhub.pipeline.ingest.services import IngestRequest, ingest_messages
from memoryhub.pipeline.jobs import runner
from memoryhub.policies.presets import PRESETS
from memoryhub.policies.services import set_policy
from memoryhub.tenants.models import Tenant
from memoryhub.tenants.scope import tenant_scope
from memoryhub.tenants.services import create_tenant
from notes.models import Proposal
from tests.support.claims import change_known_claims, list_proposals, make_fact_reply
from tests.support.hub import EMPTY_REPLIES, START_TIME, ScriptedHub
from tests.support.segments import reply_chain

pytestmark = pytest.mark.django_db

CHOIR = "Ana sings in a choir."
WISHES = ["Please forget that I sing in a choir.", "请忘掉我在合唱团唱歌的事。"]
PLAIN = "The weather is fine."


def list_acts(tenant: Tenant) -> dict[str, str]:
    with tenant_scope(tenant.id):
        return dict(Turn.objects.values_list("text", "speech_act"))


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("wish", WISHES)
def test_E20_rules_notice_a_wish(preset: str, wish: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memoryhub.pipeline.ingest.services.ring_worker", lambda *ids: None)
    tenant = create_tenant("Local", "local")
    set_policy(tenant.id, actor="test", preset=preset, overrides={}, now=START_TIME)
    messages = [Message("user", text, "Ana", START_TIME) for text in (PLAIN, wish)]
    made = ingest_messages(tenant.id, IngestRequest("Ana", messages, "s"), START_TIME)
    assert made.job is not None
    assert runner.run_next_job(tenant.id, made.job.space_id, START_TIME)
    acts = list_acts(tenant)
    assert [text for text, act in acts.items() if act == "forget"] == [wish]
    with tenant_scope(tenant.id):
        assert [case.kind for case in Proposal.objects.all()] == ["erase"]


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("wish", WISHES)
@pytest.mark.parametrize("says_so", [True, False], ids=["told", "missed"])
def test_E20_a_wish_is_noticed_whether_or_not_a_model_says_so(
    hub: ScriptedHub, preset: str, wish: str, says_so: bool
) -> None:
    hub.set_policy(preset)
    empty: dict[str, Any] = {"changes": [], "entities": [], "relations": [], "exchanges": []}
    hub.model.allow(*EMPTY_REPLIES, construct=empty, chain=reply_chain())
    facts = {"facts": [make_fact_reply(CHOIR, quote="I sing in a choir.")]}
    hub.model.allow(extract_facts=facts, graph_entities={"entities": []})
    hub.say("I sing in a choir.")
    hub.run_due_jobs(minutes=2)
    acts = [{"handle": "t1", "act": "forget" if says_so else "request"}]
    hub.model.allow(extract_facts={"facts": [], "speech_acts": acts})
    if says_so:
        hub.model.allow(construct=change_known_claims("forget", "", quote=wish))
    hub.say(wish)
    hub.run_due_jobs(minutes=2)
    acts_now = list_acts(hub.tenant)
    assert [text for text, act in acts_now.items() if act == "forget"] == [wish]
    assert [case.kind for case in list_proposals(hub)] == ["erase"]
