"""The dates that a turn's facts speak of, in words that the turn is then found by."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import tzinfo
from uuid import UUID

from notes.indexing import date_words
from notes.models import Derivation, Fact


def event_words(turn_ids: Sequence[UUID], zone: tzinfo) -> dict[UUID, str]:
    """By turn, from the facts stored. Call inside the tenant's scope."""
    if not turn_ids:
        return {}
    links = Derivation.objects.filter(child_type="fact", turn_id__in=turn_ids).exclude(
        role=Derivation.Role.WITHDRAWN
    )
    turns = dict(links.values_list("child_id", "turn_id"))
    facts = Fact.objects.filter(id__in=turns, event_from__isnull=False)
    return joined(((turns[fact.id], fact) for fact in facts), zone)


def joined(found: Iterable[tuple[UUID, Fact]], zone: tzinfo) -> dict[UUID, str]:
    """The event dates of (turn, fact) pairs, those of a turn side by side."""
    words: dict[UUID, list[str]] = {}
    for turn_id, fact in found:
        if fact.event_from is not None:
            day = date_words(fact.event_from.astimezone(zone), fact.text)
            words.setdefault(turn_id, []).append(day)
    return {turn_id: " ".join(days) for turn_id, days in words.items()}
