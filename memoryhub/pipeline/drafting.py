"""Second part: models are called, nothing is held open. Rows come out, not yet saved."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

import structlog
from numpy.typing import NDArray

from memoryhub.dialogues.messages import text_hash
from memoryhub.dialogues.models import Turn
from memoryhub.engines.local.language import language_of
from memoryhub.engines.types import (
    Construction,
    Embedder,
    Engine,
    Exchange,
    FactCandidate,
    Wanted,
)
from memoryhub.errors import EngineError
from memoryhub.models_in_use import embedder_for, engine_for
from memoryhub.pipeline.claiming import FactDraft
from memoryhub.pipeline.reading import Batch, Window, exchange
from notes import indexing
from notes.dating import joined
from notes.merging import key
from notes.models import Derivation, Fact, Page
from notes.recording import Source
from notes.terms import under_terms
from notes.trust import PEOPLE

log = structlog.get_logger()


@dataclass
class PageDraft:
    """What one exchange yielded."""

    page: Page
    turns: list[Turn]
    built: Construction
    facts: list[FactDraft]


@dataclass
class Draft:
    pages: list[PageDraft]
    entries: list[indexing.Entry]
    vectors: NDArray[Any] | None
    reader: Engine
    embedder: Embedder
    engine: str

    @property
    def facts(self) -> list[FactDraft]:
        return [fact for page in self.pages for fact in page.facts]


def draft(batch: Batch, now: datetime) -> Draft:
    """Read the batch with the engine, and embed its turns."""
    engine, model = engine_for(batch.tenant, batch.policy), embedder_for(batch.space)
    stamp = f"{engine.name}/{engine.version}"
    pages = _pages(batch, engine, stamp, now)
    entries = _entries(batch, pages)
    return Draft(pages, entries, _vectors(entries, model), engine, model, stamp)


def _vectors(entries: Sequence[indexing.Entry], model: Embedder) -> NDArray[Any] | None:
    """None when the embedder is down: the rows are kept and found by their words (E18)."""
    try:
        return indexing.embed_entries(entries, model)
    except EngineError as error:
        log.warning("embedder.failed", error=str(error))
        return None


def _pages(batch: Batch, engine: Engine, stamp: str, now: datetime) -> list[PageDraft]:
    read = [page for page in batch.pages if batch.turns_of(page)]
    handles: dict[str, Window] = {}
    built = _constructed(batch, engine, [exchange(batch, page, handles) for page in read])
    drafts = []
    for page, construction in zip(read, built, strict=True):
        turns = batch.turns_of(page)
        _mark(turns, construction, handles)
        drafts.append(
            PageDraft(
                page=page,
                turns=turns,
                built=construction,
                facts=_facts(batch, construction, handles, stamp, now),
            )
        )
    return drafts


def _constructed(batch: Batch, engine: Engine, exchanges: Sequence[Exchange]) -> list[Construction]:
    """What the engine reads; nothing is asked where the policy wants nothing of it."""
    policy = batch.policy
    wanted = Wanted(
        facts=policy.facts.enabled and policy.facts.source == "dialogue",
        graph=policy.graph.enabled,
        notes=policy.notes.enabled,
        chain=policy.chain.enabled,
        combine=policy.llm.combine_calls,
        batch=policy.derive.batch_exchanges,
    )
    if wanted.facts:
        return engine.construct(exchanges, wanted)
    if engine.name == "llm" and not (wanted.combine and wanted.notes):
        return [Construction() for _ in exchanges]
    # The same call describes notes. Rules cost nothing, and say who wishes to be forgotten.
    read = engine.construct(exchanges, wanted)
    return [replace(each, facts=(), relations=()) for each in read]


def _mark(turns: list[Turn], built: Construction, handles: dict[str, Window]) -> None:
    acts = {handles[handle].turn.id: act for handle, act in built.speech_acts.items()}
    for turn in turns:
        turn.state = Turn.State.PROCESSED
        turn.speech_act = acts.get(turn.id, "")
        turn.lang = language_of(turn.text)


def _event_words(pages: list[PageDraft], zone: ZoneInfo) -> dict[UUID, str]:
    drafts = [fact for page in pages for fact in page.facts if fact.sources]
    return joined(((draft.sources[0].turn_id, draft.fact) for draft in drafts), zone)


def _facts(
    batch: Batch, built: Construction, handles: dict[str, Window], stamp: str, now: datetime
) -> list[FactDraft]:
    drafts = []
    related = [turn.id for turn in batch.related(built.related, handles)]
    for at, candidate in enumerate(built.facts[: batch.policy.facts.most_per_exchange]):
        windows = [handles[span.handle] for span in candidate.sources if span.handle in handles]
        if not windows:
            continue  # a claim without support is not kept (I2)
        turn = windows[0].turn
        drafts.append(
            FactDraft(
                fact=_fact(batch, candidate, turn, stamp, now),
                sources=[*_sources(candidate, handles), *_contexts(related, turn)],
                trusted=turn.role in PEOPLE,
                role=turn.role,
                correction=candidate.correction,
                relations=[(r.src, r.label, r.dst) for r in built.relations if r.fact == at],
                types={key(entity.name): entity.type[:20] for entity in built.entities},
            )
        )
    return drafts


def _contexts(related: Sequence[UUID], turn: Turn) -> list[Source]:
    """The earlier turns that a claim's exchange bears on: context, not support (AMA's R_t)."""
    role = Derivation.Role.CONTEXT
    return [Source(turn_id, role=role) for turn_id in related if turn_id != turn.id]


def _sources(candidate: FactCandidate, handles: dict[str, Window]) -> list[Source]:
    return [
        Source(
            handles[span.handle].turn.id,
            handles[span.handle].offset + span.start,
            handles[span.handle].offset + span.end,
        )
        for span in candidate.sources
        if span.handle in handles
    ]


def _fact(batch: Batch, candidate: FactCandidate, turn: Turn, stamp: str, now: datetime) -> Fact:
    event = candidate.event
    planned = candidate.polarity == "planned"
    # Only what holds can push out another value; a plan is one of many until it comes true.
    cardinality = candidate.cardinality if candidate.polarity == "holds" else "multi"
    fact = Fact(
        tenant_id=batch.space.tenant_id,
        space=batch.space,
        owner=candidate.owner[:120],
        speaker=candidate.speaker[:120],
        text=candidate.text,
        text_key=text_hash(f"{candidate.owner} {candidate.text}"),
        pattern=candidate.pattern,
        s=candidate.s,
        v=candidate.v,
        o=candidate.o,
        o2=candidate.o2,
        c=candidate.c,
        predicate_key=candidate.predicate_key[:80],
        cardinality=cardinality,
        kind=candidate.kind,
        polarity=candidate.polarity,
        event_from=event.start if event else None,
        event_to=event.end if event else None,
        event_granularity=event.granularity if event else "",
        event_text=event.text[:120] if event else "",
        valid_from=turn.occurred_at if event is None or planned else event.start,
        asserted_at=turn.occurred_at,
        recorded_at=now,
        confidence=candidate.confidence,
        engine=stamp,
        metadata=turn.metadata,
    )
    return under_terms(fact, turn.terms)


def _entries(batch: Batch, pages: list[PageDraft]) -> list[indexing.Entry]:
    """Also the turn before anew: its window now has a right-hand neighbour."""
    zone = ZoneInfo(batch.space.timezone)
    return indexing.turn_entries(
        batch.around,
        batch.space.speakers,
        time_words=batch.event_words | _event_words(pages, zone),
        only=indexing.touched(batch.around, {turn.id for turn in batch.own_words}),
        zone=zone,
    )
