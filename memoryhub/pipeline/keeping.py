"""Messages kept word by word: each is a memory as it stands, and nothing is read from it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID
from zoneinfo import ZoneInfo

from django.utils import timezone

from memoryhub.dialogues.messages import text_hash
from memoryhub.dialogues.models import Turn
from memoryhub.engines.local.language import language_of
from memoryhub.models_in_use import embedder_for
from memoryhub.pipeline import restoring
from memoryhub.pipeline.services import IngestRequest, append
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope
from memoryhub.tenants.services import ensure_space
from notes import indexing
from notes.correcting import by_hand
from notes.models import Derivation, Fact
from notes.placing import form_pages
from notes.recording import ChangeSet, Source
from notes.terms import under_terms
from notes.workbench import Workbench


def keep(
    tenant_id: UUID,
    request: IngestRequest,
    actor: str,
    now: datetime | None = None,
    *,
    protected: bool = False,
) -> list[Fact]:
    """Store the messages and a fact of each, in order; no model reads them. Of a message that was
    delivered before, the fact it has. Opens its own scopes, and embeds with nothing open.

    `protected`: they are a person's word against the pipeline, which only proposes against them.

    Raises InvalidInput and TooLarge as `ingest` does.
    """
    now = now or timezone.now()
    space, turns = _stored(tenant_id, request, now)
    with tenant_scope(tenant_id):
        held = _facts_of(turns)
    new = [turn for turn in turns if turn.id not in held]
    made = {turn.id: _verbatim(space, turn, now) for turn in new}
    for fact in made.values():
        fact.corrected_by = actor if protected else ""
    if made:

        def work(bench: Workbench, changes: ChangeSet) -> None:
            for turn in new:
                bench.add(changes, made[turn.id], [Source(turn.id, 0, len(turn.text))])

        event = by_hand(space, actor, now, "kept word by word", work)
        restoring.settle(space.id, tenant_id, str(event.id), now)
    return [{**held, **made}[turn.id] for turn in turns]


def _stored(tenant_id: UUID, request: IngestRequest, now: datetime) -> tuple[Space, list[Turn]]:
    with tenant_scope(tenant_id):
        space = ensure_space(tenant_id, request.subject)
        appended = append(space, request, now)
        if appended.new:
            form_pages(appended.session, appended.new)
            for turn in appended.new:
                turn.state, turn.lang = Turn.State.PROCESSED, language_of(turn.text)
            Turn.objects.bulk_update(appended.new, ["state", "lang"])
            _indexed(space, appended.new)
    return space, appended.turns


def _indexed(space: Space, turns: Sequence[Turn]) -> None:
    """Found by their words at once, and by meaning when the job that `settle` plans has run."""
    entries = indexing.turn_entries(turns, space.speakers, zone=ZoneInfo(space.timezone))
    indexing.write_entries(space, embedder_for(space).name, entries, None)


def _facts_of(turns: Sequence[Turn]) -> dict[UUID, Fact]:
    """By turn, the fact that says it, where there is one."""
    rows = Derivation.objects.filter(
        child_type="fact", turn__in=[turn.id for turn in turns], role=Derivation.Role.SUPPORT
    )
    of = dict(rows.order_by("-id").values_list("turn_id", "child_id"))
    facts = Fact.objects.in_bulk(of.values())
    return {turn: facts[fact] for turn, fact in of.items() if fact in facts}


def _verbatim(space: Space, turn: Turn, now: datetime) -> Fact:
    owner = (space.name or space.subject)[:120]
    fact = Fact(
        tenant_id=space.tenant_id,
        space=space,
        owner=owner,
        speaker=turn.speaker,
        text=turn.text,
        text_key=text_hash(f"{owner} {turn.text}"),
        valid_from=turn.occurred_at,
        asserted_at=turn.occurred_at,
        recorded_at=now,
        metadata=turn.metadata,
    )
    return under_terms(fact, turn.terms)
