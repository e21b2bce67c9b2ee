"""Which exchange a turn belongs to, and which segment an exchange belongs to."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import chain, zip_longest

import numpy as np
from numpy.typing import NDArray

from memoryhub.dialogues.messages import normalise_text
from memoryhub.dialogues.models import Session, Turn
from notes.history.change_set import ChangeSet
from notes.history.unit_of_work import UnitOfWork
from notes.models import EvolutionEvent, Page

_SENTENCE = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])|\n+")


def form_pages(session: Session, new: Sequence[Turn]) -> list[Page]:
    """Put consecutive new turns of a session into pages (spec C16).

    An exchange is somebody's words and the replies of others; it ends when the first speaker
    speaks again. Call in the transaction that stored the turns.
    """
    held = Page.objects.filter(session=session).order_by("-first_seq").first()
    page, speaker = held, _load_first_speaker(held)
    made: list[Page] = []
    grown_to = None
    for turn in new:
        if page is None or turn.speaker == speaker:
            page, speaker = _build_page(session, turn), turn.speaker
            made.append(page)
        elif page is held:
            grown_to = turn
        else:
            page.last_seq, page.kind = turn.seq, Page.Kind.EXCHANGE
    if held is not None and grown_to is not None:
        _extend_page(held, grown_to)
        made.insert(0, held)
    Page.objects.bulk_create(page for page in made if page is not held)
    return made


def _extend_page(page: Page, last: Turn) -> None:
    """What is not read yet is in the short-term queue (I10), wherever the page was before.

    A page that no event has touched is still being formed, and needs none.
    """
    unit = UnitOfWork.from_change_set(
        ChangeSet(
            page.space,
            EvolutionEvent.Kind.REFRESH,
            actor="pipeline",
            at=last.received_at,
            reason="the exchange went on",
            trigger="ingest",
        )
    )
    formed = page.version > 1
    if formed:
        unit.track_row(page)
    page.last_seq, page.kind, page.tier = last.seq, Page.Kind.EXCHANGE, Page.Tier.SHORT
    if formed:
        unit.save()
    else:
        page.save(update_fields=["last_seq", "kind", "tier"])


def _load_first_speaker(page: Page | None) -> str:
    if page is None:
        return ""
    turns = Turn.objects.filter(space_id=page.space_id, seq=page.first_seq)
    return str(turns.values_list("speaker", flat=True).get())


def _build_page(session: Session, turn: Turn) -> Page:
    return Page(
        tenant_id=turn.tenant_id,
        space_id=turn.space_id,
        session=session,
        first_seq=turn.seq,
        last_seq=turn.seq,
    )


class PageReadState(StrEnum):
    """Whether a page of the short-term queue has been read."""

    READ = "read"
    PENDING = "pending"
    FAILED = "failed"


def select_leaving_pages(queue: Sequence[PageReadState], capacity: int) -> list[int]:
    """Places of the pages, oldest first, that leave a queue over its capacity (spec §8.2, I10).

    A page that waits to be read keeps those behind it too, for they leave in order; one that
    could not be read stays by itself, until a person has it read again.
    """
    surplus = len(queue) - capacity
    found: list[int] = []
    for place, state in enumerate(queue):
        if len(found) >= surplus or state is PageReadState.PENDING:
            break
        if state is PageReadState.READ:
            found.append(place)
    return found


def compute_jaccard(a: Iterable[str], b: Iterable[str]) -> float:
    """Share of keywords that both have, whatever their case; 0 when neither has any (MO3)."""
    first, second = {normalise_text(k) for k in a}, {normalise_text(k) for k in b}
    both = first | second
    return len(first & second) / len(both) if both else 0.0


def compute_affinity(cosine: float, shared: float) -> float:
    """F = cos + Jaccard, to six places (spec §8.3)."""
    return round(cosine + shared, 6)


@dataclass(frozen=True, slots=True)
class Topic:
    """What a theme or a segment is about: a unit vector, keywords and a text.

    Without a vector (the embedder can't read the language) only words are compared.
    """

    vector: NDArray[np.float32] | None
    keywords: tuple[str, ...]
    text: str = ""


def compute_likeness(theme: Topic, segment: Topic) -> float:
    """Cosine; where there are no vectors to compare, the share of the theme's keywords that the
    segment speaks of."""
    if theme.vector is not None:
        return 0.0 if segment.vector is None else float(theme.vector @ segment.vector)
    spoken = normalise_text(f"{segment.text} {' '.join(segment.keywords)}")
    named = [normalise_text(keyword) in spoken for keyword in theme.keywords]
    return sum(named) / len(named) if named else 0.0


def find_best_segment(
    theme: Topic, segments: Sequence[Topic], theta: float
) -> tuple[int, float] | None:
    """The place of the segment of highest F, and F, if it is over `theta`, strictly (MO2)."""
    scores = [
        compute_affinity(
            compute_likeness(theme, each), compute_jaccard(theme.keywords, each.keywords)
        )
        for each in segments
    ]
    best = max(range(len(scores)), key=scores.__getitem__, default=None)
    if best is None or scores[best] <= round(theta, 6):
        return None
    return best, scores[best]


def merge_keywords(held: Sequence[str], new: Sequence[str], most: int = 12) -> list[str]:
    """Those that both name first, then the others by turns: neither crowds out the other."""
    theirs = {normalise_text(k) for k in new}
    ours = {normalise_text(k) for k in held}
    shared = [k for k in held if normalise_text(k) in theirs]
    rest = chain.from_iterable(
        zip_longest(
            (k for k in new if normalise_text(k) not in ours),
            (k for k in held if normalise_text(k) not in theirs),
        )
    )
    unique = {normalise_text(k): k for k in reversed([*shared, *(k for k in rest if k)])}
    return [k[:120] for k in reversed(unique.values())][:most]


def merge_summaries(held: str, new: str) -> str:
    """Both, without sentences that are in already."""
    sentences = [s for s in split_sentences(new) if s not in held]
    gap = "" if held and held[-1] in "。！？" else " "
    return gap.join([held, *sentences]).strip()


def split_sentences(text: str) -> list[str]:
    """Split after full stops, in Latin and in Chinese script."""
    return [s for s in (part.strip() for part in _SENTENCE.split(text)) if s]
