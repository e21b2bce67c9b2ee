"""The systems of the papers as settings of one model (spec §13), and the hub's own mixture.

A preset is what it changes of the schema's defaults, which are those of `balanced`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Preset:
    """`summary` says for whom it is, `paper` where it comes from ("" for none)."""

    name: str
    title: str
    summary: str
    paper: str = ""
    overrides: Mapping[str, Any] = field(default_factory=dict)


# Stores what is said and nothing else: what every preset but `balanced` starts from.
_BARE_OVERRIDES: Mapping[str, Any] = {
    **dict.fromkeys(("facts.enabled", "graph.enabled"), False),
    **dict.fromkeys(("notes.enabled", "notes.links", "notes.evolution"), False),
    **dict.fromkeys(("segments.enabled", "chain.enabled"), False),
    **dict.fromkeys(("traits.enabled", "shelf.enabled"), False),
    **dict.fromkeys(("episodes.topic", "episodes.day", "episodes.rolling"), False),
    "forget.mode": "off",
    "window.mode": "off",
    "core.tools": False,
    "route.mode": "off",
    "judge.mode": "off",
    "recall.rounds": 1,
    "recall.select": "fixed",
    "recall.rerank": "off",
}


# The papers' own order of calls: an exchange at a time, one call a purpose.
_PAPER_ORDER: Mapping[str, Any] = {"llm.combine_calls": False, "derive.batch_exchanges": 1}


def _build_preset(
    name: str, title: str, summary: str, paper: str, overrides: Mapping[str, Any]
) -> Preset:
    return Preset(name, title, summary, paper, {**_BARE_OVERRIDES, **overrides})


_ALL_PRESETS = (
    Preset(
        "balanced",
        "Balanced",
        "Everything together: facts with their history, notes, topics, traits and summaries, "
        "searched through all channels at once. The default.",
    ),
    _build_preset(
        "full_context",
        "Full context",
        "Derives nothing and hands over the whole dialogue: the baseline without a memory.",
        "LoCoMo (Maharana et al., 2024)",
        {"recall.channels": ["raw"], "recall.whole": True},
    ),
    _build_preset(
        "rag",
        "Plain retrieval",
        "Derives nothing and searches what was said: the baseline with a search only.",
        "RAG (Lewis et al., 2020)",
        {"recall.channels": ["raw"], "recall.k_min": 10},
    ),
    _build_preset(
        "memorybank",
        "MemoryBank",
        "Summaries of days and of everything, a portrait of the person, and forgetting along "
        "Ebbinghaus' curve.",
        "MemoryBank (Zhong et al., 2023)",
        {
            "portrait.enabled": True,
            "episodes.day": True,
            "episodes.global": True,
            "forget.mode": "sample",
            "forget.unit_days": 1.0,
            "recall.channels": ["raw", "episodes", "core"],
            "recall.k_min": 6,
        },
    ),
    _build_preset(
        "memgpt",
        "MemGPT",
        "The agent keeps its own memory with tools: blocks it can edit, an archive it can search, "
        "and a window whose overflow is summarised.",
        "MemGPT (Packer et al., 2023)",
        {
            "episodes.rolling": True,
            "window.mode": "on",
            "core.tools": True,
            "recall.channels": ["core", "window"],
        },
    ),
    _build_preset(
        "amem",
        "A-Mem",
        "A note of every exchange, linked to notes like it and rewritten as new ones come.",
        "A-MEM (Xu et al., 2025)",
        {
            **_PAPER_ORDER,
            "notes.enabled": True,
            "notes.links": True,
            "notes.evolution": True,
            "notes.k": 10,
            "notes.vector": "whole",
            "route.keywords": True,
            "recall.channels": ["notes"],
            "recall.k_min": 10,
        },
    ),
    _build_preset(
        "mem0",
        "Mem0",
        "Short facts, each compared with the ten nearest that are held before it is kept.",
        "Mem0 (Chhikara et al., 2025)",
        {
            **_PAPER_ORDER,
            "facts.enabled": True,
            "facts.neighbours": 10,
            "episodes.rolling": True,
            "recall.channels": ["facts"],
            "recall.k_min": 10,
        },
    ),
    _build_preset(
        "mem0g",
        "Mem0 with a graph",
        "Mem0's facts, with the entities and relations they speak of.",
        "Mem0g (Chhikara et al., 2025)",
        {
            **_PAPER_ORDER,
            "facts.enabled": True,
            "facts.neighbours": 10,
            "graph.enabled": True,
            "route.entities": True,
            "episodes.rolling": True,
            "recall.channels": ["facts", "graph"],
            "recall.k_min": 10,
        },
    ),
    _build_preset(
        "ama",
        "AMA",
        "A question is sent to what was said, to facts or to episodes, whichever suits it, and "
        "a judge looks whether that was enough.",
        "AMA (2026)",
        {
            **_PAPER_ORDER,
            "facts.enabled": True,
            "facts.patterns": True,
            "episodes.topic": True,
            "route.mode": "llm",
            "judge.mode": "llm",
            "recall.rounds": 2,
            "recall.select": "routed",
            "recall.channels": ["raw", "facts", "episodes"],
        },
    ),
    _build_preset(
        "memoryos",
        "MemoryOS",
        "Topics that warm up as they come back, and hand what is warm to a shelf of knowledge and "
        "to traits; there are no facts but those.",
        "MemoryOS (Kang et al., 2025)",
        {
            **_PAPER_ORDER,
            "facts.enabled": True,
            "facts.source": "promotion",
            "segments.enabled": True,
            "segments.compare": "page",
            "heat.reset": "pages",
            "chain.enabled": True,
            "traits.enabled": True,
            "shelf.enabled": True,
            "recall.channels": ["stm", "pages", "shelf", "core"],
        },
    ),
)

PRESETS: Mapping[str, Preset] = {preset.name: preset for preset in _ALL_PRESETS}
DEFAULT_PRESET = "balanced"
