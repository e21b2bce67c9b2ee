"""A reranker in a search: the order it gives, what is told of it, and searches without it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import pytest

from memoryhub.engines import registry
from memoryhub.engines.reranking.packaged import get_packaged_reranker
from memoryhub.errors import EngineError
from memoryhub.inference.models import ModelCall
from memoryhub.policies.presets import PRESETS
from memoryhub.recall import rerank
from memoryhub.recall.context import build_context
from memoryhub.recall.render.results import SearchResult
from memoryhub.recall.services import search_memories
from memoryhub.tenants.scope import tenant_scope
from tests.recall.scene import RecallScene
from tests.support.openai_server import OpenAIServer, ScriptedReply

ASKED = "which kayak is for sale"
SAID = ("my kayak leaks", "a kayak stands there", "one kayak is for sale", "the kayak is red")


@pytest.fixture
def server(settings: Any) -> Iterator[OpenAIServer]:
    with OpenAIServer() as running:
        settings.RERANKER, settings.RERANKER_MODEL = "endpoint", "tiny-rerank"
        settings.RERANKER_URL, settings.RERANKER_TIMEOUT_SECONDS = running.url, 0.5
        yield running


@pytest.fixture
def shed(scene: RecallScene) -> RecallScene:
    """Four turns that are alike to the embedder."""
    scene.set_vectors(kayak=[1, 0])
    scene.say(*SAID)
    scene.hub.set_policy(recall__rerank="model", recall__rerank_weight=1.0)
    return scene


def search(scene: RecallScene, **options: Any) -> SearchResult:
    return search_memories(
        scene.space, ASKED, kinds=["turn"], now=scene.hub.now, reinforce=False, **options
    )


def list_texts(found: SearchResult) -> list[str]:
    return [item.text for item in found.items]


def score_backwards(texts: int) -> ScriptedReply:
    """The last is the best."""
    rows = ", ".join(f'{{"index": {at}, "relevance_score": {at}}}' for at in range(texts))
    return ScriptedReply(raw=f'{{"results": [{rows}]}}')


def test_the_reranker_puts_what_was_found_in_order(shed: RecallScene, server: OpenAIServer) -> None:
    plain = list_texts(search(shed, policy=None, channels=["raw"]))
    server.script_rerank(score_backwards(4))
    found = search(shed)
    assert sorted(list_texts(found)) == sorted(SAID)
    sent = server.requests[-1].body["documents"]
    assert [item.text in text for item, text in zip(found.items, sent[::-1], strict=True)] == [
        True
    ] * 4
    assert sorted(plain) == sorted(SAID)
    assert found.degraded == []
    assert "rerank" in found.took_ms


def test_a_search_for_few_looks_at_as_many_as_are_reranked(
    shed: RecallScene, server: OpenAIServer
) -> None:
    found = search(shed, limit=1, explain=True)
    assert list_texts(found) == ["one kayak is for sale"]
    assert len(server.requests[0].body["documents"]) == 4
    assert found.explain
    why = {each.text: each.why for each in found.explain.dropped}
    assert {text: why.get(text) for text in SAID if text not in list_texts(found)} == dict.fromkeys(
        ("my kayak leaks", "a kayak stands there", "the kayak is red"), "over_limit"
    )


def test_scores_fall_and_their_parts_tell_what_the_reranker_did(
    shed: RecallScene, server: OpenAIServer
) -> None:
    server.script_rerank(score_backwards(4))
    found = search(shed)
    scores = [item.score for item in found.items]
    assert scores == sorted(scores, reverse=True)
    for item in found.items:
        assert sum(item.parts.values()) == pytest.approx(item.score)
    moved = [item.parts["rerank"] for item in found.items if "rerank" in item.parts]
    assert moved[0] > 0 > moved[-1]
    ranks = [(rank.rank, rank.reason) for i in found.items for rank in i.found[-1:]]
    assert ranks == [(place, "tiny-rerank") for place in (1, 2, 3, 4)]
    assert [item.found[-1].channel for item in found.items] == ["rerank"] * 4


def test_the_weight_says_how_much_its_order_counts(shed: RecallScene, server: OpenAIServer) -> None:
    shed.hub.set_policy(recall__rerank="off")
    plain = list_texts(search(shed))
    shed.hub.set_policy(recall__rerank="model", recall__rerank_weight=0.0)
    server.script_rerank(score_backwards(4))
    assert list_texts(search(shed)) == plain


@pytest.mark.parametrize(
    "reply",
    [
        ScriptedReply(delay=1.5),
        ScriptedReply(status=500),
        ScriptedReply(raw="<html>gateway</html>"),
        ScriptedReply(raw='{"results": [{"index": 0, "relevance_score": 1}]}'),
    ],
    ids=["slow", "down", "garbage", "short"],
)
def test_without_its_answer_the_search_goes_on_and_says_so(
    shed: RecallScene, server: OpenAIServer, reply: ScriptedReply
) -> None:
    shed.hub.set_policy(recall__rerank="off")
    plain = list_texts(search(shed))
    shed.hub.set_policy(recall__rerank="model")
    server.script_rerank(reply)
    found = search(shed)
    assert list_texts(found) == plain
    assert found.degraded == ["reranker"]
    assert not any("rerank" in item.parts for item in found.items)


def test_a_policy_that_wants_one_the_hub_has_not_is_told(shed: RecallScene, settings: Any) -> None:
    settings.RERANKER = "off"
    found = search(shed)
    assert sorted(list_texts(found)) == sorted(SAID)
    assert found.degraded == ["reranker"]


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> None:
    """By the reader that comes with the hub, which the scripted hub does without."""
    monkeypatch.setattr(registry, "get_reranker", lambda settings: get_packaged_reranker(1))


@pytest.mark.parametrize("mode", ["model", "packaged"])
def test_without_any_setting_the_packaged_one_reads(
    shed: RecallScene, read: None, mode: str
) -> None:
    """And puts what answers first, of four that are alike to the embedder."""
    shed.hub.set_policy(recall__rerank=mode)
    shed.hub.say("Good morning.", role="assistant")
    found = search(shed, explain=True)
    assert found.degraded == []
    assert found.items[0].text == "one kayak is for sale"
    told = {each.channel: each.reason for each in found.items[0].found}
    assert told["rerank"] == "minilm-l6-v2-pairs"


def test_it_reads_unasked_and_the_systems_of_papers_do_without(
    shed: RecallScene, read: None
) -> None:
    """Also where the hub was given another, or none: what is sent elsewhere is asked for first."""
    shed.hub.set_policy()
    assert "rerank" in search(shed).took_ms  # what one person tells
    # It learned from what people tell an assistant, and leaves alone what they tell each other.
    shed.hub.say("Good morning.", speaker="Ben")
    assert "rerank" not in search(shed).took_ms
    shed.hub.say("Good morning.", role="assistant")
    assert "rerank" in search(shed).took_ms
    for name, preset in PRESETS.items():
        assert ("recall.rerank" in preset.overrides) is (name != "balanced")
    shed.hub.set_policy("rag")
    assert "rerank" not in search(shed).took_ms


class ScriptedReader:
    """Scores by a table, and remembers what it was given."""

    name = "scripted"

    def __init__(self, scores: Mapping[str, float], *, tells_odds: bool = True) -> None:
        self.scores, self.tells_odds = scores, tells_odds
        self.given: list[Sequence[str]] = []

    def score_texts(self, question: str, texts: Sequence[str]) -> list[float]:
        self.given.append(texts)
        return [self.scores[text.rpartition(": ")[2]] for text in texts]


@pytest.fixture
def plain(shed: RecallScene, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The four as they are found; from now on they are read by the hub's own reader."""
    shed.hub.set_policy(recall__rerank="off")
    found = list_texts(search(shed))
    shed.hub.set_policy()
    shed.hub.say("Good morning.", role="assistant")
    return found


def test_odds_count_by_their_size_and_other_scores_by_their_order(
    shed: RecallScene, plain: list[str], monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    """A little likelier the later it was found."""
    shed.hub.set_policy(recall__rerank="model")
    settings.RERANKER = "cross-encoder"
    scores = {text: 0.01 * at for at, text in enumerate(plain)}
    for odds, order in ((True, plain), (False, plain[::-1])):
        reader = ScriptedReader(scores, tells_odds=odds)
        monkeypatch.setattr(registry, "get_reranker", lambda settings, it=reader: it)
        assert list_texts(search(shed)) == order


def test_it_reads_on_only_while_another_could_still_come_first(
    shed: RecallScene, plain: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second, third, last = plain
    sure = ScriptedReader({first: 3.0, second: -4.0, third: -4.0, last: 4.0})
    monkeypatch.setattr(registry, "get_reranker", lambda settings: sure)
    found = search(shed)
    assert sure.given == [[first, second, third]]
    assert list_texts(found)[0] == first
    # What was not read is told without a place of the reader's.
    told = {
        item.text: [rank.rank for rank in item.found if rank.channel == "rerank"]
        for item in found.items
    }
    assert told == {first: [1], second: [2], third: [3], last: []}

    unsure = ScriptedReader({first: -1.0, second: -4.0, third: -4.0, last: 4.0})
    monkeypatch.setattr(registry, "get_reranker", lambda settings: unsure)
    assert list_texts(search(shed))[0] == last
    assert unsure.given == [[first, second, third], [last]]


def test_what_it_cost_is_in_the_ledger(
    shed: RecallScene, server: OpenAIServer, settings: Any
) -> None:
    search(shed)
    with tenant_scope(shed.hub.tenant.id):
        call = ModelCall.objects.get(purpose="rerank")
    assert (call.model, call.status, call.prompt_tokens) == ("tiny-rerank", "ok", 7)
    assert call.space_id == shed.space.id


def test_a_spent_budget_spares_the_endpoint(shed: RecallScene, server: OpenAIServer) -> None:
    search(shed)
    shed.hub.set_policy(recall__rerank="model", llm__budget_tokens_per_day=5)
    asked = len(server.requests)
    assert search(shed).degraded == ["reranker"]
    assert len(server.requests) == asked


def order_by(*texts: str) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """A model that names these texts' handles, one that was not offered, and no others."""

    def reply(data: dict[str, Any]) -> dict[str, Any]:
        by_text = {entry["text"].partition(": ")[2]: entry["handle"] for entry in data["entries"]}
        return {"order": [*(by_text[text] for text in texts), "m99"]}

    return reply


def test_a_language_model_puts_in_order_where_the_policy_says_so(shed: RecallScene) -> None:
    shed.hub.set_policy(recall__rerank="off")
    plain = list_texts(search(shed))
    shed.hub.set_policy(recall__rerank="llm", recall__rerank_weight=1.0)
    shed.hub.model.script("rerank", order_by("the kayak is red", "my kayak leaks"))
    found = search(shed)
    first = ["the kayak is red", "my kayak leaks"]
    assert list_texts(found) == [*first, *(text for text in plain if text not in first)]
    with tenant_scope(shed.hub.tenant.id):
        call = ModelCall.objects.get(purpose="rerank")
    assert (call.template, call.rejected) == ("rerank.v1", 1)


def test_a_language_model_that_fails_is_done_without(shed: RecallScene) -> None:
    shed.hub.set_policy(recall__rerank="llm")
    shed.hub.model.script("rerank", EngineError("down", code="unreachable"))
    found = search(shed)
    assert sorted(list_texts(found)) == sorted(SAID)
    assert found.degraded == ["reranker"]


def test_a_context_is_put_in_order_too(shed: RecallScene, server: OpenAIServer) -> None:
    made = build_context(shed.space, ASKED, now=shed.hub.now, reinforce=False, channels=["raw"])
    first = made.ranked[0]
    best = next(item for item in made.items() if item.id == first)
    assert best.text == "one kayak is for sale"
    assert "rerank" in made.took_ms


def test_a_whole_dialogue_stays_in_its_order(shed: RecallScene, server: OpenAIServer) -> None:
    shed.hub.set_policy("full_context", recall__rerank="model")
    build_context(shed.space, ASKED, now=shed.hub.now, reinforce=False)
    assert server.requests == []


def test_of_what_reads_the_same_the_latest_holds_and_the_first_held(
    scene: RecallScene, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Unless the question names a time; and "now" says so as well."""
    told = ("my kayak is green", "my kayak is blue")
    scene.set_vectors(kayak=[1, 0])
    for text in told:
        scene.hub.pass_time(days=30)
        scene.say(text)
    scene.hub.set_policy(recall__rerank="model")
    scene.hub.say("Good morning.", role="assistant")
    scores = dict.fromkeys([*told, "my kayak is yellow now"], 1.0)
    monkeypatch.setattr(registry, "get_reranker", lambda settings: ScriptedReader(scores))

    def find_first(question: str) -> str:
        found = search_memories(
            scene.space, question, kinds=["turn"], now=scene.hub.now, reinforce=False
        )
        return found.items[0].text

    def find_plain(question: str) -> str:
        with monkeypatch.context() as plain:
            plain.setattr(rerank, "is_reranked", lambda ask: False)
            return find_first(question)

    assert find_first("what colour is my kayak") == told[-1]
    assert find_first("what colour was my kayak before") == told[0]
    dated = "what colour was my kayak in March 2024"
    assert find_first(dated) == find_plain(dated)

    scene.say("my kayak is yellow now")
    scene.say(told[0])
    assert find_first("what colour is my kayak") == "my kayak is yellow now"


@pytest.fixture
def unlike(scene: RecallScene, monkeypatch: pytest.MonkeyPatch) -> RecallScene:
    """Three turns that have nothing in common with the question by words or vectors; what the
    reader says of each."""
    scene.set_vectors(employed=[1, 0, 0], shelter=[0, 1, 0], roof=[0, 1, 0], bus=[0, 0, 1])
    scene.say("I joined the shelter", "the roof leaks", "the bus was late")
    scores = {"I joined the shelter": 2.0, "the roof leaks": -0.5, "the bus was late": -4.0}
    monkeypatch.setattr(
        registry, "get_reranker", lambda settings: ScriptedReader({"Good morning.": -5.0, **scores})
    )
    return scene


def find_unlike(scene: RecallScene, **options: Any) -> SearchResult:
    return search_memories(
        scene.space, "where am i employed", now=scene.hub.now, reinforce=False, **options
    )


def test_where_the_floor_finds_nothing_the_reader_tells_what_bears_on_the_question(
    unlike: RecallScene,
) -> None:
    unlike.hub.say("Good morning.", role="assistant")
    found = find_unlike(unlike)
    assert list_texts(found) == ["I joined the shelter", "the roof leaks"]
    assert all(item.relevant for item in found.items)
    assert not found.insufficient
    near = find_unlike(unlike, nearest=True)
    assert [item.relevant for item in near.items[:2]] == [True, True]
    assert not any(item.relevant for item in near.items[2:])
    made = build_context(unlike.space, "where am i employed", now=unlike.hub.now, reinforce=False)
    assert not made.insufficient
    assert [item.text for item in made.items() if item.id in made.ranked] == [
        "I joined the shelter", "the roof leaks",
    ]  # fmt: skip


def test_what_the_reader_finds_unlikely_too_is_not_found(
    unlike: RecallScene, monkeypatch: pytest.MonkeyPatch
) -> None:
    unlike.hub.say("Good morning.", role="assistant")
    said = ("I joined the shelter", "the roof leaks", "the bus was late", "Good morning.")
    unsure = ScriptedReader(dict.fromkeys(said, -1.5))
    monkeypatch.setattr(registry, "get_reranker", lambda settings: unsure)
    found = find_unlike(unlike)
    assert (found.items, found.insufficient) == ([], True)


def test_what_people_tell_each_other_is_found_by_the_floor_alone(unlike: RecallScene) -> None:
    unlike.hub.say("Good morning.", speaker="Ben")
    assert find_unlike(unlike).items == []
    unlike.hub.say("Good morning.", role="assistant")
    unlike.hub.set_policy("rag")  # and so is what a paper's system finds
    assert find_unlike(unlike).items == []
