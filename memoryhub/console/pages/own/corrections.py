"""What a person puts right about themselves: their word stands against the pipeline's.

Each opens its own scopes and embeds with nothing open. They raise NotFound, InvalidInput and
Conflict, as the services they call.
"""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from django.utils.translation import gettext as _

from memoryhub.dialogues.messages import Message, check_text
from memoryhub.errors import NotFound
from memoryhub.pipeline import corrections
from memoryhub.pipeline.ingest.services import IngestRequest
from memoryhub.pipeline.ingest.verbatim import keep_verbatim
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope
from notes.corrections import edits, manual
from notes.corrections.manual import run_manual_edit
from notes.history.unit_of_work import load_event_standing
from notes.models import EvolutionEvent
from personas import portrait, traits
from personas.models import Trait

ACTOR = "the person themselves"
CHANNEL = "own page"


def correct_or_retract_fact(space: Space, fact_id: UUID, words: str, now: datetime) -> UUID:
    """It says what is not so: `words` stand in its place, or nothing. Returns what stands now."""
    why = "not right, says the person it is about"
    if not words.strip():
        manual.retract_fact(space, fact_id, ACTOR, now, reason=why)
    else:
        fact_id = manual.correct_text(space, fact_id, words, ACTOR, now, reason=why).id
    _plan_followups(space, fact_id, now)
    return fact_id


def end_fact(space: Space, fact_id: UUID, words: str, at: datetime | None, now: datetime) -> UUID:
    """It was so until `at`, or until now; `words` say what is so instead. Returns what is."""
    why = "no longer so, says the person it is about"
    words = check_text(words, field="words") if words.strip() else ""
    manual.end_fact(space, fact_id, ACTOR, now, at=at, reason=why)
    _plan_followups(space, fact_id, now)
    return add_fact(space, words, now) if words else fact_id


def add_fact(space: Space, words: str, now: datetime) -> UUID:
    """Remember this word by word, also while everything else is paused."""
    request = IngestRequest(
        space.subject,
        [Message("user", words)],
        CHANNEL,
        channel=CHANNEL,
        despite_pause=True,
    )
    (fact,) = keep_verbatim(space.tenant_id, request, ACTOR, now, protected=True)
    return fact.id


def forget_memory(space: Space, kind: str, row_id: UUID, now: datetime) -> None:
    """Hold a fact or a note no longer. Its history stays until it is erased."""
    work = edits.plan_forget_facts([row_id]) if kind == "fact" else edits.plan_forget_note(row_id)
    run_manual_edit(space, ACTOR, now, "to be forgotten, says the person it is about", work)
    _plan_followups(space, row_id, now)


def restore_fact(space: Space, fact_id: UUID, now: datetime) -> None:
    """It is so after all, and still."""
    manual.restore_fact(space, fact_id, ACTOR, now, reason="so after all, says the person")
    _plan_followups(space, fact_id, now)


def correct_trait(space: Space, key: str, level: str, now: datetime) -> None:
    """How it is with a trait of theirs; "": nothing of the kind is to be thought of them."""
    with tenant_scope(space.tenant_id):
        traits.correct_trait(space, key, level, ACTOR, now, reason="says the person it is about")
        portrait.renew_portrait_after_edit(space, now)


def undo_trait_correction(space: Space, key: str, now: datetime) -> None:
    """Take back what they said last of a trait: what was thought before is thought again."""
    with tenant_scope(space.tenant_id):
        said = _find_last_correction(space, key)
    if said is None:
        raise NotFound(_("you have said nothing about it"))
    corrections.undo_event(said, ACTOR, now, reason="taken back by the person it is about")


def _find_last_correction(space: Space, key: str) -> EvolutionEvent | None:
    rows = Trait.objects.filter(space=space, owner=traits.get_owner_name(space), key=key)
    events = EvolutionEvent.objects.filter(
        space=space,
        actor=ACTOR,
        kind=EvolutionEvent.Kind.MANUAL,
        revisions__row_type="trait",
        revisions__row_id__in=rows.values("id"),
    )
    standing = load_event_standing(space)
    newest = events.distinct().order_by("-created_at", "-id")
    return next((event for event in newest if standing.is_standing(event.id)), None)


def _plan_followups(space: Space, row_id: UUID, now: datetime) -> None:
    corrections.refresh_after_change(space.id, space.tenant_id, f"{row_id}-{now.isoformat()}", now)
