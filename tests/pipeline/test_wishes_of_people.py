"""To be forgotten, as the subject says it in the conversation (spec §10 E20, AA7)."""

from __future__ import annotations

from typing import Any

import pytest

from memoryhub.dialogues.models import Turn
from memoryhub.pipeline import reviewing
from memoryhub.pipeline.models import Job
from memoryhub.tenants.scope import tenant_scope
from notes.models import (
    Receipt,
)
from tests.support.claims import (
    current,
    fact,
    facts,
    lives,
    on,
    proposals,
    told,
    verdicts,
)
from tests.support.hub import Hub
from tests.support.scan import places_of

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("only_claims")]


def wish(text: str, hub: Hub, **said: Any) -> None:
    acts = [{"handle": "t1", "act": "forget"}]
    told(hub, text, parts={"speech_acts": acts}, **said)


def asks_to_forget_an_address(hub: Hub, on_request: str) -> None:
    hub.policy("mem0", episodes__rolling=False, graph__enabled=True, erase__on_request=on_request)
    home = {"predicate": "address", "verb": "lives at", "object": "12 Elm Street"}
    told(hub, "I live at 12 Elm Street.", fact("Ana lives at 12 Elm Street.", **home))
    hub.model.script("resolve", on("Ana lives at 12 Elm Street.", "forget"))
    wish("Forget my address.", hub)


def test_AA7_E20_a_wish_of_the_subject_is_proposed_with_what_it_means(hub: Hub) -> None:
    asks_to_forget_an_address(hub, "confirm")
    (asked,) = proposals(hub)
    (known,) = facts(hub)
    assert (asked.kind, asked.row_id, asked.payload["auto"]) == ("erase", known.id, False)
    assert asked.payload["fact_ids"] == [str(known.id)]


def test_AA7_E20_a_certain_wish_is_carried_out_where_the_policy_says_so(hub: Hub) -> None:
    asks_to_forget_an_address(hub, "auto")
    assert facts(hub) == []
    assert proposals(hub) == []
    with tenant_scope(hub.tenant.id):
        assert Receipt.objects.get().counts["turns"] == 1
        assert places_of("Elm Street") == []
        # That something was asked for stays, and repeats nothing of what it was about.
        assert Turn.objects.filter(text="Forget my address.").exists()


@pytest.mark.parametrize(
    "said", ["Forget that I live at 12 Elm Street.", "Forget my address, Elm Street I mean."]
)
def test_AA7_E20_a_wish_that_repeats_the_thing_goes_with_its_echo(hub: Hub, said: str) -> None:
    hub.policy("mem0", episodes__rolling=False, graph__enabled=True, erase__on_request="auto")
    home = {"predicate": "address", "verb": "lives at", "object": "12 Elm Street"}
    told(hub, "I live at 12 Elm Street.", fact("Ana lives at 12 Elm Street.", **home))
    hub.model.script("resolve", on("Ana lives at 12 Elm Street.", "forget"))
    hub.model.script("construct", {"facts": [], "speech_acts": [{"handle": "t1", "act": "forget"}]})
    hub.exchange(said, "I forget 12 Elm Street. Anything else?")
    hub.drain()
    assert (facts(hub), proposals(hub)) == ([], [])
    with tenant_scope(hub.tenant.id):
        assert Turn.objects.filter(state="redacted").count() == 3
        receipt = Receipt.objects.get()
        assert (receipt.counts["turns"], receipt.counts["wishes"]) == (3, 1)
        assert receipt.reason == "asked to forget"
        assert places_of("Elm Street") == []


def test_AA7_E20_a_wish_that_means_nothing_known_can_be_erased_itself(hub: Hub) -> None:
    hub.policy("mem0", episodes__rolling=False)
    wish("Forget that I live at 12 Elm Street.", hub)
    (asked,) = proposals(hub)
    assert asked.payload == {"fact_ids": [], "auto": False}
    reviewing.answer(asked, "erase", "eva", hub.now)
    with tenant_scope(hub.tenant.id):
        assert Receipt.objects.get().counts["wishes"] == 1
        assert places_of("Elm Street") == []


@pytest.mark.parametrize("words_first", [True, False])
def test_AA7_two_wishes_for_one_thing_are_both_granted(hub: Hub, words_first: bool) -> None:
    hub.policy("mem0", episodes__rolling=False, erase__on_request="auto")
    home = {"predicate": "address", "verb": "lives at", "object": "12 Elm Street"}
    told(hub, "I live at 12 Elm Street.", fact("Ana lives at 12 Elm Street.", **home))

    def forget(data: dict[str, Any]) -> dict[str, Any]:
        (kept,) = data["kept"]
        found = [(new["handle"], "forget", kept["handle"]) for new in data["new"]]
        return verdicts(*found)

    hub.model.script("resolve", forget)
    acts = [{"handle": f"t{n}", "act": "forget"} for n in (1, 2)]
    hub.model.script("construct", {"facts": [], "speech_acts": acts})
    wishes = ["Forget that I live at 12 Elm Street.", "Forget my address."]
    hub.say(*(wishes if words_first else wishes[::-1]))
    hub.drain()
    with tenant_scope(hub.tenant.id):
        assert not Job.objects.exclude(error="").exists()
        assert places_of("Elm Street") == []


@pytest.mark.parametrize("speaker", ["Hub", "Ana", ""])
def test_AA7_a_wish_of_the_assistant_is_ignored(hub: Hub, speaker: str) -> None:
    hub.policy("mem0", episodes__rolling=False, graph__enabled=True, erase__on_request="auto")
    told(hub, "I live in Porto.", lives("Porto"))
    wish("Forget where she lives.", hub, role="assistant", speaker=speaker)
    assert proposals(hub) == []
    assert current(hub) == ["Ana lives in Porto."]
    assert hub.model.calls("resolve") == []
    with tenant_scope(hub.tenant.id):
        assert not Receipt.objects.exists()
