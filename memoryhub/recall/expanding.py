"""What belongs to what was found: the turns around it and the notes linked to it (spec J4)."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from uuid import UUID

from django.db.models import Q

from memoryhub.dialogues.models import Turn
from memoryhub.recall.asking import Ask
from memoryhub.recall.hydration import Found, links_of, turns_of_pages
from memoryhub.recall.results import Item
from notes.models import Derivation, Link, Note, Page
from notes.retention import pages_of, visible

# What a related memory is worth beside the one it is related to.
_WORTH = 0.9


def related(ask: Ask, kept: Sequence[Item], seen: Collection[UUID]) -> list[Found]:
    """Linked notes, turns that a memory was read with, and the rest of their exchanges.

    Call inside the tenant's scope. Nearest first, K at most, without what was `seen`.
    """
    if not kept:
        return []
    best = max(item.score for item in kept) * _WORTH
    notes = [Found("note", at, best, linked=True) for at in _linked(ask, _ids(kept, "note"))]
    turns = [Found("turn", at, best) for at in _turns(ask, kept)]
    return [each for each in (*notes, *turns) if each.id not in seen][: ask.k]


def _ids(items: Sequence[Item], *kinds: str) -> list[UUID]:
    return [item.id for item in items if item.kind in kinds]


def _linked(ask: Ask, notes: Sequence[UUID]) -> list[UUID]:
    if not notes:
        return []
    rows = Link.objects.filter(Q(a__in=notes) | Q(b__in=notes), active=True, retired_at=None)
    ends = [end for pair in rows.values_list("a_id", "b_id") for end in pair]
    others = [end for end in dict.fromkeys(ends) if end not in set(notes)]
    seen = Note.objects.filter(_visible(ask), id__in=others, retired_at=None)
    allowed = set(seen.values_list("id", flat=True))
    return [end for end in others if end in allowed][: ask.policy.recall.link_budget]


def _visible(ask: Ask) -> Q:
    return Q() if ask.visibility.deep else visible(ask.policy.forget)


def _turns(ask: Ask, kept: Sequence[Item]) -> list[UUID]:
    """R_t: turns recorded as related first, then those of the same exchanges."""
    derived = _ids(kept, "fact", "note")
    rows = Derivation.objects.filter(child_id__in=derived, role=Derivation.Role.CONTEXT)
    context = list(rows.order_by("turn__seq").values_list("turn_id", flat=True))
    own = {*_ids(kept, "turn"), *(t for turns in links_of(derived).values() for t in turns)}
    pages = Page.objects.filter(_visible(ask), id__in=pages_of(ask.space, own))
    paged = turns_of_pages(list(pages.values_list("id", flat=True)))
    around = [turn.id for turns in paged.values() for turn in turns]
    found = dict.fromkeys([*context, *around])
    gone = _redacted(found)
    return [at for at in found if at not in gone]


def _redacted(ids: Collection[UUID]) -> set[UUID]:
    gone = Turn.objects.filter(id__in=list(ids), state=Turn.State.REDACTED)
    return set(gone.values_list("id", flat=True))
