"""What a person puts right about themselves: their word stands against the pipeline's.

Each opens its own scopes and embeds with nothing open. They raise NotFound, InvalidInput and
Conflict, as the services they call.
"""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from django.utils.translation import gettext as _

from memoryhub.dialogues.messages import Message, checked_text
from memoryhub.errors import NotFound
from memoryhub.pipeline import restoring
from memoryhub.pipeline.keeping import keep
from memoryhub.pipeline.services import IngestRequest
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope
from notes import correcting, works
from notes.correcting import by_hand
from notes.models import EvolutionEvent
from notes.workbench import standing_in
from personas import portrait, traits
from personas.models import Trait

ACTOR = "the person themselves"
CHANNEL = "own page"


def not_right(space: Space, fact_id: UUID, words: str, now: datetime) -> UUID:
    """It says what is not so: `words` stand in its place, or nothing. Returns what stands now."""
    why = "not right, says the person it is about"
    if not words.strip():
        correcting.never_true(space, fact_id, ACTOR, now, reason=why)
    else:
        fact_id = correcting.edit_text(space, fact_id, words, ACTOR, now, reason=why).id
    _settle(space, fact_id, now)
    return fact_id


def no_longer(space: Space, fact_id: UUID, words: str, at: datetime | None, now: datetime) -> UUID:
    """It was so until `at`, or until now; `words` say what is so instead. Returns what is."""
    why = "no longer so, says the person it is about"
    words = checked_text(words, field="words") if words.strip() else ""
    correcting.ended(space, fact_id, ACTOR, now, at=at, reason=why)
    _settle(space, fact_id, now)
    return tell(space, words, now) if words else fact_id


def tell(space: Space, words: str, now: datetime) -> UUID:
    """Remember this word by word, also while everything else is paused."""
    request = IngestRequest(
        space.subject,
        [Message("user", words)],
        CHANNEL,
        channel=CHANNEL,
        despite_pause=True,
    )
    (fact,) = keep(space.tenant_id, request, ACTOR, now, protected=True)
    return fact.id


def forget(space: Space, kind: str, row_id: UUID, now: datetime) -> None:
    """Hold a fact or a note no longer. Its history stays until it is erased."""
    work = works.removing([row_id]) if kind == "fact" else works.deleting(row_id)
    by_hand(space, ACTOR, now, "to be forgotten, says the person it is about", work)
    _settle(space, row_id, now)


def bring_back(space: Space, fact_id: UUID, now: datetime) -> None:
    """It is so after all, and still."""
    correcting.restore(space, fact_id, ACTOR, now, reason="so after all, says the person")
    _settle(space, fact_id, now)


def judge_oneself(space: Space, key: str, level: str, now: datetime) -> None:
    """How it is with a trait of theirs; "": nothing of the kind is to be thought of them."""
    with tenant_scope(space.tenant_id):
        traits.correct(space, key, level, ACTOR, now, reason="says the person it is about")
        portrait.redraw(space, now)


def think_again(space: Space, key: str, now: datetime) -> None:
    """Take back what they said last of a trait: what was thought before is thought again."""
    with tenant_scope(space.tenant_id):
        said = _last_word(space, key)
    if said is None:
        raise NotFound(_("you have said nothing about it"))
    restoring.undo(said, ACTOR, now, reason="taken back by the person it is about")


def _last_word(space: Space, key: str) -> EvolutionEvent | None:
    rows = Trait.objects.filter(space=space, owner=traits.owner_of(space), key=key)
    events = EvolutionEvent.objects.filter(
        space=space,
        actor=ACTOR,
        kind=EvolutionEvent.Kind.MANUAL,
        revisions__row_type="trait",
        revisions__row_id__in=rows.values("id"),
    )
    standing = standing_in(space)
    newest = events.distinct().order_by("-created_at", "-id")
    return next((event for event in newest if standing.stands(event.id)), None)


def _settle(space: Space, row_id: UUID, now: datetime) -> None:
    restoring.settle(space.id, space.tenant_id, f"{row_id}-{now.isoformat()}", now)
