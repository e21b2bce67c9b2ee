"""Second part: models are called, nothing is held open. Rows come out, not yet saved."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

from numpy.typing import NDArray

from memoryhub.background.stopping import stop_if_unwanted
from memoryhub.dialogues.messages import hash_text, normalise_text
from memoryhub.dialogues.models import Turn
from memoryhub.dialogues.redaction import reads_over_bars
from memoryhub.engines.llm.grounding.attribution import split_sentences
from memoryhub.engines.local.attribution.made_texts import Span, find_made_spans
from memoryhub.engines.local.attribution.passed_on import is_passed_on, mask_passed_on
from memoryhub.engines.local.grammar.speech import classify_plain_act
from memoryhub.engines.local.language import detect_language
from memoryhub.engines.types import (
    ClaimChange,
    Embedder,
    Engine,
    Exchange,
    Extraction,
    ExtractionOptions,
    FactCandidate,
    SourceSpan,
    ToldMessage,
    cap_candidates,
)
from memoryhub.inference.selection import embed_or_none, select_embedder, select_engine
from memoryhub.pipeline.steps.derive.name_corrections import CorrectedName
from memoryhub.pipeline.steps.derive.read import DialogueBatch, TextWindow, build_exchange
from memoryhub.pipeline.steps.derive.resolve import FactDraft
from memoryhub.pipeline.steps.derive.verdicts import JudgedChange, build_held_claim
from memoryhub.tenants.scope import tenant_scope
from notes.facts.neighbours import (
    find_known_claims,
    list_relations_in_use,
    load_learned_predicates,
)
from notes.facts.terms import apply_terms
from notes.facts.trust import TRUSTED_ROLES
from notes.graph.identity import normalise_name
from notes.history.change_set import TurnEvidence
from notes.index import indexer
from notes.index.indexer import join_date_words
from notes.models import Derivation, Fact, Page


@dataclass(frozen=True, slots=True)
class KnownClaims:
    """What a model is shown of what is held while it reads: claims by handle, and the names of
    relations in use. `judges` False: it is shown nothing."""

    claims: Mapping[str, Fact] = field(default_factory=dict)
    relations: Sequence[str] = ()
    judges: bool = False

    def show(self, exchange: Exchange) -> Exchange:
        if not self.judges:
            return exchange
        held = [build_held_claim(handle, fact) for handle, fact in self.claims.items()]
        return replace(exchange, held=held, relations=self.relations)

    def find_change(self, change: ClaimChange) -> JudgedChange:
        fact = self.claims.get(change.target)
        return JudgedChange(change.op, fact.id if fact else None, "" if fact else change.target)


@dataclass
class PageDraft:
    """What one exchange yielded."""

    page: Page
    turns: list[Turn]
    construction: Extraction
    facts: list[FactDraft]
    wishes: Mapping[UUID, Sequence[str]]  # by turn, handles of what it asks to be forgotten
    related: Sequence[UUID] = ()  # earlier turns that the exchange bears on (R_t)
    corrected_names: Sequence[CorrectedName] = ()


@dataclass
class BatchDraft:
    """`vectors` are those of the first `entries`, None where the embedder is down."""

    pages: list[PageDraft]
    entries: list[indexer.EntryDraft]
    vectors: NDArray[Any] | None
    reader: Engine
    embedder: Embedder
    engine: str
    known: KnownClaims

    @property
    def facts(self) -> list[FactDraft]:
        return [fact for page in self.pages for fact in page.facts]

    @property
    def corrected_names(self) -> list[CorrectedName]:
        return [each for page in self.pages for each in page.corrected_names]

    def find_wished_facts(self, told: Mapping[str, Fact]) -> dict[UUID, list[Fact]]:
        """By turn, the claims that it asks to be forgotten, each once. `told`: by its handle, the
        row of each claim read with it."""
        rows = {**self.known.claims, **told}
        return {
            turn: list({rows[h].id: rows[h] for h in handles if h in rows}.values())
            for page in self.pages
            for turn, handles in page.wishes.items()
        }


# Claims that a model is shown beside the messages: of the first exchange, and of each further one.
_MAX_KNOWN, _MAX_KNOWN_FURTHER = 20, 5
_MAX_KNOWN_PAST = 5  # claims that are over, beside them: they may be asked to be forgotten
_MAX_KNOWN_OF_WISH = 60
_MAX_RELATIONS = 40
_PORTION_CHARACTERS = 20_000  # that rules read at once
_MAX_EMBEDDED_CHARACTERS = 2000  # of a turn, to find what it may bear on


def draft_batch(batch: DialogueBatch, now: datetime) -> BatchDraft:
    """Read the batch with the engine, and embed its turns; of a very long one the beginning."""
    engine, model = select_engine(batch.tenant, batch.policy), select_embedder(batch.space)
    stamp = f"{engine.name}/{engine.version}"
    known = _load_known_claims(batch, engine, model)
    pages = _draft_pages(batch, engine, known, stamp, now)
    entries = _build_turn_entries(batch, pages)
    at_once = [entry for entry in entries if entry.chunk < indexer.MAX_CHUNKS_AT_ONCE]
    later = [entry for entry in entries if entry.chunk >= indexer.MAX_CHUNKS_AT_ONCE]
    vectors, entries = indexer.embed_entries_or_none(at_once, model), [*at_once, *later]
    return BatchDraft(pages, entries, vectors, engine, model, stamp, known)


def _load_known_claims(batch: DialogueBatch, engine: Engine, embedder: Embedder) -> KnownClaims:
    """Open claims that the messages may bear on, for a model that reads all in one call."""
    facts, said = batch.policy.facts, [turn for turn in batch.own_words if turn.text.strip()]
    judges = facts.enabled and facts.source == "dialogue" and facts.resolution == "resolve"
    if engine.reads_by_rules or not (judges and batch.policy.llm.combine_calls and said):
        return KnownClaims()
    texts = [batch.mask_turn_text(turn)[:_MAX_EMBEDDED_CHARACTERS] for turn in said]
    vectors = embed_or_none(lambda: embedder.embed(texts))
    near = () if vectors is None else vectors
    most = _MAX_KNOWN + _MAX_KNOWN_FURTHER * (len(batch.pages) - 1)
    if any(classify_plain_act(turn.text) == "forget" for turn in said):
        most = max(most, _MAX_KNOWN_OF_WISH)  # what is meant may be said in quite other words
    with tenant_scope(batch.space.tenant_id):
        rows = find_known_claims(
            batch.space,
            embedder.name,
            list(near),
            "\n".join(texts),
            {turn.speaker for turn in said},
            most=most,
            most_past=_MAX_KNOWN_PAST,
        )
        relations = list_relations_in_use(batch.space, _MAX_RELATIONS)
    return KnownClaims({f"m{n}": row for n, row in enumerate(rows, 1)}, relations, judges=True)


def _draft_pages(
    batch: DialogueBatch, engine: Engine, known: KnownClaims, stamp: str, now: datetime
) -> list[PageDraft]:
    read = [page for page in batch.pages if batch.select_page_turns(page)]
    handles: dict[str, TextWindow] = {}
    exchanges = [known.show(build_exchange(batch, page, handles)) for page in read]
    built = _construct_exchanges(batch, engine, exchanges)
    learned = _load_learned_predicates(batch, built)
    messages = _quote_messages(batch) if engine.reads_by_rules else {}
    drafts = []
    for page, exchange, construction in zip(read, exchanges, built, strict=True):
        turns = batch.select_page_turns(page)
        _mark_turns(turns, construction, handles)
        made = (
            {} if engine.reads_by_rules else find_made_spans(exchange)
        )  # rules know by themselves
        related = [turn.id for turn in batch.find_related_turns(construction.related, handles)]
        build = partial(_build_fact, batch, stamp=stamp, now=now, learned=learned)
        drafts.append(
            PageDraft(
                page=page,
                turns=turns,
                construction=construction,
                facts=_draft_facts(
                    batch, construction, handles, known, build, made, related, messages
                ),
                wishes=_group_wishes_by_turn(construction, handles),
                related=related,
                corrected_names=_place_name_corrections(construction, handles),
            )
        )
    return drafts


def _place_name_corrections(
    built: Extraction, handles: Mapping[str, TextWindow]
) -> list[CorrectedName]:
    """Names that a person puts right in words of their own."""
    placed = ((each, handles[each.source.handle]) for each in built.name_corrections)
    return [
        CorrectedName(each, window.turn, _place_span(each.source, window))
        for each, window in placed
        if window.turn.role in TRUSTED_ROLES
        and not _is_over_bars(each.source, handles)
        and not is_passed_on(
            window.text, each.source.start, each.source.end, each.new, each.new, window.turn.speaker
        )
    ]


def _construct_exchanges(
    batch: DialogueBatch, engine: Engine, exchanges: Sequence[Exchange]
) -> list[Extraction]:
    """What the engine reads; nothing is asked where the policy wants nothing of it."""
    policy = batch.policy
    wanted = ExtractionOptions(
        facts=policy.facts.enabled and policy.facts.source == "dialogue",
        graph=policy.graph.enabled,
        notes=policy.notes.enabled,
        chain=policy.chain.enabled or policy.episodes.topic,  # who reads sees where topics begin
        combine=policy.llm.combine_calls,
        patterns=policy.facts.patterns,
        batch=policy.derive.batch_exchanges,
    )
    if wanted.facts:
        return _extract_by_portions(engine, exchanges, wanted)
    if not engine.reads_by_rules and not (wanted.combine and wanted.notes):
        return [_notice_wishes(exchange) for exchange in exchanges]
    # The same call describes notes. Rules cost nothing, and say who wishes to be forgotten.
    read = _extract_by_portions(engine, exchanges, wanted)
    return [replace(each, facts=(), relations=()) for each in read]


def _load_learned_predicates(batch: DialogueBatch, built: Sequence[Extraction]) -> set[str]:
    """Of the predicates that neither engine nor table speaks of, those with one value at a time.
    One statement, and none where there are no such predicates."""
    facts = (candidate for each in built for candidate in each.facts)
    keys = {each.predicate_key[:80] for each in facts if each.cardinality is None}
    if not keys:
        return set()
    with tenant_scope(batch.space.tenant_id):
        return load_learned_predicates(keys)


def _extract_by_portions(
    engine: Engine, exchanges: Sequence[Exchange], wanted: ExtractionOptions
) -> list[Extraction]:
    """Rules read a few exchanges at a time, and what was parsed is let go of: a batch as large as
    a book takes no more memory than a chapter, and ends soon when it is cancelled. A model is given
    all, for it makes questions of them by itself."""
    if not engine.reads_by_rules:
        return engine.extract_memories(exchanges, wanted)
    read: list[Extraction] = []
    for portion in _cut_portions(exchanges):
        stop_if_unwanted()
        read += engine.extract_memories(portion, wanted)
    return read


def _cut_portions(exchanges: Sequence[Exchange]) -> Iterator[list[Exchange]]:
    portion: list[Exchange] = []
    size = 0
    for exchange in exchanges:
        portion.append(exchange)
        size += sum(len(utterance.text) for utterance in exchange.utterances)
        if size >= _PORTION_CHARACTERS:
            yield portion
            portion, size = [], 0
    if portion:
        yield portion


def _notice_wishes(exchange: Exchange) -> Extraction:
    """A wish to forget is noticed under every policy, also where nothing else is read."""
    wished = [u.handle for u in exchange.utterances if classify_plain_act(u.text) == "forget"]
    return Extraction(speech_acts=dict.fromkeys(wished, "forget"))


def _group_wishes_by_turn(
    built: Extraction, handles: Mapping[str, TextWindow]
) -> Mapping[UUID, Sequence[str]]:
    found: dict[UUID, list[str]] = {}
    for wish in built.wishes:
        found.setdefault(handles[wish.source.handle].turn.id, []).extend(wish.targets)
    return found


def _mark_turns(turns: list[Turn], built: Extraction, handles: dict[str, TextWindow]) -> None:
    acts = {handles[handle].turn.id: act for handle, act in built.speech_acts.items()}
    for turn in turns:
        turn.state = Turn.State.PROCESSED
        turn.speech_act = acts.get(turn.id, "")
        turn.lang = detect_language(turn.text)


def _join_event_words(pages: list[PageDraft], zone: ZoneInfo) -> dict[UUID, str]:
    drafts = [fact for page in pages for fact in page.facts if fact.sources]
    return join_date_words(((draft.sources[0].turn_id, draft.fact) for draft in drafts), zone)


def _draft_facts(
    batch: DialogueBatch,
    built: Extraction,
    handles: dict[str, TextWindow],
    known: KnownClaims,
    build: Callable[[FactCandidate, Turn], Fact],
    made: Mapping[str, Sequence[Span]],
    related: Sequence[UUID],
    messages: Mapping[UUID, ToldMessage],
) -> list[FactDraft]:
    """`build` makes the row of a claim said in a turn. `made`: by handle, where in a text nobody
    speaks for themselves. `related`: the earlier turns that the exchange bears on. `messages`: by
    turn, what is read in whole."""
    drafts = []
    assisted = batch.is_assisted
    for at, candidate in cap_candidates(built.facts, batch.policy.facts.most_per_exchange).items():
        windows = [handles[span.handle] for span in candidate.sources if span.handle in handles]
        if not windows:
            continue  # a claim without support is not kept (I2)
        if all(_is_made(span, made) for span in candidate.sources if span.handle in handles):
            continue  # what an assistant drafted or a part it played
        if all(_is_over_bars(span, handles) for span in candidate.sources):
            continue  # a sentence that only an erasure made
        turn = windows[0].turn
        drafts.append(
            FactDraft(
                fact=build(candidate, turn),
                sources=[
                    *_build_sources(candidate, handles),
                    *build_context_sources(related, [turn]),
                ],
                trusted=turn.role in TRUSTED_ROLES,
                role=turn.role,
                correction=candidate.correction,
                handle=candidate.handle,
                quoted=candidate.quoted,
                withheld=candidate.withheld,
                passed_on=_is_passed_on(candidate, handles),
                said=_cut_said(candidate, handles),
                message=messages.get(turn.id),
                quotation=_quote_own_sentences(candidate, handles),
                assisted=assisted,
                changes=None
                if candidate.changes is None
                else [known.find_change(change) for change in candidate.changes],
                relations=[(r.src, r.label, r.dst) for r in built.relations if r.fact == at],
                types={normalise_name(entity.name): entity.type[:20] for entity in built.entities},
                aliases={normalise_name(entity.name): entity.aliases for entity in built.entities},
                named=_find_named_entities(built, candidate.text),
            )
        )
    return drafts


def _is_made(span: SourceSpan, made: Mapping[str, Sequence[Span]]) -> bool:
    return any(start <= span.start < end for start, end in made.get(span.handle, ()))


def _is_over_bars(span: SourceSpan, handles: Mapping[str, TextWindow]) -> bool:
    if span.handle not in handles:
        return True
    window = handles[span.handle]
    start = window.offset + span.start
    return reads_over_bars(window.turn.text, start, start + span.end - span.start)


def _is_passed_on(candidate: FactCandidate, handles: Mapping[str, TextWindow]) -> bool:
    """Whether nobody says it of their own: all that it rests on is told of others, or quoted."""
    windows = [(handles[s.handle], s) for s in candidate.sources if s.handle in handles]
    said = [(window.text, s) for window, s in windows if window.turn.role in TRUSTED_ROLES]
    return bool(said) and all(
        is_passed_on(text, s.start, s.end, candidate.text, candidate.owner, candidate.speaker)
        for text, s in said
    )


_SAID_AROUND = 150  # characters before and after the words that a claim rests on


def _quote_own_sentences(candidate: FactCandidate, handles: Mapping[str, TextWindow]) -> list[str]:
    """The sentences that it rests on, without what they pass on of others' words."""
    span = next(span for span in candidate.sources if span.handle in handles)
    return split_sentences(mask_passed_on(handles[span.handle].text), span.start, span.end)


def _cut_said(candidate: FactCandidate, handles: Mapping[str, TextWindow]) -> str:
    span = next(span for span in candidate.sources if span.handle in handles)
    text = handles[span.handle].text
    return text[max(0, span.start - _SAID_AROUND) : span.end + _SAID_AROUND]


_QUESTION = re.compile(r"[^.!?。！？\n]{2,200}[?？]")
_ENDS_WITH_QUESTION = 400  # characters of a reply that are looked at for one
_LONGEST_MESSAGE = 400  # characters: longer ones say more than can be read in one


def _quote_messages(batch: DialogueBatch) -> dict[UUID, ToldMessage]:
    """By turn, all that a person says to an assistant, with the question that it put just before.
    Nothing among people, of whom no message is read in whole."""
    if not batch.is_assisted:
        return {}
    found, asked = dict[UUID, ToldMessage](), ""
    for turn in [*batch.before[-1:], *batch.turns]:
        text = batch.mask_turn_text(turn).strip()
        if 0 < len(text) <= _LONGEST_MESSAGE:
            found[turn.id] = ToldMessage(text, asked)
        questions = _QUESTION.findall(text[-_ENDS_WITH_QUESTION:])
        asked = questions[-1].strip() if questions and turn.role == "assistant" else ""
    return found


def _find_named_entities(built: Extraction, text: str) -> list[str]:
    """Whom and what a claim names, by words of their own; days are no entities of the graph."""
    said = normalise_text(text)
    return [
        entity.name
        for entity in built.entities
        if entity.type != "date"
        and re.search(rf"(?<![a-z0-9]){re.escape(normalise_text(entity.name))}(?![a-z0-9])", said)
    ]


def build_context_sources(related: Sequence[UUID], turns: Collection[Turn]) -> list[TurnEvidence]:
    """The earlier turns that an exchange bears on: context, not support (AMA's R_t). `turns`: its
    own, of those that are to have it."""
    own, role = {turn.id for turn in turns}, Derivation.Role.CONTEXT
    return [TurnEvidence(turn_id, role=role) for turn_id in related if turn_id not in own]


def _build_sources(candidate: FactCandidate, handles: dict[str, TextWindow]) -> list[TurnEvidence]:
    return [
        _place_span(span, handles[span.handle])
        for span in candidate.sources
        if span.handle in handles
    ]


def _place_span(span: SourceSpan, window: TextWindow) -> TurnEvidence:
    return TurnEvidence(window.turn.id, window.offset + span.start, window.offset + span.end)


def _build_fact(
    batch: DialogueBatch,
    candidate: FactCandidate,
    turn: Turn,
    *,
    stamp: str,
    now: datetime,
    learned: Collection[str],
) -> Fact:
    """`learned`: predicates of which one value holds at a time, as was said of them before."""
    event = candidate.event
    key = candidate.predicate_key[:80]
    told = candidate.cardinality or ("single" if key in learned else "multi")
    known = batch.policy.facts.get_cardinality(key) or told
    # Only what holds can push out another value; a plan is one of many until it comes true.
    cardinality = known if candidate.polarity == "holds" else "multi"
    owner = batch.space.name_owner(candidate.owner)[:120]
    fact = Fact(
        tenant_id=batch.space.tenant_id,
        space=batch.space,
        owner=owner,
        speaker=candidate.speaker[:120],
        text=candidate.text,
        text_key=hash_text(f"{owner} {candidate.text}"),
        pattern=candidate.pattern,
        subject=candidate.subject,
        verb=candidate.verb,
        object=candidate.object,
        indirect_object=candidate.indirect_object,
        complement=candidate.complement,
        predicate_key=key,
        cardinality=cardinality,
        kind=candidate.kind,
        polarity=candidate.polarity,
        event_from=event.start if event else None,
        event_to=event.end if event else None,
        event_granularity=event.granularity if event else "",
        event_text=event.text[:120] if event else "",
        valid_from=_find_start(candidate, turn.occurred_at),
        asserted_at=turn.occurred_at,
        recorded_at=now,
        confidence=candidate.confidence,
        engine=stamp,
        metadata=turn.metadata,
    )
    if candidate.until is not None:
        fact.valid_to = max(candidate.until, fact.valid_from)
        fact.status = Fact.Status.SUPERSEDED
    return apply_terms(fact, turn.terms)


def _find_start(candidate: FactCandidate, said_at: datetime) -> datetime:
    """Since when the claim is known to hold. A plan does once it is told; and so does a state that
    began "this year" or "this month", which is no word that it held on the first, beside what was
    so then."""
    event = candidate.event
    if event is None or candidate.polarity == "planned":
        return said_at
    is_going_on = event.granularity in ("year", "month") and event.start <= said_at < event.end
    is_state = candidate.kind != "event" and candidate.until is None
    return said_at if is_going_on and is_state else event.start


def _build_turn_entries(batch: DialogueBatch, pages: list[PageDraft]) -> list[indexer.EntryDraft]:
    """Also the turn before anew: its window now has a right-hand neighbour."""
    zone = ZoneInfo(batch.space.timezone)
    return indexer.build_turn_entries(
        batch.around,
        batch.space.speakers,
        time_words=batch.event_words | _join_event_words(pages, zone),
        only=indexer.find_touched_turns(batch.around, {turn.id for turn in batch.own_words}),
        zone=zone,
    )
