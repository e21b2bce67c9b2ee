"""To be forgotten, as the subject says it in the conversation (spec §10 E20, AA7)."""

from __future__ import annotations

from typing import Any

import pytest

from memoryhub.dialogues.models import Turn
from memoryhub.pipeline.models import Job
from memoryhub.pipeline.review import answer_proposals
from memoryhub.tenants.scope import tenant_scope
from notes.models import (
    Receipt,
)
from tests.support.claims import (
    decide_on_claim,
    list_current_texts,
    list_facts,
    list_proposals,
    make_fact_reply,
    make_home_reply,
    make_resolve_reply,
    say_and_derive,
)
from tests.support.database_scan import find_tables_with_word
from tests.support.hub import ScriptedHub

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("only_claims")]


def say_wish(text: str, hub: ScriptedHub, **said: Any) -> None:
    acts = [{"handle": "t1", "act": "forget"}]
    say_and_derive(hub, text, parts={"speech_acts": acts}, **said)


def asks_to_forget_an_address(hub: ScriptedHub, on_request: str) -> None:
    hub.set_policy(
        "mem0", episodes__rolling=False, graph__enabled=True, erase__on_request=on_request
    )
    home = {"predicate": "address", "verb": "lives at", "object": "12 Elm Street"}
    say_and_derive(
        hub, "I live at 12 Elm Street.", make_fact_reply("Ana lives at 12 Elm Street.", **home)
    )
    hub.model.script("resolve", decide_on_claim("Ana lives at 12 Elm Street.", "forget"))
    say_wish("Forget my address.", hub)


def test_AA7_E20_a_wish_of_the_subject_is_proposed_with_what_it_means(hub: ScriptedHub) -> None:
    asks_to_forget_an_address(hub, "confirm")
    (asked,) = list_proposals(hub)
    (known,) = list_facts(hub)
    assert (asked.kind, asked.row_id, asked.payload["auto"]) == ("erase", known.id, False)
    assert asked.payload["fact_ids"] == [str(known.id)]


def test_AA7_E20_a_certain_wish_is_carried_out_where_the_policy_says_so(hub: ScriptedHub) -> None:
    asks_to_forget_an_address(hub, "auto")
    assert list_facts(hub) == []
    assert list_proposals(hub) == []
    with tenant_scope(hub.tenant.id):
        assert Receipt.objects.get().counts["turns"] == 1
        assert find_tables_with_word("Elm Street") == []
        # That something was asked for stays, and repeats nothing of what it was about.
        assert Turn.objects.filter(text="Forget my address.").exists()


@pytest.mark.parametrize(
    "said", ["Forget that I live at 12 Elm Street.", "Forget my address, Elm Street I mean."]
)
def test_AA7_E20_a_wish_that_repeats_the_thing_goes_with_its_echo(
    hub: ScriptedHub, said: str
) -> None:
    hub.set_policy("mem0", episodes__rolling=False, graph__enabled=True, erase__on_request="auto")
    home = {"predicate": "address", "verb": "lives at", "object": "12 Elm Street"}
    say_and_derive(
        hub, "I live at 12 Elm Street.", make_fact_reply("Ana lives at 12 Elm Street.", **home)
    )
    hub.model.script("resolve", decide_on_claim("Ana lives at 12 Elm Street.", "forget"))
    hub.model.script(
        "extract_facts", {"facts": [], "speech_acts": [{"handle": "t1", "act": "forget"}]}
    )
    hub.say_exchange(said, "I forget 12 Elm Street. Anything else?")
    hub.run_due_jobs()
    assert (list_facts(hub), list_proposals(hub)) == ([], [])
    with tenant_scope(hub.tenant.id):
        assert Turn.objects.filter(state="redacted").count() == 3
        receipt = Receipt.objects.get()
        assert (receipt.counts["turns"], receipt.counts["wishes"]) == (3, 1)
        assert receipt.reason == "asked to forget"
        assert find_tables_with_word("Elm Street") == []


def test_AA7_E20_a_wish_that_means_nothing_known_can_be_erased_itself(hub: ScriptedHub) -> None:
    hub.set_policy("mem0", episodes__rolling=False)
    say_wish("Forget that I live at 12 Elm Street.", hub)
    (asked,) = list_proposals(hub)
    assert asked.payload == {"fact_ids": [], "auto": False}
    answer_proposals.answer_proposal(asked, "erase", "eva", hub.now)
    with tenant_scope(hub.tenant.id):
        assert Receipt.objects.get().counts["wishes"] == 1
        assert find_tables_with_word("Elm Street") == []


@pytest.mark.parametrize("words_first", [True, False])
def test_AA7_two_wishes_for_one_thing_are_both_granted(hub: ScriptedHub, words_first: bool) -> None:
    hub.set_policy(
        "mem0", episodes__rolling=False, erase__on_request="auto", derive__batch_exchanges=2
    )
    home = {"predicate": "address", "verb": "lives at", "object": "12 Elm Street"}
    say_and_derive(
        hub, "I live at 12 Elm Street.", make_fact_reply("Ana lives at 12 Elm Street.", **home)
    )

    def forget(data: dict[str, Any]) -> dict[str, Any]:
        (kept,) = data["kept"]
        found = [(new["handle"], "forget", kept["handle"]) for new in data["new"]]
        return make_resolve_reply(*found)

    hub.model.script("resolve", forget)
    acts = [{"handle": f"t{n}", "act": "forget"} for n in (1, 2)]
    hub.model.script("extract_facts", {"facts": [], "speech_acts": acts})
    wishes = ["Forget that I live at 12 Elm Street.", "Forget my address."]
    hub.say(*(wishes if words_first else wishes[::-1]))
    hub.run_due_jobs()
    with tenant_scope(hub.tenant.id):
        assert not Job.objects.exclude(error="").exists()
        assert find_tables_with_word("Elm Street") == []


@pytest.mark.parametrize("speaker", ["Hub", "Ana", ""])
def test_AA7_a_wish_of_the_assistant_is_ignored(hub: ScriptedHub, speaker: str) -> None:
    hub.set_policy("mem0", episodes__rolling=False, graph__enabled=True, erase__on_request="auto")
    say_and_derive(hub, "I live in Porto.", make_home_reply("Porto"))
    say_wish("Forget where she lives.", hub, role="assistant", speaker=speaker)
    assert list_proposals(hub) == []
    assert list_current_texts(hub) == ["Ana lives in Porto."]
    assert hub.model.list_calls("resolve") == []
    with tenant_scope(hub.tenant.id):
        assert not Receipt.objects.exists()
