"""Files of other systems in small, made up: a person named Ana, in the shapes each writes."""

from __future__ import annotations

from typing import Any

from tests.importers.file_contents import dump_lines

MEM0_ID = "5f3c1d9e-8a42-4c0b-9d57-2b6f1e7a9c11"

MEM0: dict[str, Any] = {
    "results": [
        {
            "id": MEM0_ID,
            "memory": "Lives in Lisbon",
            "hash": "a1b2",
            "metadata": {"trip": "no"},
            "user_id": "ana",
            "agent_id": "helper",
            "run_id": "r-1",
            "categories": ["personal_details"],
            "created_at": "2026-02-01T10:00:00.000000-08:00",
            "updated_at": "2026-02-03T10:00:00.000000-08:00",
        },
        {
            "id": "6a0d2b7f-1111-4c0b-9d57-2b6f1e7a9c12",
            "memory": "Has a guest pass of the gym",
            "user_id": "ana",
            "immutable": True,
            "expiration_date": "2026-03-31",
            "created_at": "2026-02-05T08:00:00Z",
            "mood": "cheerful",
        },
        {"id": "broken-1", "user_id": "ana", "created_at": "2026-02-05T08:00:00Z"},
        {"id": "broken-2", "memory": "Likes tea", "user_id": "ana", "created_at": "yesterday"},
    ],
    "relations": [{"source": "ana", "relationship": "lives_in", "target": "lisbon"}],
}

MEM0_HISTORY: list[dict[str, Any]] = [
    {
        "id": "h2",
        "memory_id": MEM0_ID,
        "old_memory": "Lives in Porto",
        "new_memory": "Lives in Lisbon",
        "event": "UPDATE",
        "created_at": "2026-01-01T10:00:00+00:00",
        "updated_at": "2026-02-01T18:00:00+00:00",
        "is_deleted": False,
    },
    {
        "id": "h1",
        "memory_id": MEM0_ID,
        "old_memory": None,
        "new_memory": "Lives in Porto",
        "event": "ADD",
        "created_at": "2026-01-01T10:00:00+00:00",
        "updated_at": None,
        "is_deleted": False,
    },
]

LETTA: dict[str, Any] = {
    "agents": [
        {
            "id": "agent-0",
            "name": "Sol",
            "system": "You are Sol.",
            "block_ids": ["block-0", "block-1"],
            "messages": [
                {
                    "id": "message-0",
                    "role": "system",
                    "content": "You are Sol.",
                    "created_at": None,
                },
                {
                    "id": "message-1",
                    "role": "user",
                    "content": [{"type": "text", "text": "I moved to Lisbon in May."}],
                    "created_at": "2026-05-12T09:00:00+00:00",
                },
                {
                    "id": "message-2",
                    "role": "assistant",
                    "content": [{"type": "text", "text": ""}],
                    "tool_calls": [
                        {
                            "id": "call-1",
                            "type": "function",
                            "function": {
                                "name": "send_message",
                                "arguments": '{"message": "How nice!"}',
                            },
                        }
                    ],
                    "created_at": "2026-05-12T09:00:05+00:00",
                },
                {
                    "id": "message-3",
                    "role": "user",
                    "content": [{"type": "text", "text": '{"type": "heartbeat", "reason": "x"}'}],
                    "created_at": "2026-05-12T09:00:06+00:00",
                },
                {
                    "id": "message-4",
                    "role": "user",
                    "content": [
                        {
                            "type": "text",
                            "text": '{"type": "user_message", "message": "And I like tea."}',
                        }
                    ],
                    "created_at": "2026-05-12T09:01:00+00:00",
                },
            ],
            "aura": "calm",
        }
    ],
    "blocks": [
        {"id": "block-0", "label": "human", "value": "Name: Ana.", "limit": 5000},
        {"id": "block-1", "label": "persona", "value": "Kind.", "limit": 5000, "read_only": True},
        {"id": "block-2", "value": "No label."},
    ],
    "passages": [
        {
            "id": "passage-1",
            "text": "Ana keeps her spare key at the bakery.",
            "tags": ["home"],
            "created_at": "2026-05-10T09:00:00Z",
            "embedding": [0.1, 0.2],
        }
    ],
    "files": [{"id": "file-0", "file_name": "plan.pdf"}],
    "tools": [],
    "metadata": {"revision_id": "x"},
    "created_at": "2026-05-13T09:00:00Z",
}

ZEP: dict[str, Any] = {
    "episodes": [
        {
            "uuid": "e-2",
            "group_id": "ana",
            "name": "second",
            "source": "message",
            "source_description": "chat",
            "content": "Ana: I moved to Lisbon.\nassistant: How nice!",
            "valid_at": "2026-05-12T09:00:00Z",
            "created_at": "2026-05-12T09:00:01Z",
        },
        {
            "uuid": "e-1",
            "group_id": "ana",
            "role": "Ana",
            "role_type": "user",
            "source": "message",
            "content": "I live in Porto.",
            "created_at": "2025-01-02T09:00:00Z",
        },
        {
            "uuid": "e-3",
            "group_id": "ana",
            "source": "text",
            "source_description": "a letter",
            "content": "Dear Ana, the flat in Lisbon is yours.",
            "valid_at": "2026-04-12T09:00:00Z",
        },
        {"uuid": "e-4", "group_id": "ana", "source": "message", "content": "  "},
    ],
    "nodes": [
        {"uuid": "n-1", "name": "Ana", "group_id": "ana", "labels": ["Entity", "Person"]},
        {
            "uuid": "n-2",
            "name": "Lisbon",
            "group_id": "ana",
            "labels": ["Entity"],
            "summary": "Where Ana lives since May 2026.",
            "created_at": "2026-05-12T09:00:02Z",
        },
        {"uuid": "n-3", "name": "Porto", "group_id": "ana", "labels": ["Entity"]},
    ],
    "edges": [
        {
            "uuid": "4b1d2c3e-0000-4000-8000-00000000000a",
            "group_id": "ana",
            "source_node_uuid": "n-1",
            "target_node_uuid": "n-3",
            "name": "LIVES_IN",
            "fact": "Ana lives in Porto",
            "episodes": ["e-1"],
            "created_at": "2025-01-02T09:00:00Z",
            "valid_at": "2025-01-02T09:00:00Z",
            "invalid_at": "2026-05-12T09:00:00Z",
            "expired_at": "2026-05-12T09:00:03Z",
        },
        {
            "uuid": "4b1d2c3e-0000-4000-8000-00000000000b",
            "group_id": "ana",
            "source_node_uuid": "n-1",
            "target_node_uuid": "n-2",
            "name": "LIVES_IN",
            "fact": "Ana lives in Lisbon",
            "episodes": ["e-2"],
            "created_at": "2026-05-12T09:00:02Z",
            "valid_at": "2026-05-12T09:00:00Z",
            "invalid_at": None,
        },
        {
            "uuid": "4b1d2c3e-0000-4000-8000-00000000000c",
            "group_id": "ana",
            "source_node_uuid": "n-1",
            "target_node_uuid": "n-2",
            "name": "LEFT",
            "fact": "Ana left before she came",
            "valid_at": "2026-05-12T09:00:00Z",
            "invalid_at": "2026-05-11T09:00:00Z",
        },
    ],
}

LANGMEM: list[dict[str, Any]] = [
    {
        "namespace": ["memories", "ana"],
        "key": "0d6a4a1c-2222-4000-8000-000000000001",
        "value": {"kind": "Memory", "content": {"content": "Ana prefers dark mode"}},
        "created_at": "2026-05-12T09:00:00+00:00",
        "updated_at": "2026-05-12T09:00:00+00:00",
        "score": None,
    },
    {
        "namespace": ["memories", "ana"],
        "key": "t1",
        "value": {
            "kind": "Triple",
            "content": {
                "subject": "Ana",
                "predicate": "works_at",
                "object": "Nau",
                "context": None,
            },
        },
        "created_at": "2026-05-12T09:00:00+00:00",
        "updated_at": "2026-05-12T09:00:00+00:00",
    },
    {
        "namespace": ["ana", "profile"],
        "key": "default",
        "value": {"kind": "UserProfile", "content": {"name": "Ana", "likes": ["tea", "go"]}},
        "created_at": "2026-05-12T09:00:00+00:00",
        "updated_at": "2026-05-12T09:00:00+00:00",
    },
    {"namespace": ["memories", "ana"], "key": "k4", "value": "bare"},
]


def make_chatgpt_node(
    own_id: str,
    parent: str | None,
    role: str = "user",
    *parts: Any,
    at: float | None = None,
    **more: Any,
) -> dict[str, Any]:
    content = more.pop("content", {"content_type": "text", "parts": list(parts)})
    message = {
        "id": f"m-{own_id}",
        "author": {"role": role, "name": None, "metadata": {}},
        "create_time": at,
        "content": content,
        "status": "finished_successfully",
        "weight": 1.0,
        "metadata": {},
        "recipient": "all",
    } | more
    return {"id": own_id, "message": message, "parent": parent, "children": []}


def make_chatgpt_conversation() -> dict[str, Any]:
    nodes = [
        {"id": "root", "message": None, "parent": None, "children": ["sys"]},
        make_chatgpt_node("sys", "root", "system", "", weight=0.0),
        make_chatgpt_node("q1", "sys", "user", "I moved to Lisbon.", at=1778576400.5),
        make_chatgpt_node("a1", "q1", "assistant", "Which part?", at=1778576401.0),
        make_chatgpt_node(
            "a2",
            "q1",
            "assistant",
            "How nice! \ue200cite\ue202turn0search1\ue201",
            at=1778576402.0,
        ),
        make_chatgpt_node(
            "tool",
            "a2",
            "assistant",
            content={"content_type": "code", "language": "json", "text": '{"q": "x"}'},
            recipient="web.run",
        ),
        make_chatgpt_node(
            "q2",
            "tool",
            "user",
            {"content_type": "image_asset_pointer", "asset_pointer": "x"},
            "This is my street.",
        ),
    ]
    return {
        "id": "c-1",
        "conversation_id": "c-1",
        "title": "Moving",
        "create_time": 1778576400.0,
        "update_time": 1778576500.0,
        "mapping": {node["id"]: node for node in nodes},
        "current_node": "q2",
        "moderation_results": [],
        "sparkle": 3,
    }


def make_chatgpt_export() -> list[dict[str, Any]]:
    """The latest first, as the export has them."""
    older = make_chatgpt_node("q", None, "user", "I live in Porto.", at=1735808400.0)
    return [
        make_chatgpt_conversation(),
        {
            "id": "c-0",
            "conversation_id": "c-0",
            "create_time": 1735808400.0,
            "mapping": {"q": older},
            "current_node": "q",
        },
        {"id": "c-2", "conversation_id": "c-2", "mapping": None},
    ]


JSONL: list[dict[str, Any]] = [
    {
        "subject": "ana",
        "session": "s1",
        "external_id": "x1",
        "speaker": "Ana",
        "content": "I moved to Lisbon.",
        "timestamp": "2026-05-12T09:00:00Z",
    },
    {"subject": "ana", "session": "s1", "role": "assistant", "content": "How nice!"},
    {
        "subject": "ana",
        "id": "f1",
        "fact": "Ana owns a red bicycle",
        "valid_from": "2026-01-01T00:00:00Z",
        "valid_to": "2026-04-01T00:00:00Z",
        "said_in": ["x1"],
        "colour": "red",
    },
    {"subject": "ana", "note": "The key is at the bakery.", "tags": ["home"]},
    {"subject": "ana", "block": "human", "value": "Name: Ana."},
    {"subject": "ana", "content": ""},
    {"subject": "ana"},
]

SAMPLES: dict[str, Any] = {
    "mem0": MEM0,
    "letta": LETTA,
    "zep": ZEP,
    "langmem": LANGMEM,
    "chatgpt": make_chatgpt_export(),
    "jsonl": dump_lines(*JSONL),
}
