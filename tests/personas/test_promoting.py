"""Promotion: from warm pages to the shelf and the traits, all of it or nothing (MemoryOS)."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from memoryhub.console.pages.own import corrections
from memoryhub.dialogues.messages import hash_text
from memoryhub.dialogues.models import Turn
from memoryhub.errors import EngineError
from memoryhub.pipeline.review import answer_proposals
from memoryhub.pipeline.steps.promotion import refresh_by_clock, refresh_profile
from memoryhub.policies.services import load_effective_policy
from memoryhub.tenants.scope import tenant_scope
from memoryhub.tenants.services import ensure_space
from notes.facts import fact_shelf
from notes.models import Derivation, EvolutionEvent, Fact, Page, Proposal, Revision, Segment
from personas import profile, traits
from personas.models import CoreBlock, ProfileAttribute, Trait
from tests.personas.conftest import WarmMemory
from tests.support.factories import make_fact
from tests.support.hub import ScriptedHub

NOTHING: dict[str, Any] = {"user": [], "agent": []}
NO_TRAITS: dict[str, Any] = {"traits": []}


def make_trait_reply(key: str, level: str, *evidence: str, why: str = "Said so.") -> dict[str, Any]:
    return {"key": key, "level": level, "why": why, "evidence": list(evidence), "confidence": 0.8}


def make_knowledge_reply(text: str, *evidence: str) -> dict[str, Any]:
    return {"text": text, "evidence": list(evidence)}


def list_traits(hub: ScriptedHub, **wanted: Any) -> list[Trait]:
    with tenant_scope(hub.tenant.id):
        return list(Trait.objects.filter(**wanted).order_by("key", "valid_from"))


def test_what_is_extracted_becomes_facts_on_the_shelf_with_their_turns(
    hub: ScriptedHub, warm: WarmMemory
) -> None:
    warm.add_segment("I keep bees.", reply="I ordered a smoker for you.")
    hub.model.script(
        "kb_extract",
        {
            "user": [make_knowledge_reply("Ana keeps bees.", "p1")],
            "agent": [make_knowledge_reply("The assistant ordered a smoker.", "p1")],
        },
    )
    hub.model.script("trait_update", NO_TRAITS)
    hub.model.allow("resolve")
    result = warm.run_promotion()
    assert (result["state"], result["pages"], result["shelved"]) == ("done", 1, 2)
    (call,) = hub.model.list_calls("kb_extract")
    assert call["subject"] == "Ana"
    assert call["pages"][0]["text"] == "Ana: I keep bees.\nHub: I ordered a smoker for you."
    with tenant_scope(hub.tenant.id):
        (mine,) = fact_shelf.filter_shelved(hub.space, Fact.Shelf.USER, hub.now)
        (agents,) = fact_shelf.filter_shelved(hub.space, Fact.Shelf.AGENT, hub.now)
        assert (mine.text, mine.owner) == ("Ana keeps bees.", "Ana")
        assert (agents.text, agents.owner) == ("The assistant ordered a smoker.", "Hub")
        support = Derivation.objects.filter(child_id=mine.id, child_type="fact")
        assert [each.turn.text for each in support] == ["I keep bees."]
        event = EvolutionEvent.objects.get(kind="promote")
        assert {(r.row_type, r.version_after) for r in event.revisions.all()} == {
            ("fact", 1),
            ("fact", 2),
            ("page", 2),
            ("segment", 2),
        }


def test_what_is_held_already_only_gets_its_place_on_the_shelf(
    hub: ScriptedHub, warm: WarmMemory
) -> None:
    warm.add_segment("I keep bees.")
    with tenant_scope(hub.tenant.id):
        words = "Ana keeps bees."
        old = make_fact(hub.space, words, text_key=_compute_text_key(words), valid_from=hub.now)
    hub.model.script("kb_extract", {"user": [make_knowledge_reply("Ana keeps bees.", "p1")]})
    hub.model.script("trait_update", NO_TRAITS)
    assert warm.run_promotion()["shelved"] == 1
    with tenant_scope(hub.tenant.id):
        fact = Fact.objects.get()
        assert (fact.id, fact.shelf, fact.mention_count, fact.version) == (old.id, "user_kb", 1, 2)


def test_what_was_held_and_is_over_does_not_come_back(hub: ScriptedHub, warm: WarmMemory) -> None:
    warm.add_segment("I keep bees.")
    with tenant_scope(hub.tenant.id):
        make_fact(
            hub.space,
            "Ana keeps bees.",
            text_key=_compute_text_key("Ana keeps bees."),
            valid_from=hub.now - timedelta(days=9),
            valid_to=hub.now - timedelta(days=1),
            status="superseded",
        )
    hub.model.script("kb_extract", {"user": [make_knowledge_reply("Ana keeps bees.", "p1")]})
    hub.model.script("trait_update", NO_TRAITS)
    assert warm.run_promotion()["facts"] == 0
    with tenant_scope(hub.tenant.id):
        assert Fact.objects.get().shelf == ""


def _compute_text_key(text: str) -> str:
    return hash_text(f"Ana {text}")


def test_MO4_a_segment_is_promoted_strictly_over_tau(hub: ScriptedHub, warm: WarmMemory) -> None:
    pages = [f"The bees swarmed {n} times." for n in range(4)]
    segment = warm.add_segment(*pages, visits=0)
    with tenant_scope(hub.tenant.id):  # so that it counts as visited this moment, then as now
        Segment.objects.update(last_visited_at=hub.now + timedelta(days=1))
    assert warm.run_promotion()["pages"] == 0  # 4 pages: 5.0
    assert _reload_segment(hub, segment).promo_pages == 4
    warm.add_page(_reload_segment(hub, segment), "One more swarm.")
    hub.model.script("kb_extract", NOTHING)
    hub.model.script("trait_update", NO_TRAITS)
    assert warm.run_promotion()["pages"] == 5  # 6.0
    assert _reload_segment(hub, segment).promo_pages == 0


def test_MO7_one_with_nothing_unread_does_not_starve_another(
    hub: ScriptedHub, warm: WarmMemory
) -> None:
    hottest, other = (
        warm.add_segment("I keep bees.", visits=99),
        warm.add_segment("I sing.", visits=9),
    )
    with tenant_scope(hub.tenant.id):
        Page.objects.filter(memberships__segment=hottest).update(analysed_at=hub.now)
    hub.model.script("kb_extract", NOTHING)
    hub.model.script("trait_update", NO_TRAITS)
    assert warm.run_promotion()["pages"] == 1
    (asked,) = hub.model.list_calls("kb_extract")
    assert [page["text"] for page in asked["pages"]] == ["Ana: I sing."]
    assert (
        _reload_segment(hub, hottest).promo_visits,
        _reload_segment(hub, other).promo_pages,
    ) == (99, 0)


def test_MO6_exactly_the_pages_sent_are_marked_and_counted_off(
    hub: ScriptedHub, warm: WarmMemory
) -> None:
    hub.set_policy("memoryos", heat__reset="both")
    segment = warm.add_segment("I keep bees.", "The bees swarmed.")

    def meanwhile(data: dict[str, Any]) -> dict[str, Any]:
        warm.add_page(_reload_segment(hub, segment), "Honey at last.")
        return NOTHING

    hub.model.script("kb_extract", meanwhile)
    hub.model.script("trait_update", NO_TRAITS)
    warm.run_promotion()
    segment = _reload_segment(hub, segment)
    with tenant_scope(hub.tenant.id):
        analysed = Page.objects.order_by("first_seq").values_list("analysed_at", flat=True)
        assert [at is not None for at in analysed] == [True, True, False]
    assert (segment.promo_pages, segment.promo_visits) == (1, 0)
    assert (segment.pages_total, segment.visits_total) == (3, 5)


def _reload_segment(hub: ScriptedHub, segment: Segment) -> Segment:
    with tenant_scope(hub.tenant.id):
        return Segment.objects.select_related("space").get(id=segment.id)


def test_MO10_unknown_keys_and_levels_are_dropped_and_a_valid_one_is_kept(
    hub: ScriptedHub, warm: WarmMemory
) -> None:
    warm.add_segment("I keep bees.", "I moved my hives.")
    hub.model.script("kb_extract", NOTHING)
    hub.model.script(
        "trait_update",
        {
            "traits": [
                make_trait_reply("beekeeping", "high", "p1"),
                make_trait_reply("outdoors", "very high", "p1"),
                make_trait_reply("openness", "high", "p9"),
                make_trait_reply("gender", "low", "p1"),
                make_trait_reply("autonomy", "high", "p2", why="Moves alone."),
            ]
        },
    )
    warm.run_promotion()
    (call,) = hub.model.list_calls("trait_update")
    assert len(call["keys"]) == 87
    assert call["keys"]["honesty"] == {
        "high": "wants it said outright",
        "low": "wants it said kindly",
    }
    (one,) = list_traits(hub)
    assert (one.owner, one.key, one.level, one.rationale) == (
        "Ana",
        "autonomy",
        "high",
        "Moves alone.",
    )
    with tenant_scope(hub.tenant.id):
        support = Derivation.objects.filter(child_type="trait", child_id=one.id)
        assert [each.turn.text for each in support] == ["I moved my hives."]


def test_MO10_a_second_update_closes_the_first_interval(hub: ScriptedHub, warm: WarmMemory) -> None:
    for level, text in (("high", "I love it here alone."), ("low", "I need people now.")):
        warm.add_segment(text)
        hub.model.script("kb_extract", NOTHING)
        hub.model.script("trait_update", {"traits": [make_trait_reply("seclusion", level, "p1")]})
        warm.run_promotion()
        hub.pass_time(days=30)
    first, second = list_traits(hub)
    assert [(t.level, t.valid_to) for t in (first, second)] == [
        ("high", second.valid_from),
        ("low", None),
    ]
    assert second.valid_from > first.valid_from
    assert hub.model.list_calls("trait_update")[1]["current"][0]["level"] == "high"


def test_the_same_level_again_goes_on_with_more_evidence(
    hub: ScriptedHub, warm: WarmMemory
) -> None:
    for text in ("I sing.", "I sang again."):
        warm.add_segment(text)
        hub.model.script("kb_extract", NOTHING)
        hub.model.script(
            "trait_update", {"traits": [make_trait_reply("music", "high", "p1", why=text)]}
        )
        warm.run_promotion()
        hub.pass_time(days=1)
    (one,) = list_traits(hub)
    assert (one.version, one.rationale, one.valid_to) == (2, "I sang again.", None)
    with tenant_scope(hub.tenant.id):
        assert Derivation.objects.filter(child_type="trait", child_id=one.id).count() == 2


def test_what_a_person_set_is_proposed_against_and_not_overwritten(
    hub: ScriptedHub, warm: WarmMemory
) -> None:
    with tenant_scope(hub.tenant.id):
        traits.correct_trait(hub.space, "music", "low", "ida", hub.now)
    warm.add_segment("I sing.")
    hub.model.script("kb_extract", NOTHING)
    hub.model.script("trait_update", {"traits": [make_trait_reply("music", "high", "p1")]})
    assert warm.run_promotion()["traits_proposed"] == ["music"]
    (one,) = list_traits(hub)
    assert (one.level, one.corrected_by) == ("low", "ida")
    with tenant_scope(hub.tenant.id):
        proposal = Proposal.objects.get()
        assert (proposal.kind, proposal.row_id) == ("overwrite", one.id)


def test_what_a_person_withdrew_comes_back_only_on_a_persons_word(
    hub: ScriptedHub, warm: WarmMemory
) -> None:
    warm.add_segment("I sing.")
    hub.model.script("kb_extract", NOTHING, NOTHING)
    hub.model.script("trait_update", {"traits": [make_trait_reply("music", "high", "p1")]})
    warm.run_promotion()
    hub.pass_time(days=1)
    with tenant_scope(hub.tenant.id):
        traits.correct_trait(hub.space, "music", "", "ida", hub.now)
    hub.pass_time(days=1)
    warm.add_segment("I sang again.")
    hub.model.script("trait_update", {"traits": [make_trait_reply("music", "high", "p1")]})
    assert warm.run_promotion()["traits_proposed"] == ["music"]
    (one,) = list_traits(hub)
    assert (one.corrected_by, one.valid_to is None) == ("ida", False)
    with tenant_scope(hub.tenant.id):
        proposal = Proposal.objects.get()
    answer_proposals.answer_proposal(proposal, "apply", "ida", hub.now)
    (one,) = list_traits(hub)
    assert (one.level, one.valid_to) == ("high", None)


def test_E24_what_only_a_tool_said_is_held_back(hub: ScriptedHub, warm: WarmMemory) -> None:
    warm.add_segment("I keep bees.")
    with tenant_scope(hub.tenant.id):
        Turn.objects.update(role=Turn.Role.TOOL)
    hub.model.script(
        "kb_extract", {"user": [make_knowledge_reply("Ana keeps wasps.", "p1")], "agent": []}
    )
    hub.model.script("trait_update", NO_TRAITS)
    assert warm.run_promotion()["shelved"] == 0
    with tenant_scope(hub.tenant.id):
        assert not Fact.objects.exists()
        assert Proposal.objects.get().kind == "quarantine"


@pytest.mark.parametrize("failing", ["kb_extract", "trait_update"])
@pytest.mark.parametrize("how", ["error", "apology"])
def test_MO11_when_a_call_fails_nothing_has_changed(
    hub: ScriptedHub, warm: WarmMemory, failing: str, how: str
) -> None:
    segment = warm.add_segment("I keep bees.")
    before = (segment.promo_pages, segment.promo_visits, segment.version)
    wrong: Any = (
        EngineError("the model broke down") if how == "error" else "Sorry, I can't do that."
    )
    for purpose, reply in (
        ("kb_extract", {"user": [make_knowledge_reply("Ana keeps bees.", "p1")]}),
        ("trait_update", {"traits": [make_trait_reply("outdoors", "high", "p1")]}),
    ):
        if purpose == failing:
            hub.model.script(purpose, *([wrong] if how == "error" else [wrong, wrong]))
            break
        hub.model.script(purpose, reply)
    result = warm.run_promotion()
    assert result["state"] == "retry"
    segment = _reload_segment(hub, segment)
    assert (segment.promo_pages, segment.promo_visits, segment.version) == before
    with tenant_scope(hub.tenant.id):
        assert Page.objects.get().analysed_at is None
        for model in (Fact, Trait, ProfileAttribute, CoreBlock, Revision, EvolutionEvent):
            assert not model.objects.exists()


def test_MO14_what_an_agent_learns_with_one_subject_stays_with_that_subject(
    hub: ScriptedHub, warm: WarmMemory
) -> None:
    for subject, gift in (("Ana", "a smoker"), ("Omar", "a kite")):
        warm.add_segment("Thanks.", subject=subject, reply=f"I ordered {gift} for you.")
        said = make_knowledge_reply(f"Hub ordered {gift}.", "p1")
        hub.model.script("kb_extract", {"user": [], "agent": [said]})
        hub.model.script("trait_update", {"traits": [make_trait_reply("gaming", "high", "p1")]})
        warm.run_promotion(subject)
    with tenant_scope(hub.tenant.id):
        for subject, gift in (("Ana", "a smoker"), ("Omar", "a kite")):
            space = ensure_space(hub.tenant.id, subject)
            shelf = list(fact_shelf.filter_shelved(space, Fact.Shelf.AGENT, hub.now))
            assert [(fact.owner, fact.text) for fact in shelf] == [("Hub", f"Hub ordered {gift}.")]
            assert [t.owner for t in Trait.objects.filter(space=space)] == [subject]


def test_more_pages_than_fit_are_sent_in_turns(
    hub: ScriptedHub, warm: WarmMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memoryhub.pipeline.steps.promotion.MAX_PAGES", 2)
    warm.add_segment("One.", "Two.", "Three.", visits=0)
    warm.add_segment("Four.", visits=9)
    hub.set_policy("memoryos", heat__tau=1.5)
    for _ in range(2):
        hub.model.script("kb_extract", NOTHING)
        hub.model.script("trait_update", NO_TRAITS)
    warm.run_promotion()
    sent = [[page["text"] for page in call["pages"]] for call in hub.model.list_calls("kb_extract")]
    assert sent == [["Ana: Four.", "Ana: One."], ["Ana: Two.", "Ana: Three."]]


def test_only_what_the_policy_wants_is_asked(hub: ScriptedHub, warm: WarmMemory) -> None:
    hub.set_policy("memoryos", traits__enabled=False)
    warm.add_segment("I keep bees.")
    hub.model.script("kb_extract", NOTHING)
    assert warm.run_promotion()["pages"] == 1
    hub.set_policy("memoryos", shelf__enabled=False, traits__sensitive=True, traits__extras=True)
    warm.add_segment("I keep hens.")
    hub.model.script("trait_update", NO_TRAITS)
    assert warm.run_promotion()["pages"] == 1
    assert len(hub.model.list_calls("trait_update")[0]["keys"]) == 102


def test_I3_the_profile_mirrors_facts_while_they_hold(hub: ScriptedHub) -> None:
    with tenant_scope(hub.tenant.id):
        space = hub.space
        policy = load_effective_policy(space).policy
        since: Any = {"valid_from": hub.now - timedelta(days=1)}
        fact = make_fact(
            space, "Ana lives in Lisbon.", predicate_key="lives_in", object="Lisbon", **since
        )
        make_fact(space, "Ana is a woman.", predicate_key="gender", object="woman", **since)
        refresh_profile(space, policy, hub.now)
        refresh_profile(space, policy, hub.now)
        (home,) = profile.load_profile(space, hub.now)
        assert (home.key, home.value, home.fact_id, home.version) == (
            "lives_in",
            "Lisbon",
            fact.id,
            1,
        )
        fact.valid_to, fact.status = hub.now, Fact.Status.SUPERSEDED
        fact.save()
        assert profile.load_profile(space, hub.now) == []
        make_fact(space, "Ana lives in Porto.", predicate_key="lives_in", object="Porto", **since)
        refresh_profile(space, policy, hub.now)
        (home,) = profile.load_profile(space, hub.now)
        assert (home.value, home.version) == ("Porto", 2)
        profile.write_attribute(space, "lives in", "Braga", "ida", hub.now)
        refresh_profile(space, policy, hub.now)
        (home,) = profile.load_profile(space, hub.now)
        assert (home.value, home.fact_id, home.corrected_by) == ("Braga", None, "ida")


def test_a_post_whose_first_day_has_come_fills_the_profile(hub: ScriptedHub) -> None:
    with tenant_scope(hub.tenant.id):
        space, day = hub.space, timedelta(days=1)
        told: Any = {"predicate_key": "works_at", "valid_from": hub.now - 30 * day}
        make_fact(space, "Ana works at Harlow.", object="Harlow", **told)
        ahead: Any = {**told, "polarity": "planned", "asserted_at": hub.now - 20 * day}
        hoped: Any = {"event_from": hub.now - 2 * day, "event_to": hub.now - day}
        begun: Any = {"event_from": hub.now - 9 * day, "event_to": hub.now - 8 * day}
        later: Any = {"event_from": hub.now + day, "event_to": hub.now + 2 * day}
        make_fact(space, "Ana hopes to start at Orla.", object="Orla", **ahead, **hoped)
        make_fact(space, "Ana starts at Brightwell.", object="Brightwell", **ahead, **begun)
        make_fact(space, "Ana starts at Nettle.", object="Nettle", **ahead, **later)
        assert profile.find_source_facts(space, hub.now, sensitive=False)["works_at"].object == (
            "Brightwell"
        )
        over: Any = {**told, "polarity": "ended", "valid_from": hub.now - 3 * day}
        make_fact(space, "Ana left Brightwell.", object="Brightwell", **over)
        found = profile.find_source_facts(space, hub.now, sensitive=False)
        assert found["works_at"].object == "Harlow"


def test_the_portrait_is_made_of_traits_and_profile_and_no_agent_edits_it(
    hub: ScriptedHub, warm: WarmMemory
) -> None:
    hub.set_policy("memoryos", portrait__enabled=True)
    with tenant_scope(hub.tenant.id):
        profile.write_attribute(hub.space, "works_as", "baker", "ida", hub.now)
    warm.add_segment("I sing.")
    hub.model.script("kb_extract", NOTHING)
    hub.model.script(
        "trait_update", {"traits": [make_trait_reply("music", "high", "p1", why="Sings.")]}
    )
    warm.run_promotion()
    with tenant_scope(hub.tenant.id):
        block = CoreBlock.objects.get(label="portrait")
        assert block.value == "Ana\nworks as: baker\n- likes music (Sings.)"
        assert (block.generated, block.read_only, block.version) == (True, True, 1)
    hub.set_policy("memoryos", portrait__enabled=False)
    with tenant_scope(hub.tenant.id):
        refresh_by_clock(hub.space, load_effective_policy(hub.space).policy, hub.now)
        assert not CoreBlock.objects.filter(label="portrait", retired_at=None).exists()


def test_what_a_person_took_back_on_their_page_is_not_written_again(
    hub: ScriptedHub, warm: WarmMemory
) -> None:
    warm.add_segment("I like to try new dishes.")
    hub.model.script("kb_extract", NOTHING)
    hub.model.script("trait_update", {"traits": [make_trait_reply("openness", "high", "p1")]})
    warm.run_promotion()
    corrections.correct_trait(hub.space, "openness", "", hub.now)
    warm.add_segment("I travelled to a place nobody knows.")
    hub.model.script("kb_extract", NOTHING)
    hub.model.script("trait_update", {"traits": [make_trait_reply("openness", "high", "p1")]})
    assert warm.run_promotion()["traits_proposed"] == ["openness"]
    (row,) = list_traits(hub, key="openness")
    assert (row.valid_to, row.corrected_by) == (hub.now - timedelta(seconds=1), corrections.ACTOR)
    with tenant_scope(hub.tenant.id):
        assert "openness may be “curious about the new” now" in Proposal.objects.get().reason


def test_knowledge_that_says_what_the_profile_holds_fills_it(
    hub: ScriptedHub, warm: WarmMemory
) -> None:
    warm.add_segment("I moved to Porto.")
    hub.model.script(
        "kb_extract",
        {
            "user": [
                make_knowledge_reply("Ana lives in Porto.", "p1"),
                make_knowledge_reply("Ana's sister works as a nurse.", "p1"),
                make_knowledge_reply("Ana used to be a pilot.", "p1"),
            ],
            "agent": [],
        },
    )
    hub.model.script("trait_update", NO_TRAITS)
    hub.model.allow("resolve")
    assert warm.run_promotion()["state"] == "done"
    with tenant_scope(hub.tenant.id):
        (home,) = profile.load_profile(hub.space, hub.now)
        assert (home.key, home.value) == ("lives_in", "Porto")
        assert home.fact is not None
        assert (home.fact.shelf, home.fact.cardinality) == (Fact.Shelf.USER, "single")
