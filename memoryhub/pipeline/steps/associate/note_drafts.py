"""Notes of what was read: of each exchange, or of each fact (policy `notes.anchor`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from memoryhub.engines.types import NoteDraft
from memoryhub.pipeline.steps.context import StepContext
from memoryhub.pipeline.steps.derive.extract import PageDraft
from memoryhub.pipeline.steps.derive.read import DialogueBatch, is_echo
from memoryhub.pipeline.steps.derive.resolve import FactDraft
from notes.history.change_set import TurnEvidence
from notes.index.lexemes import build_lexical_text
from notes.links.evolve import build_descriptors
from notes.models import Fact, Note

_ASKING_ACTS = ("question", "forget")


@dataclass(frozen=True, slots=True)
class DraftedNote:
    """A note not yet saved, and the turns it was made from."""

    note: Note
    sources: tuple[TurnEvidence, ...]


def draft_notes(
    batch: DialogueBatch, pages: Sequence[PageDraft], stored: Sequence[Fact], at: StepContext
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
    made = [each for each in found if each is not None]
    for each in made:
        each.note.created_at, each.note.engine = at.now, at.stamp
    return made


def _draft_page_note(batch: DialogueBatch, page: PageDraft) -> DraftedNote | None:
    said = [turn for turn in page.turns if not is_echo(turn)]
    words = sum(len(build_lexical_text(turn.words).split()) for turn in said)
    enough = words >= max(1, batch.policy.notes.least_words)
    # A question that only the hub answered, and a wish to forget, tell nothing to be noted.
    tells_nothing = not page.facts and all(turn.speech_act in _ASKING_ACTS for turn in said)
    if page.page.id in batch.pages_with_note or not enough or tells_nothing:
        return None
    built = page.construction
    # Small talk without a draft has nothing to be described: no call is spent on it.
    is_small_talk = set(built.speech_acts.values()) == {"chitchat"}
    return _draft_note(
        batch,
        built.note or (NoteDraft((), (), "") if is_small_talk else None),
        [TurnEvidence(turn.id) for turn in page.turns],
        page=page.page,
        content="\n".join(f"{turn.speaker}: {turn.words}" for turn in said),
        occurred_at=page.turns[0].occurred_at,
    )


def _draft_fact_note(
    batch: DialogueBatch, page: PageDraft, draft: FactDraft, stored: dict[Any, Fact]
) -> DraftedNote | None:
    """A fact that repeats one held has that one's note; a new one gets its own."""
    fact = stored.get(draft.fact.id)
    if fact is None:
        return None
    narrow = _narrow_descriptors(page.construction.note, fact)
    said = {"content": fact.text, "occurred_at": fact.asserted_at}
    return _draft_note(batch, narrow, draft.sources, fact=fact, **said)


def _narrow_descriptors(draft: NoteDraft | None, fact: Fact) -> NoteDraft | None:
    """Of an exchange's descriptors those that the fact speaks of; None without a keyword left."""
    text = fact.text.casefold()
    keywords = tuple(word for word in draft.keywords if word.casefold() in text) if draft else ()
    return NoteDraft(keywords, draft.tags, draft.context) if draft and keywords else None


def _draft_note(
    batch: DialogueBatch, draft: NoteDraft | None, sources: Sequence[TurnEvidence], **values: Any
) -> DraftedNote:
    """Where calls are not combined, notes are described by a call of their own."""
    if draft is None or not batch.policy.llm.combine_calls:
        values["enrichment"] = Note.Enrichment.PENDING
    else:
        values |= {"enrichment": Note.Enrichment.DONE, **build_descriptors(draft)}
    note = Note(tenant_id=batch.space.tenant_id, space=batch.space, **values)
    return DraftedNote(note, tuple(sources))
