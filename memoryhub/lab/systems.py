"""What can be laid side by side: the hub's presets, and the papers' baselines (spec §9, §13).

A baseline is a policy of the hub; where that does not write all that its paper writes, a writer
adds the rest to the hub's own rows, and where the hub reads otherwise, it has a reader of its own.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from django.utils.translation import gettext
from django.utils.translation import gettext_noop as _

from memoryhub.dialogues.models import Session
from memoryhub.engines.types import Engine
from memoryhub.errors import InvalidInput
from memoryhub.lab.readers.agents import SavedReader, ToolReader
from memoryhub.lab.readers.base import MemoryReader, ReaderInputs
from memoryhub.lab.readers.chunks import ChunkReader
from memoryhub.lab.readers.edges import EdgeReader
from memoryhub.lab.readers.gists import GistReader
from memoryhub.lab.readers.hub import AgentReader, HubReader
from memoryhub.lab.readers.thoughts import ThoughtReader
from memoryhub.lab.writers.base import MemoryWriter, WriterInputs
from memoryhub.lab.writers.nodes import renew_node_summaries
from memoryhub.lab.writers.pages import write_pages
from memoryhub.lab.writers.predictions import learn_from_surprise
from memoryhub.lab.writers.tools import (
    keep_in_background,
    keep_in_hot_path,
    keep_saved_memories,
)
from memoryhub.policies.compose import compose_policy
from memoryhub.policies.presets import PRESETS
from memoryhub.policies.schema import Policy
from memoryhub.policies.switches import SWITCHES, get_switch_value
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope

# Switches that only reading looks at: systems that differ in these alone share a derivation.
_READ_SIDE_SWITCHES = ("route.", "judge.", "recall.")
_CHUNK_SYSTEM_NAME = re.compile(r"rag-(\d{2,5})x(\d{1,3})")

READERS: Mapping[str, Callable[[ReaderInputs], MemoryReader]] = {
    "hub": HubReader,
    "chunks": ChunkReader,
    "thoughts": ThoughtReader,
    "gists": GistReader,
    "agent": AgentReader,
    "edges": EdgeReader,
    "tools": ToolReader,
    "saved": SavedReader,
}
WRITERS: Mapping[str, MemoryWriter] = {
    "pages": write_pages,
    "predictions": learn_from_surprise,
    "nodes": renew_node_summaries,
    "hot_path": keep_in_hot_path,
    "background": keep_in_background,
    "saved": keep_saved_memories,
}


@dataclass(frozen=True, slots=True)
class System:
    """A preset, changed by `overrides`, what is written beside it, and how it is read."""

    name: str
    title: str
    what: str
    paper: str
    preset: str
    overrides: Mapping[str, Any] = field(default_factory=dict)
    reader: str = "hub"
    writer: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def policy(self) -> Policy:
        return compose_policy(self.preset, dict(self.overrides))

    @property
    def switches(self) -> dict[str, Any]:
        """Every switch by its dotted name."""
        policy = self.policy
        return {name: get_switch_value(policy, name) for name in SWITCHES}

    @property
    def signature(self) -> str:
        """Names what it writes: the same for systems whose write side is the same."""
        written = {n: v for n, v in self.switches.items() if not n.startswith(_READ_SIDE_SWITCHES)}
        if self.writer:
            written |= {"writer": self.writer, "options": dict(self.options)}
        return hashlib.sha256(json.dumps(written, sort_keys=True).encode()).hexdigest()[:16]

    def build_reader(self, place: ReaderInputs) -> MemoryReader:
        return READERS[self.reader](place)

    def write_session(self, space: Space, engine: Engine, now: datetime) -> None:
        """What it writes by itself of the newest session, once that is derived. Opens its own
        scopes. Raises EngineError."""
        if self.writer:
            with tenant_scope(space.tenant_id):
                session = Session.objects.filter(space=space).latest("ordinal")
            place = WriterInputs(space, session, engine, now, self.options)
            WRITERS[self.writer](place)

    def to_dict(self) -> dict[str, Any]:
        plain = {name: getattr(self, name) for name in ("name", "title", "what", "paper")}
        described = {"signature": self.signature, "reader": self.reader, "writer": self.writer}
        return plain | described | {"options": dict(self.options), "policy": self.switches}


def _build_preset_system(name: str, called: str = "", **of: Any) -> System:
    preset = PRESETS[name]
    return System(called or name, preset.title, preset.summary, preset.paper, name, **of)


def _build_rag_system(name: str, size: int, k: int) -> System:
    return System(
        name,
        f"RAG, {size} tokens, k={k}",
        _("Cuts the dialogue into pieces of one size and hands over those most alike."),
        "Mem0 (Chhikara et al., 2025), as a baseline",
        "rag",
        reader="chunks",
        options={"size": size, "k": k},
    )


# Without mid-term memory topics are still kept, since long-term memory is made of them, and read
# by nobody.
_MEMORYOS_ABLATIONS = (
    replace(
        _build_preset_system(
            "memoryos", "memoryos_no_mtm", overrides={"recall.channels": ["stm", "shelf", "core"]}
        ),
        title=_("MemoryOS without mid-term memory"),
        what=_("Of earlier exchanges only what promotion made of them is read."),
    ),
    replace(
        _build_preset_system(
            "memoryos",
            "memoryos_no_lpm",
            overrides={
                "traits.enabled": False,
                "shelf.enabled": False,
                "recall.channels": ["stm", "pages"],
            },
        ),
        title=_("MemoryOS without long-term personal memory"),
        what=_("Topics are never read for traits or the shelf."),
    ),
    replace(
        _build_preset_system("memoryos", "memoryos_no_chain", overrides={"chain.enabled": False}),
        title=_("MemoryOS without chains"),
        what=_("Exchanges stand by themselves, without a summary of what they go on from."),
    ),
)


def _build_amem_system(k: int) -> System:
    """One of A-Mem's sweep of k; its own is 10 (spec §4.3). It is k that bounds what is handed
    over: a budget of tokens would make 50 notes of 30."""
    return replace(
        _build_preset_system(
            "amem",
            f"amem-k{k}",
            overrides={"recall.k_min": k, "recall.k_max": max(k, 30)},
            options={"whole": True},
        ),
        title=f"A-Mem, k={k}",
    )


_WITHOUT_JUDGE = {"judge.mode": "off", "recall.rounds": 1}

_READAGENT = System(
    "readagent",
    "ReadAgent",
    _("A gist of every page is always read; the pages it names are looked up."),
    "ReadAgent (Lee et al., 2024)",
    "full_context",
    writer="pages",
    reader="gists",
    options={"look_up": 5, "page_tokens": [280, 600]},
)
_ZEP = System(
    "zep",
    "Zep",
    _(
        "A graph in two times: each edge says since when and until when it held, and what "
        "holds no longer is found with both; entities have a summary each."
    ),
    "Zep (Rasmussen et al., 2025)",
    "mem0g",
    {"episodes.rolling": False, "recall.select": "fused", "recall.k_min": 20},
    writer="nodes",
    reader="edges",
    options={"edges": 20, "nodes": 20, "communities": 3},
)

_ALL_SYSTEMS = (
    _build_preset_system("full_context", options={"whole": True}),
    _build_rag_system("rag", 500, 2),
    _build_preset_system("rag", "rag_turns"),
    _build_preset_system("memorybank"),
    replace(
        _build_preset_system("memorybank", "memorybank_keeps", overrides={"forget.mode": "off"}),
        title=_("MemoryBank that forgets nothing"),
        what=_("MemoryBank as its published code runs unless told otherwise: nothing fades."),
    ),
    _build_preset_system("memgpt", reader="agent", options={"k": 10}),
    _build_preset_system("amem"),
    *map(_build_amem_system, (20, 30, 40, 50)),
    replace(
        _build_preset_system("amem", "amem_unlinked", overrides={"notes.links": False}),
        title=_("A-Mem without links"),
        what=_("A-Mem's notes evolve and are found by themselves: none leads to another."),
    ),
    replace(
        _build_preset_system("amem", "amem_unevolved", overrides={"notes.evolution": False}),
        title=_("A-Mem without evolution"),
        what=_("A-Mem's notes are linked, and stay as they were first described."),
    ),
    *map(_build_preset_system, ("mem0", "mem0g", "ama")),
    replace(
        _build_preset_system("ama", "ama_unjudged", overrides=_WITHOUT_JUDGE),
        title=_("AMA without its judge"),
        what=_("AMA hands over what one look finds: nobody says whether it is enough."),
    ),
    replace(
        _build_preset_system(
            "ama", "ama_unrefreshed", overrides={"facts.resolution": "append_only"}
        ),
        title=_("AMA without its refresher"),
        what=_("AMA keeps what is said beside what it contradicts: nothing is renewed."),
    ),
    *map(_build_preset_system, ("memoryos", "balanced")),
    *_MEMORYOS_ABLATIONS,
    _READAGENT,
    replace(
        _READAGENT,
        name="readagent_in_turn",
        title=_("ReadAgent, one page after the other"),
        what=_("A page is looked up in view of those before, until they are enough."),
        options={**_READAGENT.options, "in_turn": True},
    ),
    System(
        "tim",
        _("Think-in-Memory"),
        _(
            "Thoughts are inserted, forgotten where they are contradicted, and merged; they lie in "
            "buckets by hashing, and of the question's bucket the nearest are read."
        ),
        "TiM (Liu et al., 2023)",
        "mem0",
        # What is contradicted is taken out: of it TiM keeps no history. Nor does it sum up.
        {"facts.contradiction": "retract", "episodes.rolling": False},
        reader="thoughts",
        options={"k": 10, "buckets": 8},
    ),
    System(
        "observations",
        _("LoCoMo's observations"),
        _(
            "What each speaker says of themselves, kept session by session and never compared, "
            "with a graph of what led to what; the nearest are read with what is joined to them "
            "and the summary of the last session."
        ),
        "LoCoMo (Maharana et al., 2024)",
        "full_context",
        {
            "facts.enabled": True,
            "facts.resolution": "append_only",
            "episodes.session": True,
            "notes.enabled": True,
            "notes.anchor": "fact",
            "notes.links": True,
        },
        reader="thoughts",
        options={"k": 10, "summary": True, "events": 10},
    ),
    System(
        "nemori",
        "Nemori",
        _(
            "Episodes cut where the subject changes, and facts of what could not be predicted of "
            "them; the ten best of each, ranked together."
        ),
        "Nemori (Nan et al., 2025)",
        "ama",
        {
            "facts.enabled": False,
            "route.mode": "off",
            "judge.mode": "off",
            "recall.rounds": 1,
            "recall.select": "fused",
            "recall.channels": ["episodes", "facts"],
            "recall.k_min": 10,
            "recall.k_max": 10,
        },
        writer="predictions",
        options={"known": 10},
    ),
    _ZEP,
    replace(
        _ZEP,
        name="zep_reranked",
        title=_("Zep with a reranker"),
        what=_("Zep whose edges the hub's reranking model puts in order."),
        overrides={
            **_ZEP.overrides,
            "recall.rerank": "model",
            "recall.rerank_most": 30,
            "recall.rerank_weight": 1.0,
        },
    ),
    System(
        "langmem",
        _("LangMem in the hot path"),
        _(
            "An agent keeps its memories while it talks, by two tools: one creates, updates and "
            "deletes, one searches. It needs a model."
        ),
        "LangMem (LangChain, 2025)",
        "rag",
        writer="hot_path",
        reader="tools",
    ),
    System(
        "langmem_background",
        _("LangMem in the background"),
        _(
            "A manager reads each conversation once it is over, beside the memories near it, and "
            "creates, updates and deletes; the nearest are read. It needs a model."
        ),
        "LangMem (LangChain, 2025)",
        "rag",
        {"recall.channels": ["facts"]},
        writer="background",
    ),
    System(
        "openai_memory",
        _("OpenAI's saved memories"),
        _(
            "What the agent saves because it was asked to, or finds worth it; all of it is read, "
            "and nothing is searched. It needs a model."
        ),
        "OpenAI, memory of ChatGPT (2024)",
        "rag",
        writer="saved",
        reader="saved",
    ),
)
SYSTEMS: Mapping[str, System] = {system.name: system for system in _ALL_SYSTEMS}


def get_system(name: str) -> System:
    """By name, or "rag-<tokens>x<k>". Raises InvalidInput that names those there are."""
    if name in SYSTEMS:
        return SYSTEMS[name]
    if sized := _CHUNK_SYSTEM_NAME.fullmatch(name):
        size, k = map(int, sized.groups())
        if size and k:
            return _build_rag_system(name, size, k)
    told = {"name": name, "known": ", ".join(SYSTEMS)}
    message = gettext("there is no preset %(name)r; there are: %(known)s, rag-<tokens>x<k>")
    raise InvalidInput(message % told, field="presets")


def get_systems(names: Iterable[str]) -> list[System]:
    """Each once, in the order given."""
    found = [get_system(name) for name in dict.fromkeys(names)]
    if not found:
        raise InvalidInput(gettext("name at least one preset"), field="presets")
    return found
