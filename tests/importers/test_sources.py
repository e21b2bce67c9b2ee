"""What each reader finds in a file of its system."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from api.mem0.ids import Mem0Ids
from memoryhub.importers.records import (
    BlockRecord,
    MemoryRecord,
    PassageRecord,
    RelationTriple,
    SessionRecord,
    SkippedRecord,
    UnknownFields,
)
from memoryhub.importers.sources import SOURCES
from memoryhub.importers.sources.langmem import get_subject
from tests.importers.file_contents import dump_lines, read_source_records, select_records
from tests.importers.samples import (
    JSONL,
    LANGMEM,
    LETTA,
    MEM0,
    MEM0_HISTORY,
    MEM0_ID,
    SAMPLES,
    ZEP,
    make_chatgpt_conversation,
    make_chatgpt_export,
    make_chatgpt_node,
)


def parse_time(text: str) -> datetime:
    return datetime.fromisoformat(text).astimezone(UTC)


def list_skip_reasons(found: list[Any]) -> dict[str, str]:
    return {each.where: each.reason for each in select_records(SkippedRecord, found)}


def list_unknown_fields(found: list[Any]) -> set[str]:
    return {name for each in select_records(UnknownFields, found) for name in each.fields}


def list_said(talk: SessionRecord) -> list[tuple[str, str, str]]:
    return [(m.role, m.speaker, m.content) for m in talk.messages]


# --- mem0 ---


def test_memories_of_mem0_keep_their_ids_times_and_metadata() -> None:
    lisbon, gym, relation = select_records(MemoryRecord, read_source_records("mem0", MEM0))
    assert (lisbon.id, lisbon.subject, lisbon.text) == (MEM0_ID, "ana", "Lives in Lisbon")
    assert lisbon.said_at == parse_time("2026-02-01T18:00:00+00:00")
    assert lisbon.metadata == {"trip": "no"}
    assert lisbon.origin == {
        "agent_id": "helper",
        "run_id": "r-1",
        "categories": ["personal_details"],
    }
    assert gym.pinned
    assert gym.valid_to == parse_time("2026-04-01T00:00:00+00:00")
    assert relation.text == "ana lives in lisbon"
    assert relation.subject == "ana"
    assert relation.triples == (RelationTriple("ana", "lives_in", "lisbon"),)


def test_what_mem0_can_not_tell_is_skipped_with_its_place() -> None:
    found = read_source_records("mem0", MEM0)
    assert list_skip_reasons(found) == {
        "results[2]": "no memory or text or data",
        "results[3]": "created_at: no time",
    }
    assert list_unknown_fields(found) == {"mood"}


@pytest.mark.parametrize(
    "shape",
    [
        MEM0["results"][:2],
        {"count": 2, "next": None, "previous": None, "results": MEM0["results"][:2]},
        {"memories": MEM0["results"][:2]},
        dump_lines(*MEM0["results"][:2]),
    ],
    ids=["v1", "v2 page", "memories", "lines"],
)
def test_every_shape_of_mem0s_lists_is_read(shape: Any) -> None:
    assert (
        next(m.id for m in select_records(MemoryRecord, read_source_records("mem0", shape)))
        == MEM0_ID
    )
    assert len(select_records(MemoryRecord, read_source_records("mem0", shape))) == 2


def test_the_history_of_a_memory_becomes_its_versions() -> None:
    (memory,) = select_records(MemoryRecord, read_source_records("mem0", MEM0_HISTORY))
    assert (memory.id, memory.text) == (MEM0_ID, "Lives in Lisbon")
    (before,) = memory.earlier
    assert before.text == "Lives in Porto"
    assert (before.since, before.until) == (
        parse_time("2026-01-01T10:00:00+00:00"),
        parse_time("2026-02-01T18:00:00+00:00"),
    )


@pytest.mark.parametrize("turned", [False, True])
def test_history_and_memory_in_one_file_are_one_memory(turned: bool) -> None:
    sections = [("results", MEM0["results"][:1]), ("history", MEM0_HISTORY)]
    found = read_source_records("mem0", dict(reversed(sections) if turned else sections))
    (memory,) = select_records(MemoryRecord, found)
    assert memory.subject == "ana"
    assert [version.text for version in memory.earlier] == ["Lives in Porto"]


@pytest.mark.parametrize("when", ["2026-03-01T00:00:00+00:00", None])
def test_a_memory_that_mem0_deleted_is_over(when: str | None) -> None:
    gone = {"id": "h3", "memory_id": MEM0_ID, "event": "DELETE", "created_at": when}
    (memory,) = select_records(MemoryRecord, read_source_records("mem0", [gone, *MEM0_HISTORY]))
    assert memory.valid_to == parse_time(when or "2026-02-01T18:00:00+00:00")


@pytest.mark.parametrize("ids", [{"user": "ana", "agent": "x"}, {"agent": "x"}, {"run": "r"}])
def test_whose_a_memory_is_agrees_with_the_mem0_wire(ids: dict[str, str]) -> None:
    item = {"id": "1", "memory": "x", **{f"{kind}_id": name for kind, name in ids.items()}}
    (memory,) = select_records(MemoryRecord, read_source_records("mem0", [item]))
    assert memory.subject == Mem0Ids(**ids).subject


# --- Letta ---


def test_letta_gives_blocks_passages_and_what_was_said() -> None:
    found = read_source_records("letta", LETTA)
    (talk,) = select_records(SessionRecord, found)
    assert list_said(talk) == [
        ("user", "", "I moved to Lisbon in May."),
        ("assistant", "Sol", "How nice!"),
        ("user", "", "And I like tea."),
    ]
    assert (talk.agent, talk.session) == ("Sol", "letta Sol")
    human, persona = select_records(BlockRecord, found)
    assert (human.label, human.value, human.limit, human.agent) == ("human", "Name: Ana.", 5000, "")
    assert persona.read_only
    (passage,) = select_records(PassageRecord, found)
    assert (passage.id, passage.tags) == ("passage-1", ["home"])
    assert list_skip_reasons(found) == {
        "agents[0].messages[0]": "role system: instructions and results of tools are not taken",
        "agents[0].messages[3]": "heartbeat: written by the machine",
        "blocks[2]": "no label",
        "files[0]": "a document of the agent's, no memory",
    }
    assert list_unknown_fields(found) == {"agents[].aura"}


def test_an_agent_file_of_the_first_version_is_read_too() -> None:
    old = {
        "agent_type": "memgpt_agent",
        "core_memory": [{"label": "human", "value": "Ana.", "limit": 2000, "created_at": "x"}],
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "Hi."}], "created_at": None},
            {"role": "tool", "content": [{"type": "text", "text": "OK"}]},
        ],
        "name": "Luna",
        "version": "0.7.0",
    }
    found = read_source_records("letta", old)
    (talk,) = select_records(SessionRecord, found)
    assert (talk.agent, [m.external_id for m in talk.messages]) == ("Luna", ["messages[0]"])
    assert select_records(BlockRecord, found)[0].value == "Ana."


def test_blocks_that_only_some_agents_have_stay_theirs() -> None:
    agents = [
        {"name": "Sol", "block_ids": ["b0", "b1"], "messages": []},
        {"name": "Luna", "block_ids": ["b0"], "messages": []},
    ]
    blocks = [{"id": f"b{n}", "label": f"l{n}", "value": "x"} for n in (0, 1)]
    found = select_records(
        BlockRecord, read_source_records("letta", {"agents": agents, "blocks": blocks})
    )
    assert [(block.label, block.agent) for block in found] == [("l0", ""), ("l1", "Sol")]


# --- Zep ---


def test_zeps_messages_come_in_the_order_of_time_and_edges_rest_on_them() -> None:
    found = read_source_records("zep", ZEP)
    first, second = select_records(SessionRecord, found)
    assert list_said(first) == [("user", "Ana", "I live in Porto.")]
    assert list_said(second) == [
        ("user", "Ana", "I moved to Lisbon."),
        ("assistant", "", "How nice!"),
    ]
    porto, lisbon = select_records(MemoryRecord, found)
    assert porto.valid_from == parse_time("2025-01-02T09:00:00+00:00")
    assert porto.valid_to == parse_time("2026-05-12T09:00:00+00:00")
    assert (lisbon.valid_to, lisbon.said_in) == (None, ["e-2", "e-2#2"])
    assert lisbon.triples == (RelationTriple("Ana", "lives_in", "Lisbon", "person", ""),)
    letter, lisbon_node = select_records(PassageRecord, found)
    assert (letter.author, letter.tags) == ("a letter", ["text"])
    assert lisbon_node.text == "Lisbon: Where Ana lives since May 2026."
    assert list_skip_reasons(found) == {
        "episodes[3]": "content: the text is empty",
        "edges[2]": "invalid_at: before it began",
    }


def test_zeps_items_are_told_apart_without_sections() -> None:
    mixed = [*ZEP["edges"][:1], *ZEP["nodes"], ZEP["episodes"][1], {"what": 1}]
    found = read_source_records("zep", mixed)
    assert (
        len(select_records(SessionRecord, found)),
        len(select_records(MemoryRecord, found)),
    ) == (1, 1)
    assert list_skip_reasons(found) == {"[5]": "neither an episode, an edge, nor a node"}


def test_facts_of_a_session_as_zep_had_them_before_its_graph_are_read() -> None:
    told = {"uuid": "f1", "created_at": "2024-03-01T10:00:00Z", "fact": "Ana keeps bees."}
    found = read_source_records("zep", {"facts": [told | {"rating": 0.9}]})
    (fact,) = select_records(MemoryRecord, found)
    assert (fact.id, fact.text) == ("f1", "Ana keeps bees.")
    assert list_skip_reasons(found) == {}


# --- LangMem ---


def test_langmem_items_are_facts_relations_or_notes() -> None:
    found = read_source_records("langmem", LANGMEM)
    dark, triple = select_records(MemoryRecord, found)
    assert (dark.id, dark.subject) == ("0d6a4a1c-2222-4000-8000-000000000001", "ana")
    assert dark.text == "Ana prefers dark mode"
    assert triple.id == "memories/ana/t1"
    assert triple.text == "Ana works at Nau"
    (profile,) = select_records(PassageRecord, found)
    assert profile.text == "UserProfile\nname: Ana\nlikes: tea, go"
    assert profile.subject == "ana"
    assert list_skip_reasons(found) == {"[3]": "value: no JSON object"}


@pytest.mark.parametrize(
    "shape",
    [
        {"items": LANGMEM[:1]},
        dump_lines(LANGMEM[0]),
        [{"prefix": "memories.ana", "key": "k", "value": {"content": "Ana prefers dark mode"}}],
    ],
    ids=["search", "one line", "table"],
)
def test_every_shape_of_store_items_is_read(shape: Any) -> None:
    (memory,) = select_records(MemoryRecord, read_source_records("langmem", shape))
    assert (memory.subject, memory.text) == ("ana", "Ana prefers dark mode")


def test_a_namespace_says_whose_memories_they_are() -> None:
    assert get_subject(["memories", "ana"]) == "ana"
    assert get_subject(["ana", "memories"]) == "ana"
    assert get_subject(["acme", "users", "ana"]) == "acme/ana"
    assert get_subject(["memories"]) == ""


# --- ChatGPT ---


def test_chatgpts_shown_branch_is_taken_in_the_order_of_time() -> None:
    found = read_source_records("chatgpt", make_chatgpt_export())
    older, newer = select_records(SessionRecord, found)
    assert (older.session, newer.session) == ("c-0", "c-1")
    assert list_said(newer) == [
        ("user", "", "I moved to Lisbon."),
        ("assistant", "ChatGPT", "How nice!"),
        ("user", "", "This is my street."),
    ]
    assert [m.external_id for m in newer.messages] == ["m-q1", "m-a2", "m-q2"]
    # Without a time of its own, a message was said when the one before it was.
    assert newer.messages[2].timestamp == newer.messages[1].timestamp
    assert list_skip_reasons(found) == {
        "[0].mapping.sys": "hidden in the conversation",
        "[0].mapping.tool": "said to a tool",
        "[0].mapping": "on a branch that was left",
        "[2]": "mapping: no JSON object",
    }
    assert list_unknown_fields(found) == {"sparkle"}


def make_kept_context(**contents: Any) -> list[dict[str, Any]]:
    """An export of conversations, each of one hidden message with the content given."""
    return [
        {
            "id": f"c-{name}",
            "mapping": {
                "m": make_chatgpt_node("m", None, "assistant", at=1778576400.0 + at, **values)
            },
        }
        for at, (name, values) in enumerate(contents.items())
    ]


def list_memories(*listed: str) -> dict[str, Any]:
    lines = "\n".join(f"{n}. [2026-05-0{n}]. {text}" for n, text in enumerate(listed, 1))
    kind = {"content_type": "model_editable_context", "model_set_context": lines}
    return {"content": kind, "metadata": {"is_visually_hidden_from_conversation": True}}


def save_memory(text: str) -> dict[str, Any]:
    return {"content": {"content_type": "text", "parts": [text]}, "recipient": "bio"}


def test_memories_that_chatgpt_saved_are_those_of_its_latest_list_and_newer_ones() -> None:
    found = read_source_records(
        "chatgpt",
        make_kept_context(
            first=save_memory("Lives in Lisbon.\nHas a dog."),
            gone=save_memory("Is on a diet."),
            old=list_memories("Is on a diet."),
            list=list_memories("Lives in Lisbon.", "Has a dog.", "Likes tea."),
            last=save_memory("Plays the oboe."),
        ),
    )
    memories = select_records(MemoryRecord, found)
    assert [memory.text for memory in memories] == [
        "Lives in Lisbon.",
        "Has a dog.",
        "Likes tea.",
        "Plays the oboe.",
    ]
    assert [memory.said_at.date().isoformat() for memory in memories] == [
        "2026-05-12",
        "2026-05-12",
        "2026-05-03",
        "2026-05-12",
    ]
    (left,) = select_records(SkippedRecord, found)
    assert (left.kind, left.where) == ("fact", "[1].mapping.m")


def test_custom_instructions_of_chatgpt_become_blocks_the_latest_ones() -> None:
    wrapped = "What they told of themselves:\n```Name: Ana.```"
    old = {"content_type": "user_editable_context", "user_profile": "Name: Anna."}
    new = {"content_type": "user_editable_context", "user_profile": wrapped}
    bare = {"about_user_message": "", "about_model_message": "Be brief."}
    found = read_source_records(
        "chatgpt",
        make_kept_context(
            old={"content": old},
            new={"content": new, "metadata": {"user_context_message_data": bare}},
        ),
    )
    blocks = select_records(BlockRecord, found)
    assert {block.label: block.value for block in blocks} == {
        "about_user": "Name: Ana.",
        "custom_instructions": "Be brief.",
    }
    assert select_records(SkippedRecord, found) == []


def test_without_a_current_node_the_newest_leaf_is_shown() -> None:
    conversation = make_chatgpt_conversation() | {"current_node": None}
    conversation["mapping"] = {
        name: node for name, node in conversation["mapping"].items() if name not in ("tool", "q2")
    }
    (talk,) = select_records(SessionRecord, read_source_records("chatgpt", [conversation]))
    assert talk.messages[-1].content == "How nice!"


def test_a_circle_of_parents_ends() -> None:
    one, two = (
        make_chatgpt_node("1", "2", "user", "One."),
        make_chatgpt_node("2", "1", "user", "Two."),
    )
    circle = {"id": "c", "mapping": {"1": one, "2": two}, "current_node": "1"}
    (talk,) = select_records(SessionRecord, read_source_records("chatgpt", [circle]))
    assert [message.content for message in talk.messages] == ["Two.", "One."]


# --- JSON lines ---


def test_lines_are_messages_facts_notes_and_blocks() -> None:
    found = read_source_records("jsonl", dump_lines(*JSONL))
    (talk,) = select_records(SessionRecord, found)
    assert [m.external_id for m in talk.messages] == ["x1", "line 2"]
    (fact,) = select_records(MemoryRecord, found)
    assert (fact.id, fact.said_in) == ("f1", ["x1"])
    assert select_records(PassageRecord, found)[0].tags == ["home"]
    assert select_records(BlockRecord, found)[0].label == "human"
    assert list_skip_reasons(found) == {
        "line 6": "no content",
        "line 7": "none of content, fact, note, block",
    }
    assert list_unknown_fields(found) == {"colour"}


# --- all of them ---


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("strange", [None, 7, "text", [], [[]], {"": None}, {"id": {}}])
def test_no_item_breaks_a_reader(source: str, strange: Any) -> None:
    """Whatever an item is, it is taken, skipped, or passed over; the others are read."""
    content = dump_lines({"x": 1}, strange) if source == "jsonl" else json.dumps([strange, strange])
    assert not select_records(
        (SessionRecord, MemoryRecord, PassageRecord, BlockRecord),
        read_source_records(source, content),
    )


@pytest.mark.parametrize("source", SOURCES)
def test_wrong_types_in_every_field_are_refused_and_named(source: str) -> None:
    """Every value of the samples in turn is replaced by what it can't be."""
    sample = JSONL if source == "jsonl" else SAMPLES[source]
    wrongs: list[Any] = [[{}], {"a": [1]}, -1.5e300, True, "\ud800"]
    for wrong in wrongs:
        for changed in _replace_each_value(sample, wrong):
            content = dump_lines(*changed) if source == "jsonl" else json.dumps(changed)
            read_source_records(source, content)


def _replace_each_value(value: Any, wrong: Any) -> list[Any]:
    """Copies of the sample, each with one value in it replaced."""
    if isinstance(value, dict):
        return [
            {**value, name: each}
            for name, inner in value.items()
            for each in [wrong, *_replace_each_value(inner, wrong)]
        ]
    if isinstance(value, list):
        return [
            [*value[:at], each, *value[at + 1 :]]
            for at, inner in enumerate(value)
            for each in _replace_each_value(inner, wrong)
        ]
    return []
