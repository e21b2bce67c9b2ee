"""Notes of what was read: of each exchange, or of each fact (policy `notes.anchor`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from memoryhub.dialogues.models import Turn
from memoryhub.engines.types import Extraction, NoteDraft
from memoryhub.pipeline.steps.derive.extract import PageDraft
from memoryhub.pipeline.steps.derive.read import DialogueBatch, is_echo
from memoryhub.pipeline.steps.derive.resolve import FactDraft
from memoryhub.policies.schema import Policy
from notes.history.change_set import TurnEvidence
from notes.index.lexemes import build_lexical_text
from notes.links.evolve import build_descriptors
from notes.models import Fact, Note


@dataclass(frozen=True, slots=True)
class DraftedNote:
    """A note not yet saved, and the turns it was made from."""

    note: Note
    sources: tuple[TurnEvidence, ...]


def draft_notes(
    batch: DialogueBatch,
    pages: Sequence[PageDraft],
    stored: Sequence[Fact],
    stamp: str,
    now: datetime,
) -> list[DraftedNote]:
    """The new notes of a batch. `stored`: the facts that will be written.

    Without a draft a note is pending: described later, by content only until then.
    """
    if not batch.policy.notes.enabled:
        return []
    if batch.policy.notes.anchor == "fact":
        kept = {fact.id: fact for fact in stored}
        found = [
            _draft_fact_note(batch, page, draft, kept) for page in pages for draft in page.facts
        ]
    else:
        found = [_draft_page_note(batch, page) for page in pages]
    return [_stamp_note(each, stamp, now) for each in found if each is not None]


def _draft_page_note(batch: DialogueBatch, page: PageDraft) -> DraftedNote | None:
    said = [turn for turn in page.turns if not is_echo(turn)]
    if page.page.id in batch.pages_with_note or not _is_worth_a_note(said, batch.policy):
        return None
    note = Note(
        page=page.page,
        content="\n".join(f"{turn.speaker}: {turn.words}" for turn in said),
        occurred_at=page.turns[0].occurred_at,
        **_build_tenant_keys(batch),
        **_build_description(_find_note_draft(page.construction), batch.policy),
    )
    return DraftedNote(note, tuple(TurnEvidence(turn.id) for turn in page.turns))


def _find_note_draft(built: Extraction) -> NoteDraft | None:
    """Small talk without a draft has nothing to be described: no call is spent on it."""
    acts = set(built.speech_acts.values())
    return built.note or (NoteDraft((), (), "") if acts == {"chitchat"} else None)


def _is_worth_a_note(said: Sequence[Turn], policy: Policy) -> bool:
    words = sum(len(build_lexical_text(turn.words).split()) for turn in said)
    return words >= max(1, policy.notes.least_words)


def _draft_fact_note(
    batch: DialogueBatch, page: PageDraft, draft: FactDraft, stored: dict[Any, Fact]
) -> DraftedNote | None:
    """A fact that repeats one held has that one's note; a new one gets its own."""
    fact = stored.get(draft.fact.id)
    if fact is None:
        return None
    note = Note(
        fact=fact,
        content=fact.text,
        occurred_at=fact.asserted_at,
        **_build_tenant_keys(batch),
        **_build_description(_narrow_descriptors(page.construction.note, fact), batch.policy),
    )
    return DraftedNote(note, tuple(draft.sources))


def _narrow_descriptors(draft: NoteDraft | None, fact: Fact) -> NoteDraft | None:
    """Of an exchange's descriptors those that the fact speaks of; None without a keyword left."""
    text = fact.text.casefold()
    keywords = tuple(word for word in draft.keywords if word.casefold() in text) if draft else ()
    return NoteDraft(keywords, draft.tags, draft.context) if draft and keywords else None


def _build_description(draft: NoteDraft | None, policy: Policy) -> dict[str, Any]:
    """Where calls are not combined, notes are described by a call of their own."""
    if draft is None or not policy.llm.combine_calls:
        return {"enrichment": Note.Enrichment.PENDING}
    return {"enrichment": Note.Enrichment.DONE, **build_descriptors(draft)}


def _build_tenant_keys(batch: DialogueBatch) -> dict[str, Any]:
    return {"tenant_id": batch.space.tenant_id, "space": batch.space}


def _stamp_note(noted: DraftedNote, stamp: str, now: datetime) -> DraftedNote:
    noted.note.created_at, noted.note.engine = now, stamp
    return noted
