"""The read side's checks where callers see them: search, context and answer over HTTP."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from rest_framework.test import APIClient

from memoryhub.errors import EngineError
from memoryhub.recall.log import reinforcement
from tests.api.conftest import Client
from tests.recall.scene import RecallScene
from tests.support.hub import ScriptedHub
from tests.support.snapshot import RECALL_COUNTERS, take_snapshot

DOWN = EngineError("connection refused")
EVERYWHERE = ("search", "context", "answer")


@pytest.fixture
def scene(hub: ScriptedHub) -> RecallScene:
    return RecallScene(hub)


@pytest.fixture
def reader(hub: ScriptedHub, client_of: Client) -> APIClient:
    return client_of(hub.tenant, "read")


class Ask:
    """Sends a question to one of the three, and reads out of the answer what they share."""

    def __init__(self, api: APIClient, scene: RecallScene) -> None:
        self.api, self.scene = api, scene

    def __call__(self, path: str, question: str, **options: Any) -> Any:
        name = "question" if path == "answer" else "query"
        body = {"subject": self.scene.space.subject, name: question, **options}
        answer = self.api.post(f"/api/v1/{path}", body, format="json")
        assert answer.status_code == 200, answer.content
        return answer.json()


@pytest.fixture
def ask(reader: APIClient, scene: RecallScene) -> Ask:
    return Ask(reader, scene)


def list_texts(told: Any) -> list[str]:
    """The memories of an answer; `citations` are those it rests on."""
    if "citations" in told:
        return [each["text"] for each in told["citations"]]
    lists = [told["items"]] if "items" in told else [each["items"] for each in told["sections"]]
    return [item["text"] for items in lists for item in items]


@pytest.mark.parametrize("path", EVERYWHERE)
def test_E11_what_is_not_read_yet_is_found_and_counted(
    ask: Ask, scene: RecallScene, path: str
) -> None:
    scene.hub.model.allow(answer=DOWN)
    scene.say("the zeppelin is moored in Faro", "tea is in the kitchen", read=False)
    told = ask(path, "Where is the zeppelin moored?")
    assert told["pending_turns"] == 2
    assert "the zeppelin is moored in Faro" in list_texts(told)
    if path != "answer":
        lists = [told["items"]] if path == "search" else [s["items"] for s in told["sections"]]
        unread = {i["text"]: i["unread"] for items in lists for i in items}
        assert unread["the zeppelin is moored in Faro"]


def test_E11_a_context_serves_every_unread_turn_whatever_is_asked(
    ask: Ask, scene: RecallScene
) -> None:
    scene.say("the zeppelin is moored in Faro", read=False)
    told = ask("context", "What of violins?")
    (stm,) = [each for each in told["sections"] if each["name"] == "stm"]
    assert [item["text"] for item in stm["items"]] == ["the zeppelin is moored in Faro"]
    assert "the zeppelin is moored in Faro" in told["text"]


@pytest.mark.parametrize("path", EVERYWHERE)
def test_E11_nothing_is_pending_when_everything_is_read(
    ask: Ask, scene: RecallScene, path: str
) -> None:
    scene.hub.model.allow(answer=DOWN)
    scene.say("the zeppelin is moored in Faro")
    assert ask(path, "Where is the zeppelin?")["pending_turns"] == 0


@pytest.mark.parametrize("path", EVERYWHERE)
def test_E16_without_router_and_judge_it_is_found_and_said(
    ask: Ask, scene: RecallScene, path: str
) -> None:
    scene.hub.set_policy(route__mode="llm", judge__mode="llm")
    scene.set_vectors(kayak=[1, 0])
    scene.add_fact("Ana has a kayak")
    scene.hub.model.allow(route=DOWN, judge=DOWN, answer=DOWN, query_entities=DOWN)
    told = ask(path, "kayak?")
    assert told["degraded"][:2] == ["router", "judge"]
    assert told["degraded"][2:] == (["answer"] if path == "answer" else [])
    assert told["unverified"]
    assert not told["insufficient"]
    assert "Ana has a kayak" in list_texts(told)


@pytest.mark.parametrize("path", EVERYWHERE)
def test_E16_without_the_embedder_words_are_compared(
    ask: Ask, scene: RecallScene, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    scene.add_fact("Ana has a kayak")
    scene.hub.model.allow(answer=DOWN)

    def down(texts: Any) -> None:
        raise DOWN

    monkeypatch.setattr(scene.hub.embedder, "embed", down)
    told = ask(path, "Has Ana a kayak?")
    assert told["degraded"][0] == "dense"
    assert "Ana has a kayak" in list_texts(told)


@pytest.mark.parametrize("path", EVERYWHERE)
def test_E32_nothing_relevant_is_an_answer_that_says_so_and_marks_the_nearest(
    ask: Ask, scene: RecallScene, path: str
) -> None:
    scene.set_vectors(kayak=[1, 0], tea=[0.2, 0.98])
    (turn,) = scene.say("tea is served")
    scene.add_fact("Ana likes tea", turn)
    scene.add_note("a note of tea", turn)
    scene.hub.model.allow(answer=DOWN)
    told = ask(path, "kayak?")
    assert told["insufficient"]
    assert told["degraded"] == []
    if path == "search":
        assert {each["text"] for each in told["items"]} >= {"Ana likes tea"}
        assert not any(each["relevant"] for each in told["items"])
        assert ask(path, "kayak?", min_relevance=0.5)["items"] == []
    elif path == "answer":
        assert told["abstained"]
        assert told["citations"] == []
    else:
        # The latest exchange is there whatever is asked; nothing is held out as found.
        assert {each["name"] for each in told["sections"]} <= {"core", "stm", "shelf"}


@pytest.mark.parametrize("path", EVERYWHERE)
def test_E32_a_space_without_memories_has_nothing(ask: Ask, scene: RecallScene, path: str) -> None:
    scene.hub.model.allow(answer=DOWN)
    told = ask(path, "kayak?")
    assert told["insufficient"]
    assert list_texts(told) == []


def judge_insufficient(data: dict[str, Any]) -> dict[str, Any]:
    """A judge who finds it all relevant, and not enough."""
    return {"relevant": [e["handle"] for e in data["entries"]], "conflicts": [], "enough": False}


@pytest.mark.parametrize("path", EVERYWHERE)
@pytest.mark.parametrize("rounds", [1, 2])
def test_AA3_AA4_rounds_are_kept_to_and_told_and_too_little_stays_insufficient(
    ask: Ask, scene: RecallScene, path: str, rounds: int
) -> None:
    scene.hub.set_policy("ama", recall__rounds=rounds)
    scene.set_vectors(kayak=[1, 0], weather=[0, 1])
    said, other = scene.say("my kayak leaks", "the weather turned")
    scene.add_context_turn(scene.add_fact("Ana has a kayak", said), other)
    scene.hub.model.script("route", {"query": "kayak"})
    scene.hub.model.allow(judge=judge_insufficient, answer=DOWN, query_entities={"names": []})
    told = ask(path, "kayak?")
    assert len(scene.hub.model.list_calls("judge")) == rounds
    assert told["insufficient"]
    if path != "answer":
        assert told["rounds"] == rounds
        assert ("the weather turned" in list_texts(told)) == (rounds == 2)


@pytest.mark.parametrize("path", EVERYWHERE)
def test_AA6_a_question_changes_nothing_and_reports_the_conflict(
    ask: Ask, scene: RecallScene, path: str
) -> None:
    scene.hub.set_policy(judge__mode="llm", recall__rounds=1)
    scene.set_vectors(Berlin=[1, 0], Rome=[0.9, 0.44])
    (turn,) = scene.say("I live in Rome")
    rome = scene.add_fact("Ana lives in Rome", turn, predicate_key="lives_in", cardinality="single")

    def clash(data: dict[str, Any]) -> dict[str, Any]:
        handle = next(e["handle"] for e in data["entries"] if "Rome" in e["text"])
        conflict = {"handles": [handle, "m77"], "why": "asked about Berlin"}
        return {"relevant": [handle], "conflicts": [conflict], "enough": True}

    scene.hub.model.allow(judge=clash, answer=DOWN)
    before = take_snapshot(scene.hub.tenant, without=RECALL_COUNTERS)
    told = ask(path, "Did I move to Berlin?")
    assert told["conflicts"] == [{"ids": [str(rome.id)], "why": "asked about Berlin"}]
    reinforcement.flush_recalls()
    after = take_snapshot(scene.hub.tenant, without=RECALL_COUNTERS)
    assert {name: after[name] for name in before} == before


@pytest.mark.parametrize("path", EVERYWHERE)
def test_AA11_an_invalid_route_leaves_the_question_the_facts_and_K_m(
    ask: Ask, scene: RecallScene, path: str
) -> None:
    scene.hub.set_policy("ama", judge__mode="off", recall__k_min=2)
    scene.set_vectors(kayak=[1, 0])
    scene.say("kayak kayak kayak")
    for number in range(4):
        scene.add_fact(f"kayak {number}")
    scene.hub.model.allow(route="no JSON at all", answer=DOWN, query_entities={"names": []})
    told = ask(path, "kayak?", explain=True)
    assert told["degraded"][0] == "router"
    route = told["explain"]["route"]
    assert (route["query"], route["channels"], route["wanted"]) == ("kayak?", ["facts"], 2)
    if path == "context":
        (facts,) = [each for each in told["sections"] if each["name"] == "facts"]
        assert len(facts["items"]) == 2


@pytest.mark.parametrize(
    ("vector", "store"),
    [
        ((1, 1, 1, 1), "raw"),
        ((0, 1, 0, 1), "episodes"),
        ((0, 0, 1, 0), "episodes"),
        ((0, 0, 0, 1), "facts"),
        ((0, 0, 0, 0), "facts"),
    ],
)
@pytest.mark.parametrize("path", EVERYWHERE)
def test_AA1_the_intent_vector_chooses_the_one_store(
    ask: Ask, scene: RecallScene, path: str, vector: tuple[int, ...], store: str
) -> None:
    scene.hub.set_policy("ama", judge__mode="off")
    names = ("fine", "abstract", "event", "atomic")
    reply = {"query": "kayak"} | dict(zip(names, map(bool, vector), strict=True))
    scene.hub.model.allow(route=reply, answer=DOWN, query_entities={"names": []})
    told = ask(path, "kayak?", explain=True)
    assert told["degraded"] == []
    assert told["explain"]["route"]["channels"] == [store]


@pytest.mark.parametrize("path", EVERYWHERE)
@pytest.mark.parametrize(("want", "k"), [(1, 5), (12, 12), (999, 30)])
def test_AA2_as_many_as_are_wanted_within_the_bounds(
    ask: Ask, scene: RecallScene, path: str, want: int, k: int
) -> None:
    scene.hub.set_policy("ama", judge__mode="off", recall__k_min=5, recall__k_max=30)
    scene.set_vectors(kayak=[1, 0])
    for number in range(35):
        scene.add_fact(f"kayak {number}")
    reply = {"query": "kayak", "want": want}
    scene.hub.model.allow(route=reply, answer=DOWN, query_entities={"names": []})
    options = {} if path == "context" else {"limit": None}
    told = ask(path, "kayak?", explain=True, budget_tokens=100_000, **options)
    assert told["explain"]["route"]["wanted"] == k
    found = told["explain"]["memories"] if path == "answer" else list_texts(told)
    assert len(found) == k


@pytest.mark.parametrize("path", ["search", "context"])
def test_AM7_a_linked_note_comes_with_two_direct_hits_and_is_marked(
    ask: Ask, scene: RecallScene, path: str
) -> None:
    scene.set_vectors(kayak=[1, 0], paddle=[0.9, 0.44], tent=[0.5, 0.87])
    scene.hub.set_policy("amem", recall__k_min=2, recall__k_max=2)
    scene.hub.model.allow("query_terms")
    a, b = scene.add_note("I bought a kayak"), scene.add_note("A paddle came too")
    c = scene.add_note("The tent is green")
    scene.add_link(a, c)
    told = ask(path, "kayak", **({"limit": None} if path == "search" else {}))
    lists = [told["items"]] if path == "search" else [s["items"] for s in told["sections"]]
    found = [(i["id"], i["linked"]) for items in lists for i in items if i["kind"] == "note"]
    assert found == [(str(a.id), False), (str(b.id), False), (str(c.id), True)]


def test_AM7_a_limit_that_is_asked_for_is_kept_to(ask: Ask, scene: RecallScene) -> None:
    scene.set_vectors(kayak=[1, 0], tent=[0.5, 0.87])
    scene.hub.set_policy("amem", recall__k_min=2, recall__k_max=2)
    scene.hub.model.allow("query_terms")
    a, c = scene.add_note("I bought a kayak"), scene.add_note("The tent is green")
    scene.add_link(a, c)
    assert list_texts(ask("search", "kayak", limit=1)) == ["I bought a kayak"]
    assert list_texts(ask("search", "kayak", limit=2)) == ["I bought a kayak", "The tent is green"]


@pytest.mark.parametrize("path", ["search", "context"])
def test_GR7_relations_go_in_and_out_and_lose_by_hop(
    ask: Ask, scene: RecallScene, path: str
) -> None:
    scene.set_vectors(
        owns=[1, 0], works_at=[1, 0], sister_of=[1, 0], lives_in=[1, 0], told=[0.5, 0.866]
    )
    names = ("Alice", "Bakery", "Ben", "Clara", "Porto")
    alice, bakery, ben, clara, porto = (scene.add_entity(name) for name in names)
    for src, label, dst in ((alice, "owns", bakery), (ben, "works_at", bakery),
                            (clara, "sister_of", ben), (clara, "lives_in", porto)):  # fmt: skip
        scene.add_relation(scene.add_fact(f"{src.name} {label} {dst.name}"), src, label, dst)
    told = ask(path, "What is told of Bakery?", channels=["graph"], select="fixed", explain=True)
    lists = [told["items"]] if path == "search" else [s["items"] for s in told["sections"]]
    score = {
        item["text"]: found["score"]
        for items in lists
        for item in items
        for found in item["found"]
        if found["channel"] == "graph"
    }
    one, other = score["Alice owns Bakery"], score["Ben works_at Bakery"]
    assert one == pytest.approx(other, abs=1e-3)
    assert score["Clara sister_of Ben"] < one


@pytest.mark.parametrize("path", ["search", "context"])
def test_GR8_a_relation_alike_is_found_without_an_entity_and_nothing_below_the_floor(
    ask: Ask, scene: RecallScene, path: str
) -> None:
    scene.set_vectors(residence=[1, 0], dwells=[0.8, 0.6], cooks=[0.2, 0.98])
    ana, porto, soup = (scene.add_entity(name) for name in ("Ana", "Porto", "Soup"))
    scene.add_relation(scene.add_fact("she dwells by the river"), ana, "lives_in", porto)
    scene.add_relation(scene.add_fact("she cooks it daily"), ana, "cooks", soup)
    told = ask(path, "Which is the residence?", channels=["graph"], select="fixed")
    assert list_texts(told) == ["she dwells by the river"]


@pytest.mark.parametrize("path", EVERYWHERE)
def test_as_of_before_anything_was_said_there_is_nothing(
    ask: Ask, scene: RecallScene, path: str
) -> None:
    scene.hub.model.allow(answer=DOWN)
    (turn,) = scene.say("the zeppelin is moored in Faro")
    scene.add_fact("the zeppelin is moored in Faro", turn)
    at = (scene.hub.now - timedelta(days=400)).isoformat()
    told = ask(path, "Where is the zeppelin?", as_of=at)
    assert told["insufficient"]
    assert "the zeppelin is moored in Faro" not in list_texts(told)
