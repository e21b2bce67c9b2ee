"""Open questions, with both texts and the words they rest on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from memoryhub.console.listing import Choice, Filters, Page, containing, page_of
from memoryhub.dialogues.models import Turn
from memoryhub.pipeline.reviewing import ANSWERS
from memoryhub.tenants.models import Space
from notes.models import Entity, Proposal
from notes.tracing import rows_of, text_of

STATE = Choice("state", "Show", (("open", "Open"), ("accepted", "Accepted"), ("rejected", "Left")))
KIND = Choice("kind", "Kind", (("all", "All"), *Proposal.Kind.choices))

# What each answer does, in the operator's words.
WORDS = {
    "replace": ("Replace", "The new one holds from its time on, the old one until then."),
    "discard": ("Discard the new", "It is withdrawn as never true."),
    "keep": ("Leave as it is", "Nothing changes, and the question is closed."),
    "store": ("Store", "You vouch for it: it is kept beside what is held."),
    "apply": ("Apply", "What was corrected or pinned by hand is changed."),
    "erase": ("Erase", "The memory and the turns that say it are erased for good."),
    "merge": ("Merge", "Both names stand for one from now on."),
}


@dataclass(frozen=True, slots=True)
class Answer:
    name: str
    label: str
    effect: str
    admin: bool


@dataclass(frozen=True, slots=True)
class Case:
    """`held`: what stands now; `new`: what is proposed. Either may have no words."""

    proposal: Proposal
    held: str
    new: str
    turns: Sequence[Turn]

    @property
    def answers(self) -> list[Answer]:
        return [Answer(a, *WORDS[a], admin=a == "erase") for a in ANSWERS[self.proposal.kind]]


def cases(filters: Filters, space: Space | None = None) -> Page[Case]:
    rows = Proposal.objects.filter(containing(filters.q, "reason"), state=filters["state"])
    if space is not None:
        rows = rows.filter(space=space)
    if filters["kind"] != "all":
        rows = rows.filter(kind=filters["kind"])
    found = page_of(rows.select_related("space"), filters.page)
    return found.holding(_cases(found.rows))


def case_of(proposal: Proposal) -> Case:
    return _cases([proposal])[0]


def _cases(proposals: Sequence[Proposal]) -> list[Case]:
    wanted = {(p.row_type, p.row_id) for p in proposals if p.row_id}
    held = rows_of((kind, row) for kind, row in wanted if row is not None)
    turns = Turn.objects.select_related("session").in_bulk(
        {turn for proposal in proposals for turn in proposal.turn_ids}
    )
    others = Entity.objects.in_bulk([p.payload["into"] for p in proposals if p.kind == "merge"])
    names = {str(entity.id): entity.name for entity in others.values()}
    return [
        Case(
            proposal,
            _first(held.get((proposal.row_type, proposal.row_id))) if proposal.row_id else "",
            _new(proposal, names),
            [turns[turn] for turn in proposal.turn_ids if turn in turns],
        )
        for proposal in proposals
    ]


def _first(row: Any) -> str:
    lines = [line for line in text_of(row).split("\n") if line.strip()] if row else []
    return lines[0] if lines else ""


def _new(proposal: Proposal, names: dict[str, str]) -> str:
    payload = proposal.payload
    if proposal.kind == Proposal.Kind.MERGE:
        return names.get(str(payload.get("into")), "")
    candidate = payload.get("candidate")
    values = candidate or payload.get("values") or payload
    for name in ("text", "summary", "content", "context", "level", "title"):
        if isinstance(values, dict) and values.get(name):
            return str(values[name])
    return ""


def open_count() -> int:
    """Call inside the tenant's scope."""
    return Proposal.objects.filter(state=Proposal.State.OPEN).count()
