"""A model that does what a strong one would with a small dialogue, behind an endpoint.

It replies to every purpose with something that can be recognised wherever it arrives; to a plain
chat it says that it has understood. What it was sent is in `requests`.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from tests.support.openai_server import OpenAIRequest, OpenAIServer, ScriptedReply


def _name_topic(text: str) -> str:
    return "cooking" if any(word in text for word in ("bake", "sourdough", "oven")) else "work"


def _describe(handle: str, text: str) -> dict[str, Any]:
    """How a note is described when it is written."""
    topic = _name_topic(text)
    return {
        "handle": handle,
        "keywords": [topic],
        "tags": [f"about {topic}", "life"],
        "context": f"Ana's {topic}.",
    }


def _describe_anew(handle: str) -> dict[str, Any]:
    """How it is described once another note was linked to it: in words that both have, and that
    stand together nowhere else."""
    return {
        "handle": handle,
        "keywords": ["ana about life"],
        "tags": ["life about ana"],
        "context": "Evolved: a life with sourdough.",
        "why": "seen again",
    }


def _build_fact(message: dict[str, Any]) -> dict[str, Any]:
    text = message["text"]
    return {
        "text": f"Ana said: {text}",
        "source": message["handle"],
        "quote": text,
        "owner": "Ana",
        "verb": "said",
        "object": text.split()[-1].strip("."),
        "predicate": "told",
        "kind": "state",
        "polarity": "holds",
        "confidence": 0.9,
    }


def reply_strongly(purpose: str, data: dict[str, Any]) -> dict[str, Any]:
    said = [m for m in data.get("messages", []) if m.get("role") == "user"]
    pages = data.get("pages", [])
    handles = [page["handle"] for page in pages]
    match purpose:
        case "construct":
            changes = [
                _build_fact(m) | {"do": "add", "relation": "told", "value": m["text"].split()[-1]}
                for m in said
            ]
            return {"changes": changes} | {name: [] for name in data["wanted"]}
        case "extract_facts":
            acts = [{"handle": m["handle"], "act": "assertion"} for m in said]
            return {"facts": [_build_fact(m) for m in said], "speech_acts": acts}
        case "graph_entities":
            names = [("Ana", "person"), ("sourdough", "object"), ("Porto", "place")]
            return {"entities": [{"name": n, "type": t} for n, t in names]}
        case "graph_relations":
            edges = [
                {"source": "Ana", "label": "bakes", "target": "sourdough", "fact": fact["fact"]}
                for fact in data["facts"]
                if "sourdough" in fact["text"]
            ]
            return {"relations": edges}
        case "note_build":
            return {"notes": [_describe(n["handle"], n["text"]) for n in data["notes"]]}
        case "link_evolve":
            return _link_all(data)
        case "chain":
            return {
                "pages": [
                    {"handle": h, "continues": at > 0, "summary": "CHAIN so far."}
                    for at, h in enumerate(handles)
                ]
            }
        case "themes":
            by_topic: dict[str, list[str]] = {}
            for page in pages:
                by_topic.setdefault(_name_topic(page["text"]), []).append(page["handle"])
            return {
                "themes": [
                    {"name": t, "keywords": [t], "text": f"THEME {t}.", "pages": mine}
                    for t, mine in by_topic.items()
                ]
            }
        case "segment_refresh":
            return {"text": "SEGMENT refreshed.", "keywords": ["work"]}
        case "kb_extract":
            return {
                "user": [
                    {"text": "Ana guards a SHELVED secret recipe.", "evidence": handles[:1]},
                    {"text": "Ana lives in Porto.", "evidence": handles[:1]},
                ],
                "agent": [{"text": "The hub PROMISED a starter.", "evidence": handles[:1]}],
            }
        case "trait_update":
            key = "openness" if "openness" in data["keys"] else data["keys"][0]
            trait = {"key": key, "level": "high", "why": "TRAIT seen", "evidence": handles[:1]}
            return {"traits": [trait]}
        case "resolve" | "merge_check":
            return {"decisions": []}
        case "episode_gate":
            before = _name_topic(json.dumps(data["window"]))
            shifts = _name_topic(json.dumps(data["newest"])) != before
            return {"open": shifts, "cause": "shift" if shifts else "none"}
        case "episode_write":
            return {"title": "Episode", "text": "EPISODE of Ana."}
        case "digest":
            return {"text": f"DIGEST {data['kind']} of Ana."}
        case "fold_summary":
            # Of a window in its agent's own person; else the space's.
            return {"text": f"I am {data['agent']}: FOLDED." if "agent" in data else "SUMMARY."}
        case "summarise":
            return {"summary": "SUMMARISED."}
        case "route":
            asked = data["question"]
            flags = {"fine": "exactly" in asked, "abstract": "in short" in asked}
            want = 1 if "one thing" in asked else 14
            return {"query": asked, "want": want, "event": False, "atomic": True} | flags
        case "judge":
            entries = [each["handle"] for each in data["entries"]]
            return {"relevant": entries, "enough": True, "conflicts": []}
        case "query_entities":
            return {"names": ["sourdough"]}
        case "query_terms":
            return {"terms": ["bake", "sourdough"]}
        case "answer":
            return {"answer": "So it is [m1].", "used": ["m1"], "known": True}
        case "agent_step":
            return {"tool": "send_message", "text": "", "arguments": {"text": "Understood."}}
    raise AssertionError(f"nobody scripted a call of {purpose!r}")


def _link_all(data: dict[str, Any]) -> dict[str, Any]:
    pairs = [(note["handle"], near) for note in data["notes"] for near in note["near"]]
    links = [{"from": new, "to": near, "reason": "LINKED by life"} for new, near in pairs]
    neighbours = [_describe_anew(near) for near in dict.fromkeys(near for _, near in pairs)]
    found = {"links": links, "neighbours": neighbours}
    return {name: found[name] for name in data["wanted"]}


@dataclass
class StrongModel(OpenAIServer):
    """`calls`: (purpose, data) of what the hub asked for itself."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.calls: list[tuple[str, dict[str, Any]]] = []

    def _take_scripted(self, request: OpenAIRequest) -> ScriptedReply | None:
        if not request.path.endswith("/chat/completions"):
            return super()._take_scripted(request)
        shape = request.body.get("response_format", {}).get("json_schema")
        if shape is None:
            return ScriptedReply(content="Understood.")
        data = json.loads(request.body["messages"][1]["content"])
        self.calls.append((shape["name"], data))
        return ScriptedReply(content=json.dumps(reply_strongly(shape["name"], data)))

    def list_calls(self, purpose: str) -> list[dict[str, Any]]:
        return [data for name, data in self.calls if name == purpose]
