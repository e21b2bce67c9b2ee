"""The papers' baselines, each on a small world of its own."""

from __future__ import annotations

from math import ceil
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoryhub.engines.embedding.model_files import count_tokens, find_token_spans
from memoryhub.inference.selection import get_named_engine
from memoryhub.lab.readers.base import ReaderInputs, ReaderResult
from memoryhub.lab.readers.chunks import cut_chunks, embed_texts
from memoryhub.lab.readers.thoughts import assign_buckets, draw_directions
from memoryhub.lab.runs.ask import answer_from_items
from memoryhub.lab.systems import SYSTEMS, System, get_system
from memoryhub.policies.services import set_policy
from memoryhub.recall.question.intents import compute_memory_count
from memoryhub.recall.render.prompt import format_memory_line
from memoryhub.tenants.scope import tenant_scope
from notes.models import Episode, Link, Note
from tests.recall.scene import RecallScene
from tests.support.claims import make_fact_reply
from tests.support.hub import ScriptedHub, TableEmbedder
from tests.support.segments import reply_chain, reply_themes

TALK = (
    "I bought a red boat in Lisbon.",
    "My sister Maria lives in Porto.",
    "Today I baked a lemon cake.",
    "My cat is called Tom.",
)


def make_inputs(hub: ScriptedHub, system: System, budget: int = 2000) -> ReaderInputs:
    set_policy(hub.tenant.id, actor="lab", preset=system.preset, overrides=dict(system.overrides))
    engine = get_named_engine("llm")
    return ReaderInputs(hub.space, engine, hub.embedder, budget, hub.now, system.options)


def recall_with_system(hub: ScriptedHub, name: str, question: str) -> ReaderResult:
    system = get_system(name)
    return system.build_reader(make_inputs(hub, system)).recall(question, hub.now)


def live_through_texts(hub: ScriptedHub, system: str, *texts: str) -> None:
    """A session each, as in a run."""
    known = get_system(system)
    set_policy(hub.tenant.id, actor="lab", preset=known.preset, overrides=dict(known.overrides))
    for number, text in enumerate(texts, 1):
        hub.say(text, session=f"s{number}", external_id=f"D{number}:1")
        hub.run_due_jobs()
        known.write_session(hub.space, get_named_engine("llm"), hub.now)


def list_refs(handed: ReaderResult) -> list[list[str]]:
    return [[source.external_id for source in item.sources] for item in handed.items]


@given(
    st.lists(st.text("abc de. ", min_size=1, max_size=60), min_size=1, max_size=8),
    st.integers(1, 20),
)
def test_BL2_there_are_as_many_chunks_as_the_tokens_take(lines: list[str], size: int) -> None:
    text = "\n".join(lines)
    made = cut_chunks(lines, size)
    assert len(made) == ceil(len(find_token_spans(text)) / size)
    if made:
        start = text.index(made[0].text)
        assert text[start:] == "".join(chunk.text for chunk in made)
        assert all(0 < count <= size + 1 for count in count_tokens([c.text for c in made]))


def test_BL2_a_line_that_is_cut_belongs_to_both_chunks() -> None:
    first, second = cut_chunks(["one two three", "four five six"], 4)
    assert (first.text, first.lines) == ("one two three\nfour ", (0, 1))
    assert (second.text, second.lines) == ("five six", (1,))


def test_BL2_rag_hands_over_the_k_chunks_most_alike(hub: ScriptedHub) -> None:
    hub.embedder.table = {"boat": (1, 0), "sister": (0, 1), "cake": (0.6, 0.8), "cat": (-1, 0)}
    live_through_texts(hub, "rag", *TALK)
    one = recall_with_system(hub, "rag-20x1", "Which boat?")
    two = recall_with_system(hub, "rag-20x2", "Which boat?")
    assert len(one.items) == 1
    assert "D1:1" in list_refs(one)[0]
    assert [item.id == one.items[0].id for item in two.items] == [False, False]
    assert one.items[0].text == two.items[0].text
    assert two.tokens <= 2 * (20 + 12)  # each with its date, without references


def test_BL2_a_chunk_longer_than_the_embedder_reads_is_the_mean_of_its_parts() -> None:
    embedder = TableEmbedder(table={"boat": (1, 0), "cake": (0, 1)}, max_tokens=2)
    (vector,) = embed_texts(["boat boat cake cake"], embedder)
    assert vector[:2] == pytest.approx([np.sqrt(0.5), np.sqrt(0.5)])


def test_BL1_full_context_holds_every_turn_once_in_order_with_its_date(hub: ScriptedHub) -> None:
    live_through_texts(hub, "full_context", *TALK)
    handed = recall_with_system(hub, "full_context", "Where does Maria live?")
    assert list_refs(handed) == [["D1:1"], ["D2:1"], ["D3:1"], ["D4:1"]]
    lines = [format_memory_line(item) for item in handed.items]
    assert all("2026-05-12" in line for line in lines)
    assert [text in line for text, line in zip(TALK, lines, strict=True)] == [True] * 4


def test_BL1_full_context_knows_no_budget(hub: ScriptedHub) -> None:
    system = SYSTEMS["full_context"]
    long = ["word " * 400 + str(number) for number in range(8)]
    live_through_texts(hub, "full_context", *long)
    reader = system.build_reader(make_inputs(hub, system, budget=200))
    assert len(reader.recall("word?", hub.now).items) == 8


def test_think_in_memory_looks_in_the_question_s_bucket_only() -> None:
    made = np.asarray([[1, 0], [0, 1]], np.float32)
    vectors = np.asarray([[1, 0.2], [0.9, -0.3], [0.1, 1], [-1, 0], [0, -1]], np.float32)
    assert assign_buckets(vectors, made).tolist() == [0, 0, 1, 2, 3]
    assert assign_buckets(vectors, draw_directions(0, 2, seed=0)).tolist() == [0] * 5
    assert draw_directions(8, 3, seed=1).shape == (4, 3)
    assert (draw_directions(8, 3, seed=1) == draw_directions(8, 3, seed=1)).all()


def test_observations_are_kept_beside_each_other_and_read_with_the_last_summary(
    hub: ScriptedHub,
) -> None:
    hub.model.allow("digest", construct={"changes": []})
    live_through_texts(hub, "observations", *TALK[:1])
    with tenant_scope(hub.tenant.id):
        assert Episode.objects.filter(kind="session").count() == 1
    handed = recall_with_system(hub, "observations", "Which boat?")
    assert [item.kind for item in handed.items] == ["episode"]
    assert handed.items[0].text == "They talked."


def test_readagent_reads_every_gist_and_looks_up_the_pages_it_names(hub: ScriptedHub) -> None:
    hub.embedder.table = {"boat": (1, 0), "sea": (1, 0), "kitchen": (0, 1)}
    gists = iter(["They spoke of the sea.", "They spoke of the kitchen.", "They spoke of pets."])
    hub.model.allow(episode_write=lambda data: {"title": "Talk", "text": next(gists)})
    live_through_texts(hub, "readagent", TALK[0], TALK[2], TALK[3])
    hub.model.script("judge", _judge_first_relevant)
    handed = recall_with_system(hub, "readagent", "Which boat?")
    looked_up = [item for item in handed.items if item.kind == "page"]
    assert "boat" in looked_up[0].text
    assert looked_up[0].sources[0].external_id == "D1:1"
    told = [item.text for item in handed.items if item.kind == "episode"]
    assert told == ["They spoke of the kitchen.", "They spoke of pets."]


def _judge_first_relevant(data: dict[str, Any]) -> dict[str, Any]:
    named = [data["entries"][0]["handle"]]
    return {"relevant": named, "conflicts": [], "enough": True}


def test_memgpt_searches_what_was_said_and_keeps_its_queue(hub: ScriptedHub) -> None:
    hub.model.allow("fold_summary")
    live_through_texts(hub, "memgpt", *TALK)
    handed = recall_with_system(hub, "memgpt", "Who lives in Porto?")
    assert ["D2:1"] in list_refs(handed)
    assert ["D4:1"] in list_refs(handed)  # the last session is its queue


@pytest.mark.parametrize(
    ("name", "handed_over", "told", "unasked"),
    [
        ("memoryos", {"turn", "page", "fact", "core"}, {"MTM", "LPM", "chain"}, set()),
        ("memoryos_no_mtm", {"turn", "fact", "core"}, {"LPM"}, set()),
        ("memoryos_no_lpm", {"turn", "page"}, {"MTM", "chain"}, {"kb_extract", "trait_update"}),
        ("memoryos_no_chain", {"turn", "page", "fact", "core"}, {"MTM", "LPM"}, {"chain"}),
    ],
)
def test_an_ablation_of_memoryos_lacks_one_part_and_keeps_the_others(
    hub: ScriptedHub, name: str, handed_over: set[str], told: set[str], unasked: set[str]
) -> None:
    """`told`: what of it whoever answers is shown."""
    hub.embedder.table = {"boat": (1, 0)}
    outdoors = {"key": "outdoors", "level": "high", "why": "Sails.", "evidence": ["p1"]}
    hub.model.allow(
        "resolve",
        chain=reply_chain(),
        themes=reply_themes("About the boat.", "boat"),
        segment_refresh={"text": "About the boat.", "keywords": ["boat"]},
        kb_extract={"user": [{"text": "Ana sails a boat.", "evidence": ["p1"]}], "agent": []},
        trait_update={"traits": [outdoors]},
        answer={"answer": "It sails [m1].", "used": ["m1"], "known": True},
    )
    live_through_texts(hub, name, *(f"I took the boat out on day {n}." for n in range(13)))
    place = make_inputs(hub, get_system(name))
    handed = get_system(name).build_reader(place).recall("What of the boat?", hub.now)
    assert {item.kind for item in handed.items} == handed_over
    answer_from_items(place, "What of the boat?", handed.items, hub.now)
    shown = str(hub.model.list_calls("answer")[-1])
    parts = {"MTM": "on day 0.", "LPM": "Ana sails a boat.", "chain": "So far."}
    assert {part for part, words in parts.items() if words in shown} == told
    asked = {request.purpose for request in hub.model.requests}
    assert {"chain", "themes", "kb_extract", "trait_update"} - asked == unasked


@pytest.mark.parametrize(
    ("name", "linked", "evolved"),
    [("amem", 1, True), ("amem_unlinked", 0, True), ("amem_unevolved", 1, False)],
)
def test_an_ablation_of_amem_lacks_links_or_evolution(
    hub: ScriptedHub, name: str, linked: int, evolved: bool
) -> None:
    hub.embedder.table = {"boat": (1, 0)}

    def join(data: dict[str, Any]) -> dict[str, Any]:
        """Whatever is asked for; what is not may not be there."""
        (known,), (new,) = data["known"], data["notes"]
        told = {
            "links": [{"from": new["handle"], "to": known["handle"], "kind": "related"}],
            "neighbours": [{"handle": known["handle"], "tags": ["harbour"], "why": "a trip"}],
        }
        return {"links": [], "neighbours": []} | {part: told[part] for part in data["wanted"]}

    hub.model.allow(link_evolve=join, query_terms={"terms": ["boat"]})
    live_through_texts(hub, name, "I bought a red boat in Lisbon.", "The boat was in the harbour.")
    with tenant_scope(hub.tenant.id):
        assert Link.objects.filter(active=True).count() == linked
        assert Note.objects.filter(tags=["harbour"]).exists() is evolved
    handed = recall_with_system(hub, name, "What of the boat?")
    assert {item.kind for item in handed.items} == {"note"}


@pytest.mark.parametrize(("name", "judged"), [("ama", 1), ("ama_unjudged", 0)])
def test_without_its_judge_ama_hands_over_what_one_look_finds(
    hub: ScriptedHub, name: str, judged: int
) -> None:
    hub.embedder.table = {"boat": (1, 0)}
    boat = make_fact_reply("Ana has a boat.", quote=TALK[0])
    hub.model.script("extract_facts", {"facts": [boat]})
    live_through_texts(hub, name, TALK[0])
    hub.model.allow(route={"query": "boat", "want": 5}, query_entities={"names": []})
    hub.model.allow(judge={"relevant": ["m1"], "conflicts": [], "enough": True})
    handed = recall_with_system(hub, name, "Which boat?")
    assert [item.text for item in handed.items] == ["Ana has a boat."]
    assert len(hub.model.list_calls("judge")) == judged


def test_systems_that_write_alike_share_a_signature() -> None:
    by_name = {name: system.signature for name, system in SYSTEMS.items()}
    assert by_name["memoryos"] == by_name["memoryos_no_mtm"]
    assert by_name["rag"] == by_name["rag_turns"] == by_name["full_context"]
    assert by_name["amem"] == by_name["amem-k20"] == by_name["amem-k50"]
    assert by_name["ama"] == by_name["ama_unjudged"]
    changed = ("amem", "amem_unlinked", "amem_unevolved", "ama", "ama_unrefreshed", "nemori")
    assert len({by_name[name] for name in changed}) == len(changed)
    apart = ("rag", "readagent", "langmem", "openai_memory", "mem0", "tim", "mem0g", "zep")
    assert len({by_name[name] for name in apart}) == len(apart)
    assert len({by_name[n] for n in ("mem0", "mem0g", "amem", "balanced", "memoryos")}) == 5


@pytest.mark.parametrize("k", [20, 30, 40, 50])
def test_amem_s_sweep_looks_for_so_many_notes(hub: ScriptedHub, k: int) -> None:
    """And hands them over, though they are more than a run's budget of tokens holds."""
    own = get_system("amem").policy.recall
    assert compute_memory_count(0, own.k_min, own.k_max) == 10
    hub.embedder.table = {"boat": (1, 0)}
    hub.model.allow("query_terms")
    scene = RecallScene(hub)
    for n in range(60):
        scene.add_note(f"The boat of day {n}" + " was out at sea" * 10)
    handed = recall_with_system(hub, f"amem-k{k}", "Which boat?")
    assert [item.kind for item in handed.items] == ["note"] * k
    assert handed.tokens > 40 * k


def test_a_chunk_size_can_be_named() -> None:
    system = get_system("rag-2048x10")
    assert dict(system.options) == {"size": 2048, "k": 10}
