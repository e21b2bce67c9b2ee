"""Pages joining segments: memberships, the counters of heat, what a segment says of itself."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from uuid import UUID

from django.db.models import F
from django.db.models.functions import Greatest

from memoryhub.dialogues.models import Turn
from memoryhub.engines.types import SegmentText
from notes.history.change_set import TurnEvidence
from notes.history.unit_of_work import UnitOfWork
from notes.models import IndexEntry, Page, Proposal, Segment, SegmentPage
from notes.review.proposals import propose_change


class SegmentMember(NamedTuple):
    """A page with the theme it joins by, and F of that theme with the segment."""

    page: Page
    theme: str
    score: float


@dataclass
class SegmentJoin:
    """What a segment is to say with these pages in it, by their ids."""

    segment: Segment
    is_new: bool
    text: SegmentText
    members: dict[UUID, SegmentMember] = field(default_factory=dict)


def load_segment_pages(segments: Sequence[Segment]) -> dict[UUID, list[Page]]:
    """The pages of each, in order. One statement. Call inside the tenant's scope."""
    found: dict[UUID, list[Page]] = {}
    rows = SegmentPage.objects.filter(segment__in=segments, page__retired_at=None)
    for row in rows.select_related("page").order_by("page__first_seq"):
        found.setdefault(row.segment_id, []).append(row.page)
    return found


def write_memberships(
    unit: UnitOfWork, joins: Sequence[SegmentJoin], turns: Mapping[UUID, Sequence[Turn]], stamp: str
) -> list[Segment]:
    """Add the pages to their segments; heat counts each membership once. Returns new segments.

    A page that left before and grew is a member already: it is not counted again.
    """
    known = _load_known_memberships(joins)
    for join in joins:
        segment = join.segment
        fresh = [m for page, m in join.members.items() if (segment.id, page) not in known]
        if join.is_new:
            segment.engine = stamp
            unit.track_row(segment)
        unit.track_row(segment)
        segment.pages_total += len(fresh)
        segment.promo_pages += len(fresh)
        said = [turn for page in join.members for turn in turns[page]]
        segment.started_at = min(segment.started_at, *(turn.occurred_at for turn in said))
        segment.ended_at = max(segment.ended_at, *(turn.occurred_at for turn in said))
        unit.add_support(segment, [TurnEvidence(turn.id) for turn in said])
        _update_segment_words(unit, segment, join, said)
        for member in fresh:
            row = SegmentPage(segment=segment, added_at=unit.changes.at, **member._asdict())
            row.tenant_id, row.space = unit.space.tenant_id, unit.space
            unit.track_row(row)
    return [join.segment for join in joins if join.is_new]


def _load_known_memberships(joins: Sequence[SegmentJoin]) -> set[tuple[UUID, UUID]]:
    pages = [page for join in joins for page in join.members]
    rows = SegmentPage.objects.filter(
        segment__in=[join.segment for join in joins], page_id__in=pages
    )
    return set(rows.values_list("segment_id", "page_id"))


def _update_segment_words(
    unit: UnitOfWork, segment: Segment, join: SegmentJoin, said: Sequence[Turn]
) -> None:
    """What a person corrected stays, and the new words become a proposal."""
    if not segment.is_protected:
        segment.summary, segment.keywords = join.text.text, list(join.text.keywords)
        return
    propose_change(
        unit.changes.space,
        Proposal.Kind.OVERWRITE,
        f"segment:{segment.id}:{segment.version}",
        "more was said of it, and its words were corrected by hand",
        unit.changes.at,
        payload={"summary": join.text.text, "keywords": list(join.text.keywords)},
        row=segment,
        turn_ids=[turn.id for turn in said],
    )


def renew_segments(
    unit: UnitOfWork, renewals: Iterable[tuple[Segment, Sequence[Page], SegmentText | None]]
) -> None:
    """Put what remains in place of what was erased; a segment without pages is retired."""
    for segment, pages, text in renewals:
        unit.track_row(segment)
        segment.stale = False
        segment.pages_total = len(pages)
        segment.promo_pages = min(segment.promo_pages, len(pages))
        if text is None:
            segment.retired_at = unit.changes.at
            IndexEntry.objects.filter(kind=IndexEntry.Kind.SEGMENT, owner_id=segment.id).delete()
        else:
            segment.summary, segment.keywords = text.text, list(text.keywords)


def refresh_last_visits(segments: Iterable[Any]) -> None:
    """Talk about a topic keeps it recent, though it is no visit."""
    rows = Segment.objects.filter(id__in=[segment.id for segment in segments])
    rows.update(last_visited_at=Greatest(F("last_visited_at"), F("ended_at")))
