"""Describing notes, linking them and letting them evolve (A-Mem, spec §4)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, get_args

from memoryhub.engines.llm.purposes.base import (
    MOST_CHARACTERS,
    TOO_LARGE_CODES,
    ModelPurposes,
    ask_in_halves,
    clean_words,
    render_minute,
    render_pages,
)
from memoryhub.engines.llm.replies import (
    DescriptionReply,
    EvolutionReply,
    LinkEvolveReply,
    LinkReply,
    NoteBuildReply,
)
from memoryhub.engines.types import (
    Association,
    LinkDraft,
    LinkKind,
    Neighbourhood,
    NoteDraft,
    NoteEvolution,
    NoteState,
    Passage,
)
from memoryhub.errors import EngineError

_NEW, _KNOWN = 2000, 600  # characters shown of a new note, of one held
_SPEAKER_PREFIX = re.compile(r"^([^\n:：]{1,60}): ", re.M)


class NotePurposes(ModelPurposes):
    def describe_notes(self, texts: Sequence[Passage]) -> list[NoteDraft | None]:
        """One call for all texts, fewer a call when the model can't take them. Raises EngineError.

        None for a text the model left out or said nothing of.
        """
        if not texts:
            return []
        return [
            draft for part in ask_in_halves(self._ask_for_descriptions, texts) for draft in part
        ]

    def _ask_for_descriptions(self, texts: Sequence[Passage]) -> list[NoteDraft | None]:
        reply = self.ask_purpose("note_build", {"notes": render_pages(texts)}, NoteBuildReply)
        offered = {passage.handle for passage in texts}
        found = {each.handle: each for each in reversed(reply.notes) if each.handle in offered}
        self.count_rejected_items("note_build", len(reply.notes) - len(found))
        return [_build_draft(found.get(passage.handle), passage.text) for passage in texts]

    def link_and_evolve(
        self, notes: Sequence[Neighbourhood], *, links: bool = True, evolve: bool = True
    ) -> Association:
        """One call for all new notes, fewer a call when the model can't take them.

        Raises EngineError.
        """
        offered = [near for near in notes if near.neighbours]
        wanted = [
            name for name, is_on in (("links", links), ("neighbours", evolve)) if is_on and offered
        ]
        if not wanted:
            return Association()
        try:
            reply = self.ask_purpose(
                "link_evolve", _build_request(offered, wanted), LinkEvolveReply
            )
        except EngineError as error:
            parts = _halve_neighbourhoods(offered) if error.code in TOO_LARGE_CODES else ()
            if not parts:
                raise
            return _join_associations(
                [self.link_and_evolve(part, links=links, evolve=evolve) for part in parts]
            )
        reading = _AssociationReader.from_notes(offered)
        found = Association(
            links=reading.read_links(reply.links) if links else (),
            evolutions=reading.read_evolutions(reply.neighbours) if evolve else (),
        )
        self.count_rejected_items("link_evolve", reading.rejected)
        return found


@dataclass
class _AssociationReader:
    """A reply being read against what was offered: each new note's neighbours, by handles."""

    neighbours_of: Mapping[str, frozenset[str]]
    rejected: int = 0
    known_handles: frozenset[str] = field(default_factory=frozenset)

    @classmethod
    def from_notes(cls, notes: Sequence[Neighbourhood]) -> _AssociationReader:
        near = {n.note.handle: frozenset(m.handle for m in n.neighbours) for n in notes}
        return cls(near, known_handles=frozenset(near).union(*near.values()))

    def read_links(self, found: Sequence[LinkReply]) -> tuple[LinkDraft, ...]:
        """One a pair and kind; a pair that was not offered, or an unknown kind, is dropped."""
        drafts: dict[tuple[frozenset[str], str], LinkDraft] = {}
        for each in found:
            pair, kind = self._find_pair(each), each.kind.strip().lower()
            if pair is None or kind not in get_args(LinkKind):
                self.rejected += 1
                continue
            reason = each.reason.strip()[:MOST_CHARACTERS]
            drafts.setdefault((frozenset(pair), kind), LinkDraft(*pair, kind, reason))  # type: ignore[arg-type]  # checked just above
        return tuple(drafts.values())

    def _find_pair(self, link: LinkReply) -> tuple[str, str] | None:
        """(new note, neighbour). Without `from`, the only new note that has it as a neighbour."""
        first, to = link.first.strip(), link.to.strip()
        for new, other in ((first, to), (to, first)):
            if other in self.neighbours_of.get(new, ()):
                return new, other
        holders = [new for new, near in self.neighbours_of.items() if to in near]
        return (holders[0], to) if not first and len(holders) == 1 else None

    def read_evolutions(self, found: Sequence[EvolutionReply]) -> tuple[NoteEvolution, ...]:
        """One a note, the first; empty descriptors stay as they are (A15)."""
        kept: dict[str, NoteEvolution] = {}
        for each in found:
            handle = each.handle.strip()
            if handle not in self.known_handles:
                self.rejected += 1
            elif each.keywords or each.tags or each.context.strip():
                kept.setdefault(handle, _build_evolution(handle, each))
        return tuple(kept.values())


def _build_evolution(handle: str, reply: EvolutionReply) -> NoteEvolution:
    return NoteEvolution(
        handle,
        keywords=clean_words(reply.keywords) or None,
        tags=clean_words(reply.tags) or None,
        context=reply.context.strip()[:MOST_CHARACTERS] or None,
        why=reply.why.strip()[:MOST_CHARACTERS],
    )


def _build_draft(reply: DescriptionReply | None, text: str) -> NoteDraft | None:
    """Without the names that stand before what was said: they would tie all notes of a person."""
    if reply is None or not (reply.keywords or reply.context.strip()):
        return None
    speakers = {name.casefold() for name in _SPEAKER_PREFIX.findall(text)}
    keywords = [word for word in reply.keywords if word.strip().casefold() not in speakers]
    return NoteDraft(
        clean_words(keywords), clean_words(reply.tags), reply.context.strip()[:MOST_CHARACTERS]
    )


def _build_request(notes: Sequence[Neighbourhood], wanted: Sequence[str]) -> dict[str, Any]:
    new = {near.note.handle for near in notes}
    known = {n.handle: n for near in notes for n in near.neighbours if n.handle not in new}
    return {
        "wanted": list(wanted),
        "notes": [
            _render_note(near.note, _NEW) | {"near": [n.handle for n in near.neighbours]}
            for near in notes
        ],
        "known": [_render_note(note, _KNOWN) for note in known.values()],
    }


def _render_note(note: NoteState, most: int) -> dict[str, Any]:
    return {
        "handle": note.handle,
        "at": render_minute(note.at),
        "content": note.content[:most],
        "keywords": list(note.keywords),
        "tags": list(note.tags),
        "context": note.context,
    }


def _halve_neighbourhoods(notes: Sequence[Neighbourhood]) -> tuple[Sequence[Neighbourhood], ...]:
    """Fewer new notes a call, or the nearer half of an only one's neighbours; () if it has one."""
    if len(notes) > 1:
        return notes[: len(notes) // 2], notes[len(notes) // 2 :]
    only, half = notes[0], len(notes[0].neighbours) // 2
    if not half:
        return ()
    return ([replace(only, neighbours=only.neighbours[:half], similar=only.similar[:half])],)


def _join_associations(parts: Sequence[Association]) -> Association:
    """What several calls found. A note that two of them describe anew gets the first words."""
    evolutions: dict[str, NoteEvolution] = {}
    for each in (e for part in parts for e in part.evolutions):
        evolutions.setdefault(each.handle, each)
    return Association(
        links=tuple(link for part in parts for link in part.links),
        evolutions=tuple(evolutions.values()),
    )
