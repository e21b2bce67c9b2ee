"""Episodes: what they cover, how they are written and renewed, and what of them is found."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any

from django.db.models import Q

from memoryhub.dialogues.models import Session, Turn
from memoryhub.tenants.models import Space
from notes.history.change_set import ChangeSet, TurnEvidence, filter_supports, serialize_row
from notes.models import Episode

EpisodeKind = Episode.Kind
# Spans that are searched. The summary so far and the portraits are handed over whole.


# What may be found


def build_live_q() -> Q:
    """Held at present and true to what it covers: neither retired nor stale."""
    return Q(retired_at=None, stale=False)


def find_rolling_summary(space: Space, session: Session | None = None) -> Episode | None:
    """The row of the summary so far, stale or not: the space's, or a session's window's."""
    return find_newest(space, EpisodeKind.ROLLING, session=session)


def load_rolling_text(space: Space, session: Session | None = None) -> str:
    """S: what was said so far, in brief; "" before the first fold and while it is stale."""
    row = find_rolling_summary(space, session)
    return row.text if row is not None and not row.stale else ""


def find_newest(space: Space, kind: str, **of: Any) -> Episode | None:
    rows = Episode.objects.filter(space=space, kind=kind, retired_at=None, **of)
    found: Episode | None = rows.order_by("-to_seq").first()
    return found


# What one covers


@dataclass(frozen=True, slots=True)
class Coverage:
    """A span's bounds, a hash of what it holds, and the turns it rests on."""

    from_seq: int
    to_seq: int
    from_at: datetime
    to_at: datetime
    digest: str
    sources: tuple[TurnEvidence, ...]


def compute_coverage(turns: Sequence[Turn], *, bounds: Sequence[Turn] = ()) -> Coverage:
    """Of turns, never none. `bounds`: all turns of the span, where not all of them were read."""
    hashes = "".join(f"{turn.id}{turn.content_hash}" for turn in turns)
    span = bounds or turns
    times = [turn.occurred_at for turn in span]
    return Coverage(
        from_seq=min(turn.seq for turn in span),
        to_seq=max(turn.seq for turn in span),
        from_at=min(times),
        to_at=max(times),
        digest=_hash_text(hashes),
        sources=tuple(TurnEvidence(turn.id) for turn in turns),
    )


def compute_coverage_of_episodes(
    parts: Sequence[Episode], links: Iterable[tuple[Any, Any]]
) -> Coverage:
    """Of other episodes, never none: by way of them, of their turns. `links`: (episode, turn)."""
    return Coverage(
        from_seq=min(part.from_seq for part in parts),
        to_seq=max(part.to_seq for part in parts),
        from_at=min(part.from_at for part in parts),
        to_at=max(part.to_at for part in parts),
        digest=_hash_text("".join(f"{part.id}{part.coverage_hash}{part.text}" for part in parts)),
        sources=tuple(
            TurnEvidence(turn, via_type="episode", via_id=part)
            for part, turn in dict.fromkeys(links)
        ),
    )


def _hash_text(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


# Writing


@dataclass(frozen=True, slots=True)
class EpisodeContent:
    """What an engine wrote of a span."""

    text: str
    title: str = ""
    details: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class EpisodeDraft:
    """A row as it will be, not yet written; `before` are its present values, None: it is new."""

    row: Episode
    coverage: Coverage
    before: dict[str, Any] | None = None


def draft_episode(
    space: Space,
    kind: str,
    wording: EpisodeContent,
    coverage: Coverage,
    stamp: str,
    *,
    row: Episode | None = None,
    session: Session | None = None,
    day: date | None = None,
) -> EpisodeDraft:
    """A new episode, or `row` as it is after its renewal. Reads and writes nothing."""
    before = serialize_row(row) if row is not None else None
    made = row or Episode(tenant_id=space.tenant_id, space=space, kind=kind)
    made.session, made.day = session, day
    made.title, made.text, made.details = wording.title[:200], wording.text, wording.details
    made.from_seq, made.to_seq = coverage.from_seq, coverage.to_seq
    made.from_at, made.to_at = coverage.from_at, coverage.to_at
    made.coverage_hash, made.stale, made.engine = coverage.digest, False, stamp[:60]
    made.version += before is not None
    return EpisodeDraft(made, coverage, before)


def save_episode(changes: ChangeSet, draft: EpisodeDraft) -> Episode:
    """Write a drafted episode with its history; the caller has checked the version it read."""
    draft.row.save()
    if draft.before is None:
        changes.record_creation(draft.row, draft.coverage.sources)
        return draft.row
    changes.record_change(draft.row, draft.before)
    changes.record_support(draft.row, _list_new_sources(draft))
    return draft.row


def _list_new_sources(draft: EpisodeDraft) -> list[TurnEvidence]:
    known = filter_supports("episode", child_id=draft.row.id)
    pairs = set(known.values_list("turn_id", "via_id"))
    return [s for s in draft.coverage.sources if (s.turn_id, s.via_id) not in pairs]
