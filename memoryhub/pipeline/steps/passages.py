"""Pages as an engine reads them: their words, and what has been read from them already."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from memoryhub.dialogues.models import Turn
from memoryhub.engines.types import Passage
from memoryhub.tenants.database.prepared import open_prepared_cursor
from notes.models import Note, Page
from notes.topics.pages import PageTurns, load_page_turns

# Of one page: what is said at greater length is represented by its beginning.
MAX_PASSAGE_CHARACTERS = 4000


def load_passages(pages: Sequence[Page], turns: PageTurns | None = None) -> list[Passage]:
    """Each page under the handle "p1", "p2" …, with its note's keywords and its facts' texts.

    Pages without turns are left out. Call inside the tenant's scope: three statements at most.
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


# Every step behind a derivation asks.
_CLAIM_TEXTS_SQL = """
SELECT d.turn_id, f.id, f.text
FROM notes_derivation d
JOIN dialogues_turn t ON t.id = d.turn_id
JOIN notes_fact f ON f.id = d.child_id AND f.retired_at IS NULL AND f.status <> 'retracted'
WHERE d.tenant_id = %s AND d.child_type = 'fact' AND d.role = 'support'
  AND d.turn_id = ANY(%s::uuid[])
ORDER BY t.seq, d.span_start, d.id
"""


def _load_claim_texts(said: PageTurns) -> dict[UUID, tuple[str, ...]]:
    """Texts of the facts that each page supports, withdrawn ones left out."""
    turns = [(page_id, turn) for page_id, of_page in said.items() for turn in of_page]
    if not turns:
        return {}
    page_of = {turn.id: page_id for page_id, turn in turns}
    with open_prepared_cursor(binary=True) as cursor:
        cursor.execute(_CLAIM_TEXTS_SQL, [turns[0][1].tenant_id, list(page_of)])
        rows = cursor.fetchall()
    texts = {(page_of[turn_id], fact_id): text for turn_id, fact_id, text in rows}
    found: dict[UUID, tuple[str, ...]] = {}
    for (page_id, _), text in texts.items():
        found[page_id] = (*found.get(page_id, ()), text)
    return found
