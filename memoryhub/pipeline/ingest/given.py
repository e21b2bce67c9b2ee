"""A fact stored as it is given: no engine reads it. It is compared with what is held like any other
claim, so that it repeats, replaces or stands beside it, and rests on turns: those that are named,
or its own words, kept as one."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from django.utils import timezone
from django.utils.translation import gettext as _

from memoryhub.dialogues.messages import Message, check_text, clean_text, hash_text, to_utc
from memoryhub.dialogues.models import Turn
from memoryhub.engines.local.claims.predicates import is_single_valued
from memoryhub.engines.local.engine import LocalEngine
from memoryhub.errors import Conflict, InvalidInput, NotFound
from memoryhub.inference.selection import select_embedder
from memoryhub.pipeline.corrections import refresh_after_change
from memoryhub.pipeline.ingest.services import IngestRequest
from memoryhub.pipeline.ingest.verbatim import store_read_turns
from memoryhub.pipeline.jobs.step import StaleRead
from memoryhub.pipeline.naming import write_subject_name
from memoryhub.pipeline.steps.derive import resolve
from memoryhub.pipeline.steps.derive.resolve import DecidedDraft, FactDraft
from memoryhub.policies.services import EffectivePolicy, load_effective_policy
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope
from memoryhub.tenants.services import ensure_space
from notes.facts.trust import TRUSTED_ROLES
from notes.history.change_set import ChangeSet, TurnEvidence
from notes.models import EvolutionEvent, Fact

PREDICATE_PATTERN = "^[a-z][a-z0-9_]{0,79}$"
MAX_SOURCES = 100
# How many others may bring facts of the same matter while one is compared: each of its tries that
# fails is somebody else's that has succeeded.
MAX_RIVALS = 12
_UNTRUSTED_CONFIDENCE = 0.5  # as of what an assistant says of itself


@dataclass(frozen=True, slots=True)
class GivenFact:
    """`role` in which it is told: people are trusted, assistants change nothing people said, what
    tools and documents say waits for a person. `owner` "": the subject. `value`: of the predicate.
    `sources`: turns that it rests on; without any, its own words are kept as one, of `session`.
    """

    subject: str
    text: str
    role: str = Turn.Role.USER
    predicate: str = ""
    value: str = ""
    owner: str = ""
    speaker: str = ""
    agent: str = ""
    session: str = ""
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    confidence: float | None = None
    sources: Sequence[UUID] = ()
    metadata: dict[str, Any] = field(default_factory=dict)
    subject_name: str | None = None


@dataclass(frozen=True, slots=True)
class StoredFact:
    """`decided`: what became of it; its `fact` is the row that now says it, None where it waits for
    a person. `event` is None where nothing changed but a source."""

    space: Space
    decided: DecidedDraft
    event_id: UUID | None


def remember_fact(
    tenant_id: UUID, given: GivenFact, actor: str, now: datetime | None = None
) -> StoredFact:
    """Opens its own scopes, and embeds with nothing open. Raises InvalidInput, NotFound,
    TooLarge and Conflict."""
    now = now or timezone.now()
    text = check_text(given.text, field="text").strip()
    if given.predicate and not re.fullmatch(PREDICATE_PATTERN, given.predicate):
        raise InvalidInput(_("small letters, digits and _"), field="predicate")
    given = replace(given, text=text, owner=clean_text(given.owner), value=clean_text(given.value))
    with tenant_scope(tenant_id):  # of what is refused nothing is kept, not even its words
        space, turns = _load_support(tenant_id, given, now)
        effective = load_effective_policy(space)
        draft = _build_draft(space, effective, given, turns, now)
    for _attempt in range(MAX_RIVALS):
        try:
            stored = _write_draft(space, effective, draft, actor, now)
        except StaleRead:
            continue
        refresh_after_change(space, str(draft.fact.id), now)
        return stored
    raise Conflict(_("these memories are being changed: try again"), code="busy")


def _load_support(tenant_id: UUID, given: GivenFact, now: datetime) -> tuple[Space, list[Turn]]:
    """Call inside the tenant's scope. Raises NotFound where a source is none of the subject's
    turns."""
    if not given.sources:
        metadata = given.metadata
        message = Message(given.role, given.text, given.speaker, metadata=metadata)
        request = IngestRequest(
            given.subject,
            [message],
            given.session,
            given.agent,
            subject_name=given.subject_name,
        )
        return store_read_turns(tenant_id, request, now)
    space = ensure_space(tenant_id, given.subject)
    if given.subject_name is not None:
        write_subject_name(space, given.subject_name)
    wanted = dict.fromkeys(given.sources)
    found = Turn.objects.filter(space=space, id__in=wanted).exclude(state=Turn.State.REDACTED)
    turns = list(found.order_by("seq"))
    if len(turns) != len(wanted):
        raise NotFound(_("no turn of this subject"), field="sources")
    return space, turns


def _build_draft(
    space: Space,
    effective: EffectivePolicy,
    given: GivenFact,
    turns: Sequence[Turn],
    now: datetime,
) -> FactDraft:
    first = turns[0]
    said_at = first.occurred_at
    start = (
        to_utc(given.valid_from, space.timezone, field="valid_from")
        if given.valid_from
        else said_at
    )
    until = to_utc(given.valid_to, space.timezone, field="valid_to") if given.valid_to else None
    if until is not None and until < start:
        raise InvalidInput(_("that is before it began"), field="valid_to")
    trusted = given.role in TRUSTED_ROLES
    usual = 1.0 if trusted else _UNTRUSTED_CONFIDENCE
    asked = usual if given.confidence is None else given.confidence
    owner = space.name_owner(given.owner) if given.owner else space.display_name
    usual_cardinality = "single" if is_single_valued(given.predicate) else "multi"
    fact = Fact(
        tenant_id=space.tenant_id,
        space=space,
        owner=owner,
        speaker=(given.speaker or first.speaker)[:120],
        text=given.text,
        text_key=hash_text(f"{owner} {given.text}"),
        predicate_key=given.predicate,
        object=given.value,
        cardinality=effective.policy.facts.get_cardinality(given.predicate) or usual_cardinality,
        valid_from=start,
        valid_to=until,
        status=Fact.Status.ACTIVE if until is None else Fact.Status.SUPERSEDED,
        asserted_at=said_at,
        recorded_at=now,
        confidence=asked if trusted else min(asked, _UNTRUSTED_CONFIDENCE),
        metadata=given.metadata,
    )
    own = not given.sources
    sources = [TurnEvidence(t.id, 0, len(t.text)) if own else TurnEvidence(t.id) for t in turns]
    return FactDraft(fact, sources, trusted=trusted, role=given.role, said=given.text)


def _write_draft(
    space: Space, effective: EffectivePolicy, draft: FactDraft, actor: str, now: datetime
) -> StoredFact:
    """Raises StaleRead."""
    with tenant_scope(space.tenant_id):
        embedder = select_embedder(space)
    prepared = resolve.prepare_claims(
        space, effective.policy, resolve.copy_drafts([draft]), LocalEngine(), embedder, now
    )
    changes = ChangeSet(
        space,
        EvolutionEvent.Kind.MANUAL,
        actor,
        now,
        "stored as given",
        trigger="remember",
        policy_version=effective.version,
    )
    with tenant_scope(space.tenant_id):
        (decided,) = resolve.write_claims(prepared, changes, now)
        changes.save()
    stored = not changes.event._state.adding
    return StoredFact(space, decided, changes.event.id if stored else None)
