"""What belongs to what was found: the turns around it and the notes linked to it (spec J4)."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from uuid import UUID

from django.db.models import Q

from memoryhub.dialogues.models import Turn
from memoryhub.recall.question.prepare import PreparedQuestion
from memoryhub.recall.render.hydrate import FoundMemory, load_source_links, load_turns_of_pages
from memoryhub.recall.render.results import MemoryItem
from notes.models import Derivation, Link, Note, Page
from notes.retention.decay import build_visible_q, find_pages_of_turns

# What a related memory is worth beside the one it is related to.
_RELATED_WEIGHT = 0.9


def find_related_memories(
    ask: PreparedQuestion, kept: Sequence[MemoryItem], seen: Collection[UUID]
) -> list[FoundMemory]:
    """Linked notes, turns that a memory was read with, and the rest of their exchanges.

    Call inside the tenant's scope. Nearest first, K at most, without what was `seen`.
    """
    if not kept:
        return []
    best = max(item.score for item in kept) * _RELATED_WEIGHT
    notes = [
        FoundMemory("note", at, best, linked=True)
        for at in _find_linked_notes(ask, _list_ids(kept, "note"))
    ]
    turns = [FoundMemory("turn", at, best) for at in _find_related_turns(ask, kept)]
    return [each for each in (*notes, *turns) if each.id not in seen][: ask.k]


def _list_ids(items: Sequence[MemoryItem], *kinds: str) -> list[UUID]:
    return [item.id for item in items if item.kind in kinds]


def _find_linked_notes(ask: PreparedQuestion, notes: Sequence[UUID]) -> list[UUID]:
    if not notes:
        return []
    rows = Link.objects.filter(Q(a__in=notes) | Q(b__in=notes), active=True, retired_at=None)
    ends = [end for pair in rows.values_list("a_id", "b_id") for end in pair]
    others = [end for end in dict.fromkeys(ends) if end not in set(notes)]
    seen = Note.objects.filter(_build_visible_filter(ask), id__in=others, retired_at=None)
    allowed = set(seen.values_list("id", flat=True))
    return [end for end in others if end in allowed][: ask.policy.recall.link_budget]


def _build_visible_filter(ask: PreparedQuestion) -> Q:
    return Q() if ask.visibility.deep else build_visible_q(ask.policy.forget)


def _find_related_turns(ask: PreparedQuestion, kept: Sequence[MemoryItem]) -> list[UUID]:
    """R_t: turns recorded as related first, then those of the same exchanges."""
    derived = _list_ids(kept, "fact", "note")
    rows = Derivation.objects.filter(child_id__in=derived, role=Derivation.Role.CONTEXT)
    context = list(rows.order_by("turn__seq").values_list("turn_id", flat=True))
    own = {
        *_list_ids(kept, "turn"),
        *(t for turns in load_source_links(derived).values() for t in turns),
    }
    pages = Page.objects.filter(
        _build_visible_filter(ask), id__in=find_pages_of_turns(ask.space, own)
    )
    paged = load_turns_of_pages(list(pages.values_list("id", flat=True)))
    around = [turn.id for turns in paged.values() for turn in turns]
    found = dict.fromkeys([*context, *around])
    gone = _find_redacted_turns(found)
    return [at for at in found if at not in gone]


def _find_redacted_turns(ids: Collection[UUID]) -> set[UUID]:
    gone = Turn.objects.filter(id__in=list(ids), state=Turn.State.REDACTED)
    return set(gone.values_list("id", flat=True))
