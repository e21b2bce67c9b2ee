"""Pages as an engine reads them: their words, and what has been read from them already."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from memoryhub.dialogues.models import Turn
from memoryhub.engines.types import Passage
from notes.history.change_set import filter_supports
from notes.models import Fact, Note, Page
from notes.topics.pages import PageTurns, load_page_turns

# Of one page: what is said at greater length is represented by its beginning.
MAX_PASSAGE_CHARACTERS = 4000


def load_passages(pages: Sequence[Page], turns: PageTurns | None = None) -> list[Passage]:
    """Each page under the handle "p1", "p2" …, with its note's keywords and its facts' texts.

    Pages without turns are left out. Call inside the tenant's scope: four statements at most.
    """
    said = load_page_turns(pages) if turns is None else turns
    keywords, claims = _load_keywords(pages), _load_claim_texts(said)
    return [
        Passage(
            handle=f"p{number}",
            text=format_page_text(said[page.id])[:MAX_PASSAGE_CHARACTERS],
            at=said[page.id][0].occurred_at,
            keywords=keywords.get(page.id, ()),
            claims=claims.get(page.id, ()),
        )
        for number, page in enumerate(pages, start=1)
        if said.get(page.id)
    ]


def format_page_text(turns: Sequence[Turn]) -> str:
    """What was said, a line a turn, each under its speaker's name."""
    return "\n".join(f"{turn.speaker}: {turn.words}" for turn in turns)


def _load_keywords(pages: Sequence[Page]) -> dict[UUID, tuple[str, ...]]:
    notes = Note.objects.filter(page__in=[page.id for page in pages], retired_at=None)
    found: dict[UUID, tuple[str, ...]] = {}
    for page_id, keywords in notes.values_list("page_id", "keywords"):
        found[page_id] = (*found.get(page_id, ()), *keywords)
    return found


def _load_claim_texts(said: PageTurns) -> dict[UUID, tuple[str, ...]]:
    """Texts of the facts that each page supports, withdrawn ones left out."""
    page_of = {turn.id: page_id for page_id, turns in said.items() for turn in turns}
    links = filter_supports("fact", turn_id__in=list(page_of))
    found_at = links.order_by("turn__seq", "span_start", "id").values_list("turn_id", "child_id")
    pairs = list(dict.fromkeys((page_of[turn], fact) for turn, fact in found_at))
    held = Fact.objects.filter(id__in={fact for _, fact in pairs}, retired_at=None)
    texts = dict(held.exclude(status=Fact.Status.RETRACTED).values_list("id", "text"))
    found: dict[UUID, tuple[str, ...]] = {}
    for page_id, fact_id in pairs:
        if fact_id in texts:
            found[page_id] = (*found.get(page_id, ()), texts[fact_id])
    return found
