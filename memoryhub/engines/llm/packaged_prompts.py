"""Prompts are versioned files beside this module; what people said travels as JSON data."""

from __future__ import annotations

import json
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any, Literal, get_args

Purpose = Literal[
    "construct",
    "extract_facts",
    "graph_entities",
    "graph_relations",
    "note_build",
    "resolve",
    "merge_check",
    "link_evolve",
    "chain",
    "themes",
    "segment_refresh",
    "episode_gate",
    "episode_write",
    "paginate",
    "predict",
    "calibrate",
    "fold_summary",
    "digest",
    "kb_extract",
    "trait_update",
    "agent_step",
    "keep_memories",
    "route",
    "judge",
    "rerank",
    "query_entities",
    "query_terms",
    "answer",
    "grade",
    "summarise",
    "repair",
]
# A change of a prompt's text is a new file and a new number: calls and events name it.
PROMPT_VERSIONS: dict[Purpose, int] = dict.fromkeys(get_args(Purpose), 1) | {
    "construct": 6,
    "extract_facts": 4,
    "resolve": 2,
    "themes": 2,
    "trait_update": 2,
    "link_evolve": 3,
    "answer": 2,
    "fold_summary": 2,
    "agent_step": 2,
}


@cache
def read_template(purpose: Purpose) -> str:
    """The instructions of a purpose in their current version."""
    name = f"{purpose}.v{PROMPT_VERSIONS[purpose]}.md"
    return (files(__package__) / "prompts" / name).read_text(encoding="utf-8")


def normalise_text(text: str) -> str:
    """One space, no case: the form in which our own words are recognised."""
    return " ".join(text.casefold().split())


@lru_cache(maxsize=32)
def normalise_instructions(instructions: str) -> str:
    """Instructions in that form, without marks."""
    return normalise_text(instructions.replace("`", ""))


def build_messages(instructions: str, data: dict[str, Any]) -> list[dict[str, str]]:
    """The instructions, and the data apart from them as one JSON document (spec E24)."""
    return [
        {"role": "system", "content": instructions},
        {"role": "user", "content": json.dumps(data, ensure_ascii=False)},
    ]
