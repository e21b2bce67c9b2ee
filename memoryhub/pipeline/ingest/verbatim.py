"""Messages kept word by word: each is a memory as it stands, and nothing is read from it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID
from zoneinfo import ZoneInfo

from django.utils import timezone

from memoryhub.dialogues.messages import hash_text
from memoryhub.dialogues.models import Turn
from memoryhub.engines.local.language import detect_language
from memoryhub.inference.selection import select_embedder
from memoryhub.pipeline import corrections
from memoryhub.pipeline.ingest.services import IngestRequest, append_messages
from memoryhub.pipeline.naming import write_subject_name
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope
from memoryhub.tenants.services import ensure_space
from notes.facts.terms import apply_terms
from notes.history.change_set import ChangeSet, TurnEvidence, filter_supports
from notes.history.unit_of_work import UnitOfWork
from notes.index import indexer
from notes.models import Fact
from notes.topics.segments import form_pages


def keep_verbatim(
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
    space, turns = store_read_turns(tenant_id, request, now)
    with tenant_scope(tenant_id):
        held = _load_facts_by_turn(turns)
    new = [turn for turn in turns if turn.id not in held]
    made = {turn.id: _build_verbatim_fact(space, turn, now) for turn in new}
    for fact in made.values():
        fact.corrected_by = actor if protected else ""
    if made:

        def work(bench: UnitOfWork, changes: ChangeSet) -> None:
            for turn in new:
                bench.add_row(changes, made[turn.id], [TurnEvidence(turn.id, 0, len(turn.text))])

        corrections.edit_rows(space, work, actor, now, reason="kept word by word")
    return [{**held, **made}[turn.id] for turn in turns]


def store_read_turns(
    tenant_id: UUID, request: IngestRequest, now: datetime
) -> tuple[Space, list[Turn]]:
    """Store turns that nobody is to read anything from. Opens its own scope."""
    with tenant_scope(tenant_id):
        space = ensure_space(tenant_id, request.subject)
        if request.subject_name is not None:
            write_subject_name(space, request.subject_name)
        appended = append_messages(space, request, now)
        if appended.new:
            form_pages(appended.session, appended.new)
            for turn in appended.new:
                turn.state, turn.lang = Turn.State.PROCESSED, detect_language(turn.text)
            Turn.objects.bulk_update(appended.new, ["state", "lang"])
            # Found by their words at once, and by meaning when the job has run that a correction
            # plans.
            zone = ZoneInfo(space.timezone)
            entries = indexer.build_turn_entries(appended.new, space.speakers, zone=zone)
            indexer.write_entries(space, select_embedder(space).name, entries, None)
    return space, appended.turns


def _load_facts_by_turn(turns: Sequence[Turn]) -> dict[UUID, Fact]:
    """By turn, the fact that says it, where there is one."""
    rows = filter_supports("fact", turn__in=[turn.id for turn in turns])
    of = dict(rows.order_by("-id").values_list("turn_id", "child_id"))
    facts = Fact.objects.in_bulk(of.values())
    return {turn: facts[fact] for turn, fact in of.items() if fact in facts}


def _build_verbatim_fact(space: Space, turn: Turn, now: datetime) -> Fact:
    owner = space.display_name
    fact = Fact(
        tenant_id=space.tenant_id,
        space=space,
        owner=owner,
        speaker=turn.speaker,
        text=turn.text,
        text_key=hash_text(f"{owner} {turn.text}"),
        valid_from=turn.occurred_at,
        asserted_at=turn.occurred_at,
        recorded_at=now,
        metadata=turn.metadata,
    )
    return apply_terms(fact, turn.terms)
