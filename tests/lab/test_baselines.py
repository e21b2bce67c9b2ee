"""Each baseline does what sets it apart: written and read on a small world of its own."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import combinations
from typing import Any
from uuid import UUID

import pytest

from memoryhub.engines.local.engine import LocalEngine
from memoryhub.engines.types import Passage
from memoryhub.inference import selection
from memoryhub.inference.selection import get_named_engine
from memoryhub.lab.readers.communities import propagate_labels
from memoryhub.lab.systems import get_system
from memoryhub.lab.writers.pages import find_page_end
from memoryhub.policies.services import set_policy
from memoryhub.recall.render.prompt import format_memory_line
from memoryhub.tenants.scope import tenant_scope
from notes.models import Entity, Episode, Fact
from tests.lab.test_readers import list_refs, recall_with_system
from tests.support.claims import (
    decide_on_claim,
    list_current_texts,
    make_fact_reply,
    make_home_reply,
    say_and_derive,
)
from tests.support.hub import START_TIME, ScriptedHub

JUNE = datetime(2026, 6, 1, 9, 0, tzinfo=UTC)
DONE = {"tool": "", "arguments": None, "text": "done"}


def use_system(hub: ScriptedHub, name: str) -> None:
    system = get_system(name)
    set_policy(hub.tenant.id, actor="lab", preset=system.preset, overrides=dict(system.overrides))


def write_session(hub: ScriptedHub, name: str) -> None:
    """What the system writes by itself of the session that was just derived, as in a run."""
    get_system(name).write_session(hub.space, get_named_engine("llm"), hub.now)


def live_session(hub: ScriptedHub, name: str, *texts: str, session: str = "s1") -> None:
    use_system(hub, name)
    for number, text in enumerate(texts, 1):
        hub.say(text, session=session, external_id=f"{session}:{number}")
    hub.run_due_jobs()
    write_session(hub, name)


def call_tool(tool: str, **arguments: Any) -> dict[str, Any]:
    return {"tool": tool, "arguments": json.dumps(arguments), "text": ""}


# Zep


def move_to_porto(hub: ScriptedHub) -> None:
    use_system(hub, "zep")
    hub.model.allow("resolve", query_entities={"names": []})
    hub.model.allow(summarise=lambda data: {"summary": " ".join(data["facts"])})
    for city, at in (("Lisbon", START_TIME), ("Porto", JUNE)):
        ends = [{"name": "Ana", "type": "person"}, {"name": city, "type": "place"}]
        joined = [{"source": "Ana", "label": "lives_in", "target": city, "fact": 0}]
        parts = {"entities": ends, "relations": joined}
        text = f"I live in {city} now."
        say_and_derive(hub, text, make_home_reply(city), parts=parts, at=at, session=city)
        write_session(hub, "zep")


def test_zep_keeps_both_times_of_an_edge_that_holds_no_longer(hub: ScriptedHub) -> None:
    move_to_porto(hub)
    with tenant_scope(hub.tenant.id):
        lisbon = Fact.objects.get(text="Ana lives in Lisbon.")
    assert (lisbon.valid_from, lisbon.valid_to) == (START_TIME, JUNE)
    assert lisbon.recorded_at < JUNE  # of the hub's own time, the other of the two
    lines = [format_memory_line(i) for i in recall_with_system(hub, "zep", "Where is home?").items]
    told = next(line for line in lines if "Lisbon." in line and "Ana:" not in line)
    assert told.startswith("- 2026-05-12")
    assert "until 2026-06-01" in told
    assert any("Porto." in line and "until" not in line for line in lines)


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("Did Ana live in Porto on 31 May 2026?", "Ana lives in Lisbon."),
        ("Did Ana live in Lisbon on 3 June 2026?", "Ana lives in Porto."),
    ],
)
def test_zep_asked_as_of_a_day_gives_the_edge_that_held_then(
    hub: ScriptedHub, question: str, first: str
) -> None:
    """First; the others come behind it with their times."""
    move_to_porto(hub)
    hub.pass_time(days=30)
    told = [i.text for i in recall_with_system(hub, "zep", question).items if i.kind == "fact"]
    assert told[0] == first
    assert sorted(told) == ["Ana lives in Lisbon.", "Ana lives in Porto."]


def test_zep_renews_the_summary_of_an_entity_that_is_spoken_of(hub: ScriptedHub) -> None:
    move_to_porto(hub)
    with tenant_scope(hub.tenant.id):
        summaries = dict(Entity.objects.values_list("name", "summary"))
    assert summaries["Ana"] == "Ana lives in Porto."
    assert summaries["Lisbon"] == "Ana lives in Lisbon."  # not spoken of again
    nodes = [i.text for i in recall_with_system(hub, "zep", "Where is home?").items]
    assert "Ana: Ana lives in Porto." in nodes


def test_zep_tells_of_those_who_are_joined_among_themselves(hub: ScriptedHub) -> None:
    move_to_porto(hub)
    told = hub.model.list_calls("summarise")
    items = recall_with_system(hub, "zep", "Where is home?").items
    (asked,) = hub.model.list_calls("summarise")[len(told) :]
    assert sorted(text.split(":")[0] for text in asked["facts"]) == ["Ana", "Lisbon", "Porto"]
    assert " ".join(asked["facts"]) in [item.text for item in items]


def test_two_circles_that_one_edge_joins_are_two_communities() -> None:
    one, other = ([UUID(int=base + n) for n in range(4)] for base in (1, 101))
    edges = [*combinations(one, 2), *combinations(other, 2), (one[0], other[0])]
    labels = propagate_labels(edges)
    assert len({labels[node] for node in one}) == len({labels[node] for node in other}) == 1
    assert labels[one[0]] != labels[other[0]]
    assert propagate_labels([]) == {}


def test_zep_s_edges_are_put_in_order_by_the_reranker_that_the_hub_has(
    hub: ScriptedHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(selection, "get_reranker", lambda **asked: OldestFirst())
    move_to_porto(hub)
    edges = [i for i in recall_with_system(hub, "zep", "Home?").items if i.kind == "fact"]
    again = [i for i in recall_with_system(hub, "zep_reranked", "Home?").items if i.kind == "fact"]
    assert [item.text for item in again] == ["Ana lives in Lisbon.", "Ana lives in Porto."]
    assert [item.text for item in edges] == ["Ana lives in Porto.", "Ana lives in Lisbon."]
    assert get_system("zep").signature == get_system("zep_reranked").signature


class OldestFirst:
    name, tells_odds = "oldest first", False

    def score_texts(self, question: str, texts: Sequence[str]) -> list[float]:
        return [float("Lisbon" in text) for text in texts]


# LangMem


def test_langmem_saves_and_searches_by_its_own_tools_within_the_turn(hub: ScriptedHub) -> None:
    hub.model.script(
        "keep_memories",
        call_tool("search_memory", query="boat"),
        call_tool("manage_memory", action="create", content="Ana owns a red boat."),
        DONE,
    )
    live_session(hub, "langmem", "I bought a red boat.")
    first, second, last = hub.model.list_calls("keep_memories")
    assert {tool["name"] for tool in first["tools"]} == {"manage_memory", "search_memory"}
    assert "Ana: I bought a red boat." in first["messages"][-1]["content"]
    assert second["messages"][-1]["content"] == "nothing found"
    assert last["messages"][-1]["content"] == "created m1"

    hub.model.script("keep_memories", call_tool("search_memory", query="red boat"), DONE)
    handed = recall_with_system(hub, "langmem", "What does Ana own?")
    assert [item.text for item in handed.items] == ["Ana owns a red boat."]
    assert list_refs(handed) == [["s1:1"]]


def test_agents_of_the_lab_are_told_of_the_tools_they_have(hub: ScriptedHub) -> None:
    hub.model.allow(keep_memories=DONE)
    live_session(hub, "langmem", "I bought a red boat.")
    live_session(hub, "openai_memory", "I sold it.", session="s2")
    asked = [r for r in hub.model.requests if r.purpose == "keep_memories"]
    assert len(asked) == 2
    for request in asked:
        told = request.messages[0]["content"]
        assert [t["name"] for t in request.data["tools"] if f"`{t['name']}`" not in told] == []
        assert "send_message" not in told
        assert "core_append" not in told


def test_langmem_updates_and_deletes_by_the_id_that_a_search_showed(hub: ScriptedHub) -> None:
    def find_id(data: dict[str, Any], text: str) -> str:
        shown: list[str] = data["messages"][-1]["content"].splitlines()
        return next(line.split()[0] for line in shown if text in line)

    hub.model.script(
        "keep_memories",
        call_tool("manage_memory", action="create", content="Ana owns a red boat."),
        call_tool("manage_memory", action="create", content="Ana has a red cat."),
        DONE,
    )
    live_session(hub, "langmem", "I have a red boat and a red cat.")
    hub.model.script(
        "keep_memories",
        call_tool("search_memory", query="red"),
        lambda data: call_tool(
            "manage_memory",
            action="update",
            id=find_id(data, "boat"),
            content="Ana owns a blue boat.",
        ),
        call_tool("search_memory", query="red"),
        lambda data: call_tool("manage_memory", action="delete", id=find_id(data, "cat")),
        call_tool("manage_memory", action="delete", id="m77"),
        DONE,
    )
    live_session(hub, "langmem", "I painted it blue, and the cat is gone.", session="s2")
    assert list_current_texts(hub) == ["Ana owns a blue boat."]
    told = hub.model.list_calls("keep_memories")[-1]["messages"]
    assert "no memory" in told[-1]["content"]
    with tenant_scope(hub.tenant.id):
        boats = Fact.objects.filter(text__contains="boat")
        assert len({fact.lineage for fact in boats}) == 1

    hub.model.script("keep_memories", call_tool("search_memory", query="boat"), DONE)
    assert list_refs(recall_with_system(hub, "langmem", "Which boat?")) == [["s1:1", "s2:1"]]


def test_langmem_goes_on_after_the_exchanges_it_has_saved_from(hub: ScriptedHub) -> None:
    keep = call_tool("manage_memory", action="create", content="Ana owns a red boat.")
    hub.model.script("keep_memories", keep, DONE)
    live_session(hub, "langmem", "I bought a red boat.")
    write_session(hub, "langmem")
    assert len(hub.model.list_calls("keep_memories")) == 2


def test_langmem_s_manager_reads_a_conversation_that_is_over(hub: ScriptedHub) -> None:
    keep = call_tool("manage_memory", action="create", content="Ana owns a red boat.")
    hub.model.script("keep_memories", keep, DONE)
    live_session(hub, "langmem_background", "I like the sea.", "I bought a red boat.")
    first, _ = hub.model.list_calls("keep_memories")
    assert [tool["name"] for tool in first["tools"]] == ["manage_memory"]
    asked = first["messages"][-1]["content"]
    assert "Ana: I like the sea." in asked
    assert "Ana: I bought a red boat." in asked
    write_session(hub, "langmem_background")  # it was read
    assert len(hub.model.list_calls("keep_memories")) == 2

    change = {"action": "update", "id": "m1", "content": "Ana owns a blue boat."}
    hub.model.script("keep_memories", call_tool("manage_memory", **change), DONE)
    live_session(hub, "langmem_background", "I painted the boat blue.", session="s2")
    shown = hub.model.list_calls("keep_memories")[-2]["messages"][0]["content"]
    assert re.search(r"m1 \S+ Ana owns a red boat\.", shown)
    handed = recall_with_system(hub, "langmem_background", "Which boat?")
    assert [item.text for item in handed.items] == ["Ana owns a blue boat."]


# OpenAI's saved memories


def test_openai_memory_holds_what_is_saved_and_hands_over_all_of_it(hub: ScriptedHub) -> None:
    hub.model.script(
        "keep_memories",
        call_tool("save_memory", text="Ana is allergic to nuts."),
        DONE,
        DONE,
    )
    live_session(hub, "openai_memory", "Remember that nuts make me ill.", "I baked a cake.")
    asked = [each["messages"][0]["content"] for each in hub.model.list_calls("keep_memories")]
    assert "Saved memories:\nnone" in asked[0]
    assert "m1 2026-05-12 Ana is allergic to nuts." in asked[-1]
    hub.model.script("keep_memories", call_tool("save_memory", text="Ana's boat is red."), DONE)
    live_session(hub, "openai_memory", "Remember my red boat.", session="s2")
    handed = recall_with_system(hub, "openai_memory", "What is the capital of Peru?")
    assert [item.text for item in handed.items] == [
        "Ana is allergic to nuts.",
        "Ana's boat is red.",
    ]


def test_openai_memory_is_forgotten_by_its_id(hub: ScriptedHub) -> None:
    hub.model.script("keep_memories", call_tool("save_memory", text="Ana's boat is red."), DONE)
    live_session(hub, "openai_memory", "Remember my red boat.")
    hub.model.script("keep_memories", call_tool("forget_memory", id="m1"), DONE)
    live_session(hub, "openai_memory", "Forget the boat.", session="s2")
    assert recall_with_system(hub, "openai_memory", "Which boat?").items == []


# TiM


def test_tim_inserts_a_thought_and_forgets_what_contradicts_it(hub: ScriptedHub) -> None:
    use_system(hub, "tim")
    cities = make_fact_reply("Ana likes cities.", predicate="fond_of", object="cities")
    say_and_derive(hub, "I like cities.", cities)
    assert list_current_texts(hub) == ["Ana likes cities."]
    hub.pass_time(days=1)
    hub.model.script("resolve", decide_on_claim("Ana likes cities.", "contradict"))
    hates = make_fact_reply("Ana can't bear cities.", predicate="loathes", object="cities")
    say_and_derive(hub, "I can't bear cities.", hates)
    assert list_current_texts(hub) == ["Ana can't bear cities."]
    with tenant_scope(hub.tenant.id):  # forgotten: no time brings it back
        assert Fact.objects.get(text="Ana likes cities.").status == Fact.Status.RETRACTED


def test_tim_merges_thoughts_of_the_same_head(hub: ScriptedHub) -> None:
    use_system(hub, "tim")
    one = make_fact_reply("Ana studies art.", predicate="studies", object="art")
    say_and_derive(hub, "I study art.", one)
    hub.pass_time(days=1)
    merged = "Ana studies art and history."
    hub.model.script("resolve", decide_on_claim("Ana studies art.", "augment", merged))
    other = make_fact_reply("Ana studies history.", predicate="studies", object="history")
    say_and_derive(hub, "I study history.", other)
    assert list_current_texts(hub) == [merged]


# Nemori


def test_nemori_keeps_of_an_episode_only_what_it_did_not_predict(hub: ScriptedHub) -> None:
    hub.model.allow("episode_gate")
    hub.model.allow(episode_write={"title": "Ana's boat", "text": "They talked."})
    hub.model.script("predict", {"text": "Ana talked of a boat."})
    missed = {"text": "Ana's boat is red.", "evidence": ["p1"]}
    hub.model.script("calibrate", {"statements": [missed]})
    live_session(hub, "nemori", "My boat is red, you know?", "It lies in Porto.")
    assert hub.model.list_calls("predict")[0]["known"] == []
    shown = hub.model.list_calls("calibrate")[0]
    assert shown["predicted"] == "Ana talked of a boat."
    assert "My boat is red" in shown["passages"][0]["text"]
    assert list_current_texts(hub) == ["Ana's boat is red."]
    assert "extract_facts" not in {request.purpose for request in hub.model.requests}


def test_nemori_predicts_from_what_it_knows_and_learns_once(hub: ScriptedHub) -> None:
    hub.model.allow("episode_gate")
    hub.model.allow(episode_write={"title": "Ana's red boat", "text": "They talked of the boat."})
    hub.model.allow(predict=lambda data: {"text": " ".join(data["known"]) or "Nothing."})

    def find_gap(data: dict[str, Any]) -> dict[str, Any]:
        text, page = "Ana's boat is red.", data["passages"][0]["handle"]
        known = text in data["predicted"]
        return {"statements": [] if known else [{"text": text, "evidence": [page]}]}

    hub.model.allow(calibrate=find_gap)
    live_session(hub, "nemori", "My boat is red, you know?")
    live_session(hub, "nemori", "That red boat is mine.", session="s2")
    assert [call["known"] for call in hub.model.list_calls("predict")] == [
        [],
        ["Ana's boat is red."],
    ]
    assert list_current_texts(hub) == ["Ana's boat is red."]
    with tenant_scope(hub.tenant.id):
        (fact,) = Fact.objects.all()
    assert (fact.owner, fact.mention_count) == ("Ana", 1)
    write_session(hub, "nemori")
    assert len(hub.model.list_calls("predict")) == 2
    handed = recall_with_system(hub, "nemori", "Is the red boat Ana's?")
    assert {item.kind for item in handed.items} == {"fact", "episode"}
    assert ["s1:1"] in list_refs(handed)


def test_rules_learn_the_claims_that_are_not_known_word_by_word() -> None:
    engine = LocalEngine()
    said = Passage("p1", "Ana: I live in Porto. I own a red boat.", START_TIME)
    learnt = engine.find_unpredicted("Ana lives in Porto.", [said], subject="Ana")
    assert [(item.text, item.evidence) for item in learnt] == [("Ana owns a red boat.", ("p1",))]


# ReadAgent


def test_rules_pause_before_what_begins_something_else() -> None:
    said = [
        "Ana: I like boats.",
        "Ana: They are fast.",
        "Ana: By the way, I have a cat.",
        "Ana: Tom.",
    ]
    passages = [Passage(f"t{n}", text, START_TIME) for n, text in enumerate(said, 1)]
    assert LocalEngine().find_pause(passages, 1) == 2
    assert LocalEngine().find_pause(passages, 3) == 4


class Reader:
    """Pauses after the passage of this number."""

    def __init__(self, pause: int) -> None:
        self.pause, self.asked = pause, list[tuple[int, int]]()

    def find_pause(self, passages: Sequence[Passage], least: int) -> int:
        self.asked.append((len(passages), least))
        return self.pause


def make_passages(*words: int) -> list[Passage]:
    return [Passage(f"t{n}", "word " * size, START_TIME) for n, size in enumerate(words, 1)]


def find_end(reader: Reader, *words: int) -> int:
    return find_page_end(make_passages(*words), reader, 20, 50)  # type: ignore[arg-type]  # all it asks


def test_readagent_s_page_ends_where_the_engine_pauses_between_its_bounds() -> None:
    reader = Reader(3)
    assert find_end(reader, 10, 10, 10, 10, 10, 10) == 3
    # five passages fit in a page, and the second reaches the least size
    assert reader.asked == [(5, 2)]


@pytest.mark.parametrize(("words", "end"), [((10, 10), 2), ((90, 10), 1), ((40, 90), 1)])
def test_readagent_asks_for_no_pause_where_there_is_no_choice(
    words: tuple[int, ...], end: int
) -> None:
    reader = Reader(99)
    assert find_end(reader, *words) == end
    assert reader.asked == []


def test_readagent_reads_pages_of_its_own(hub: ScriptedHub) -> None:
    texts = ["boat " * 150, "sea " * 150, "cake " * 150, "oven " * 150, "cat " * 150]
    hub.model.script("paginate", {"after": "t2"})
    hub.model.allow(
        episode_write=lambda data: {"title": "", "text": f"{len(data['exchanges'])} passages."}
    )
    live_session(hub, "readagent", *texts)
    (first,) = hub.model.list_calls("paginate")  # what is left after it fits in one page
    assert first["passages"][0]["handle"] == "t1"
    assert "t1" not in first["pauses"]  # shorter than a page may be
    with tenant_scope(hub.tenant.id):
        pages = list(Episode.objects.order_by("from_seq").values_list("from_seq", "to_seq", "text"))
    assert pages == [(1, 2, "2 passages."), (3, 5, "3 passages.")]
    write_session(hub, "readagent")  # nothing is left
    hub.model.script("judge", {"relevant": ["p1"], "conflicts": [], "enough": True})
    handed = recall_with_system(hub, "readagent", "Which boat?")
    (opened,) = [item for item in handed.items if item.kind == "page"]
    assert [source.external_id for source in opened.sources] == ["s1:1", "s1:2"]
    assert [item.text for item in handed.items if item.kind == "episode"] == ["3 passages."]


def test_readagent_looks_up_one_page_after_the_other(hub: ScriptedHub) -> None:
    texts = ["boat " * 150, "sea " * 150, "cake " * 150, "oven " * 150, "cat " * 150]
    hub.model.script("paginate", {"after": "t2"})
    hub.model.allow(
        episode_write=lambda data: {"title": "", "text": f"{len(data['exchanges'])} passages."}
    )
    live_session(hub, "readagent_in_turn", *texts)

    def name_pages(*named: str, enough: bool = False) -> dict[str, Any]:
        return {"relevant": list(named), "conflicts": [], "enough": enough}

    hub.model.script("judge", name_pages("p2", enough=True), name_pages("p2", "p1", enough=True))
    handed = recall_with_system(hub, "readagent_in_turn", "Which boat?")
    _, second = hub.model.list_calls("judge")
    shown = {entry["handle"]: entry["text"] for entry in second["entries"]}
    assert shown["p1"] == "2 passages."
    assert "oven" in shown["p2"]
    assert ["oven" in item.text for item in handed.items if item.kind == "page"] == [True]


# LoCoMo's observations


def test_observations_are_read_with_what_led_to_them(hub: ScriptedHub) -> None:
    hub.embedder.table = {"leg": (1, 0, 0), "race": (0, 1, 0), "cat": (0, 0, 1)}
    hub.model.allow("digest", "resolve", "note_build")
    use_system(hub, "observations")
    told = {
        "Ana broke her leg.": "I broke my leg.",
        "Ana missed the race.": "So I missed the race.",
        "Ana has a cat.": "I have a cat.",
    }

    def read(data: dict[str, Any]) -> dict[str, Any]:
        said = {message["text"]: message["handle"] for message in data["messages"]}
        changes = [
            {
                "do": "add",
                "text": text,
                "source": said[words],
                "quote": words,
                "owner": "Ana",
                "relation": "did",
                "value": text,
            }
            for text, words in told.items()
            if words in said
        ]
        return {"changes": changes, "exchanges": []}

    def link(data: dict[str, Any]) -> dict[str, Any]:
        of = {n["content"]: n["handle"] for n in (*data["notes"], *data["known"])}
        ends = (of.get("Ana missed the race."), of.get("Ana broke her leg."))
        if None in ends or not any(
            n["handle"] == ends[0] and ends[1] in n["near"] for n in data["notes"]
        ):
            return {"links": [], "neighbours": []}
        made = {"from": ends[0], "to": ends[1], "kind": "causes", "reason": "the leg"}
        return {"links": [made], "neighbours": []}

    hub.model.allow(construct=read, link_evolve=link)
    set_policy(
        hub.tenant.id,
        actor="lab",
        preset="full_context",
        overrides=dict(get_system("observations").overrides) | {"notes.floor": 0.0},
    )
    for number, words in enumerate(told.values(), 1):
        hub.say(words, session=f"s{number}", external_id=f"D{number}:1")
        hub.run_due_jobs(days=1)
    handed = recall_with_system(hub, "observations", "What of the race?")
    chain = [item for item in handed.items if "→" in item.text]
    assert [item.text for item in chain] == [
        "Ana broke her leg. (2026-05-12) → Ana missed the race. (2026-05-13)"
    ]
    assert [source.external_id for source in chain[0].sources] == ["D1:1", "D2:1"]
