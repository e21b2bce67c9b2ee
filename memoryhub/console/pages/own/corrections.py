"""What a person puts right about themselves: their word stands against the pipeline's.

Each opens its own scopes and embeds with nothing open. They raise NotFound, InvalidInput and
Conflict, as the services they call.
"""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from django.utils.translation import gettext

from memoryhub.dialogues.messages import Message, check_text
from memoryhub.errors import NotFound
from memoryhub.pipeline import corrections
from memoryhub.pipeline.ingest.services import IngestRequest
from memoryhub.pipeline.ingest.verbatim import keep_verbatim
from memoryhub.pipeline.models import SealedErasure
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope
from notes.models import EvolutionEvent

ACTOR = "the person themselves"
CHANNEL = "own page"


def correct_or_retract_fact(space: Space, fact_id: UUID, words: str, now: datetime) -> UUID:
    """It says what is not so: `words` stand in its place, or nothing. Returns what stands now."""
    why = "not right, says the person it is about"
    if not words.strip():
        return corrections.retract_fact(space, fact_id, ACTOR, now, reason=why).row.id
    return corrections.correct_fact(space, fact_id, words, ACTOR, now, reason=why).row.id


def end_fact(space: Space, fact_id: UUID, words: str, at: datetime | None, now: datetime) -> UUID:
    """It was so until `at`, or until now; `words` say what is so instead. Returns what is."""
    why = "no longer so, says the person it is about"
    words = check_text(words, field="words") if words.strip() else ""
    corrections.end_fact(space, fact_id, ACTOR, now, at=at, reason=why)
    return add_fact(space, words, now) if words else fact_id


def add_fact(space: Space, words: str, now: datetime) -> UUID:
    """Remember this word by word, also while everything else is paused."""
    request = IngestRequest(
        space.subject, [Message("user", words)], CHANNEL, channel=CHANNEL, despite_pause=True
    )
    (fact,) = keep_verbatim(space.tenant_id, request, ACTOR, now, protected=True)
    return fact.id


def forget_memory(space: Space, kind: str, row_id: UUID, now: datetime) -> None:
    """Hold a fact or a note no longer. Its history stays until it is erased."""
    why = "to be forgotten, says the person it is about"
    if kind == "fact":
        corrections.forget_facts(space, [row_id], ACTOR, now, reason=why)
    else:
        corrections.forget_note(space, row_id, ACTOR, now, reason=why)


def restore_fact(space: Space, fact_id: UUID, now: datetime) -> None:
    """It is so after all, and still."""
    corrections.restore_fact(space, fact_id, ACTOR, now, reason="so after all, says the person")


def correct_trait(space: Space, key: str, level: str, now: datetime) -> None:
    """How it is with a trait of theirs; "": nothing of the kind is to be thought of them."""
    why = "says the person it is about"
    corrections.correct_trait(space, key, level, ACTOR, now, reason=why)


def undo_trait_correction(space: Space, key: str, now: datetime) -> None:
    """Take back what they said last of a trait: what was thought before is thought again."""
    why = "taken back by the person it is about"
    corrections.undo_trait_correction(space, key, ACTOR, now, reason=why)


def undo_wish(space: Space, receipt_id: UUID, now: datetime) -> None:
    """Bring back what a wish to forget has hidden."""
    with tenant_scope(space.tenant_id):
        row = SealedErasure.objects.filter(space=space, receipt_id=receipt_id).first()
        if row is None:
            raise NotFound(gettext("it has been permanently erased"))
        event = EvolutionEvent.objects.get(id=row.event_id)
    corrections.undo_event(event, ACTOR, now, reason="not to be forgotten, says the person")
