"""Wishes to be forgotten, said in the dialogue (spec E20, AA7).

Only the subject's own wish counts. What it means is found among the claims held and proposed for
erasure. Nothing is erased here: `reviewing` grants what is certain, a person answers the rest.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import QuerySet

from memoryhub.dialogues.messages import normalise_text
from memoryhub.dialogues.models import Turn
from memoryhub.engines.llm.grounding.attribution import names_something
from memoryhub.engines.local.attribution.passed_on import mask_passed_on, strip_hidden
from memoryhub.engines.local.claims.predicates import (
    find_question_predicates,
    is_single_valued,
)
from memoryhub.engines.local.grammar.speech import (
    asks_to_forget,
    extract_wish_words,
    may_ask_to_forget,
)
from memoryhub.engines.types import ClaimCandidate, ClaimComparison, Embedder, Engine
from memoryhub.inference.selection import embed_or_none
from memoryhub.pipeline.steps.derive.offers import OfferLimits
from memoryhub.pipeline.steps.derive.verdicts import build_held_claim
from memoryhub.policies.schema import Policy
from memoryhub.subject_names import list_same_names
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope
from notes.facts.decide import ResolutionOp
from notes.facts.neighbours import (
    find_facts_about,
    find_facts_of,
    find_open_facts,
    find_past_facts,
    list_named_owners,
    list_named_things,
    list_open_owners,
    name_others,
    name_owners,
    take_turns,
)
from notes.facts.trust import TRUSTED_ROLES
from notes.graph.identity import normalise_name
from notes.models import Derivation, Fact
from notes.review.proposals import propose_change

MAX_REQUEST_CHARACTERS = 500  # characters of a wish that are compared
_MAX_ROWS = 500  # the newest claims of a predicate among which each wish finds its own
_JUST_BEFORE = 6  # messages, those of the assistant among them


@dataclass(frozen=True, slots=True)
class ForgetRequest:
    """A turn that asks for something to be forgotten, and the claims it means, or may mean.
    `named`: who read the turn said which, and did not only find what comes near."""

    turn: Turn
    facts: Sequence[Fact] = field(default_factory=tuple)
    is_certain: bool = True  # what was found is what is meant
    named: bool = False

    def render_decision(self) -> dict[str, Any]:
        """In the words of the API."""
        only = self.facts[0] if len(self.facts) == 1 else None
        return {
            "text": self.turn.text[:MAX_REQUEST_CHARACTERS],
            "op": ResolutionOp.FORGET.value,
            "reason": describe_request(self),
            "fact_id": "",
            "target": {"id": str(only.id), "text": only.text} if only else None,
            "turns": [str(self.turn.id)],
        }


def describe_request(wish: ForgetRequest) -> str:
    count = len(wish.facts)
    if not count:
        return "asked to forget; which memory is meant is to be chosen"
    return (
        f"asked to forget, {count} {'memory' if count == 1 else 'memories'} found that it may mean"
    )


def is_from_subject(space: Space, turn: Turn) -> bool:
    """Whether the subject says it. A person is taken for the subject who is called so, or, where
    nobody who spoke here is, any person: the subject's id may be no name."""
    names = {normalise_text(name) for name in space.called_names}
    spoken = {normalise_text(name) for name in space.speakers}
    return turn.role in TRUSTED_ROLES and (
        normalise_text(turn.speaker) in names or not names & spoken
    )


def prepare_requests(
    space: Space,
    policy: Policy,
    turns: Sequence[Turn],
    engine: Engine,
    embedder: Embedder,
    meant: Mapping[UUID, Sequence[Fact]] | None = None,
    new: Sequence[tuple[Fact, Any]] = (),
) -> list[ForgetRequest]:
    """What the wishes among `turns` mean: what `meant` says by turn, else what the engine says of
    claims held, and of those read with the turns: the `new`, each with its vector if it has one.

    Call outside any scope. Raises EngineError.
    """
    said = meant or {}
    wished = [t for t in turns if t.speech_act == "forget" and is_from_subject(space, t)]
    known = [ForgetRequest(t, said[t.id], named=True) for t in wished if said.get(t.id)]
    asked = [turn for turn in wished if not said.get(turn.id)]
    return [*known, *_ask_about_requests(space, policy, asked, engine, embedder, new)]


def _ask_about_requests(
    space: Space,
    policy: Policy,
    asked: Sequence[Turn],
    engine: Engine,
    embedder: Embedder,
    new: Sequence[tuple[Fact, Any]],
) -> list[ForgetRequest]:
    if not asked:
        return []
    texts = [turn.words[:MAX_REQUEST_CHARACTERS] for turn in asked]
    told = [extract_wish_words(text) or text for text in texts] if engine.reads_by_rules else texts
    vectors = embed_or_none(lambda: embedder.embed(told))
    with tenant_scope(space.tenant_id):
        limits = OfferLimits.of(engine, policy)
        offered = _load_offered_facts(space, asked, vectors, embedder.name, limits, new)
    meant = _ask_meant_facts(space, asked, offered, engine, embedder.name)
    says_which = not engine.reads_by_rules
    requests = [ForgetRequest(turn, *meant.get(at, ([], True))) for at, turn in enumerate(asked)]
    return [
        replace(wish, named=at in meant and says_which and not _are_rivals(wish.facts))
        for at, wish in enumerate(requests)
    ]


def _are_rivals(facts: Sequence[Fact]) -> bool:
    """Whether two are held of which somebody has one at a time: of two addresses a wish may mean
    the one or the other (E20)."""
    held = [f for f in facts if f.valid_to is None and is_single_valued(f.predicate_key)]
    return len({(fact.owner, fact.predicate_key) for fact in held}) < len(held)


def _load_offered_facts(
    space: Space,
    wishes: Sequence[Turn],
    vectors: Any,
    model: str,
    limits: OfferLimits,
    new: Sequence[tuple[Fact, Any]],
) -> list[dict[Fact, float | None]]:
    """By wish, as far as the limits let, the claims that it may mean, with the cosines known: those
    of the predicate asked for, those near in meaning, those `new` with it, those about what and
    whom it names, those told last, and those that are over; of the speaker under all names, and of
    other people. Each way has its share, and nothing is too far: "forget my address" is like no
    street.

    As many statements for many wishes as for one.
    """
    texts = [turn.words[:MAX_REQUEST_CHARACTERS] for turn in wishes]
    owners = list_open_owners(space)
    names = [list_same_names(turn.speaker, owners, space.called_names) for turn in wishes]
    near = _find_near_facts(space, names, vectors, model, limits.claims)
    past: list[list[UUID]] = [[] for _ in wishes]
    if vectors is not None and limits.past:
        over = find_past_facts(space, model, vectors, most=limits.past)
        past = [[row for row, _ in found] for found in over]
    ways = zip(
        *_find_facts_asked_for(space, wishes, names),
        [list(own) for own, _ in near],
        [list(others) for _, others in near],
        [_rank_new_facts(new, turn, vectors, at) for at, turn in enumerate(wishes)],
        _find_named_facts(space, texts, names, owners),
        find_facts_of(space, names),  # told last: "forget that" has no word in common with it
        past,
        strict=True,
    )
    chosen = [take_turns(limits.claims, *found) for found in ways]
    kept = Fact.objects.filter(space=space, retired_at=None).exclude(status=Fact.Status.RETRACTED)
    rows = kept.in_bulk({row for found in chosen for row in found})
    rows |= {fact.id: fact for fact, _ in new}
    return [
        {rows[row]: {**own, **others}.get(row) for row in found if row in rows}
        for found, (own, others) in zip(chosen, near, strict=True)
    ]


def _rank_new_facts(
    new: Sequence[tuple[Fact, Any]], wish: Turn, vectors: Any, at: int
) -> list[UUID]:
    """What was told until then and is not stored yet, the nearest in meaning first."""
    told = [(fact, vector) for fact, vector in new if fact.asserted_at <= wish.occurred_at]
    if vectors is not None:
        near = {f.id: float(v @ vectors[at]) for f, v in told if v is not None}
        told.sort(key=lambda each: near.get(each[0].id, -1.0), reverse=True)
    return [fact.id for fact, _ in told]


def _select_open_facts(space: Space) -> QuerySet[Fact]:
    open_ones = Fact.objects.filter(space=space, retired_at=None, valid_to=None)
    return open_ones.exclude(status=Fact.Status.RETRACTED)


def _find_facts_asked_for(
    space: Space, wishes: Sequence[Turn], names: Sequence[Collection[str]]
) -> tuple[list[list[UUID]], list[list[UUID]]]:
    """By wish, claims of a predicate that it asks for, the newest first: about the speaker, and
    about others. One statement."""
    keys = [find_question_predicates(turn.text) for turn in wishes]
    asked_for = _select_open_facts(space).filter(
        predicate_key__in={k for each in keys for k in each}
    )
    rows = list(
        asked_for.order_by("-asserted_at").values_list("id", "owner", "predicate_key")[:_MAX_ROWS]
    )
    found = [[row for row in rows if row[2] in wanted] for wanted in keys]
    own = [
        [row for row, owner, _ in mine if owner in called]
        for mine, called in zip(found, names, strict=True)
    ]
    others = [
        [row for row, owner, _ in mine if owner not in called]
        for mine, called in zip(found, names, strict=True)
    ]
    return own, others


def _find_named_facts(
    space: Space, texts: Sequence[str], names: Sequence[Collection[str]], owners: Sequence[str]
) -> list[list[UUID]]:
    """By wish, claims about whom it names, and those with an edge to what it names; the speaker is
    in every wish. Three statements at most."""
    things = list_named_things(space, texts)
    told = [{*list_named_owners(owners, text)} for text in texts]
    mine = [{normalise_name(name) for name in called} for called in names]
    edges = find_facts_about(space, [(None, {*t} - m) for t, m in zip(things, mine, strict=True)])
    about = find_facts_of(space, [t - {*called} for t, called in zip(told, names, strict=True)])
    return [[*about[at], *edges.get(at, ())] for at in range(len(texts))]


def _find_near_facts(
    space: Space, names: Sequence[Collection[str]], vectors: Any, model: str, most: int
) -> list[tuple[dict[UUID, float], dict[UUID, float]]]:
    """By wish, the claims nearest in meaning with their cosines: the speaker's own, and those of
    other people, for a wish may be about a sister's illness. One statement."""
    if vectors is None:
        return [({}, {}) for _ in names]
    whose = [*map(name_owners, names), *map(name_others, names)]
    found = find_open_facts(
        space, model, list(zip(whose, [*vectors, *vectors], strict=True)), most=most
    )
    own, others = found[: len(names)], found[len(names) :]
    return [(dict(mine), dict(rest)) for mine, rest in zip(own, others, strict=True)]


def _ask_meant_facts(
    space: Space,
    asked: Sequence[Turn],
    offered: Sequence[Mapping[Fact, float | None]],
    engine: Engine,
    model: str,
) -> dict[int, tuple[list[Fact], bool]]:
    """By place, the claims a wish means, and whether it is certain that it means these."""
    rows = {fact.id: fact for facts in offered for fact in facts}
    handles = {row: f"m{number}" for number, row in enumerate(rows, 1)}
    candidates = [
        ClaimCandidate(
            handle=f"w{at}",
            text=turn.words[:MAX_REQUEST_CHARACTERS],
            owner=turn.speaker,
            speaker=turn.speaker,
            said_at=turn.occurred_at,
            offered=tuple(handles[fact.id] for fact in offered[at]),
            is_wish=True,
            similar=tuple(offered[at].values()),
        )
        for at, turn in enumerate(asked)
        if offered[at]
    ]
    if not candidates:
        return {}
    held = [build_held_claim(handle, rows[row]) for row, handle in handles.items()]
    verdicts = engine.resolve_claims(
        ClaimComparison(candidates, held, space.display_name, space.called_names, model)
    )
    by_handle = {handle: rows[row] for row, handle in handles.items()}
    found: dict[int, tuple[list[Fact], bool]] = {}
    for verdict in verdicts:
        if verdict.op == "forget" and verdict.target in by_handle:
            at = int(verdict.candidate[1:])
            facts, certain = found.get(at, ([], True))
            found[at] = ([*facts, by_handle[verdict.target]], certain and verdict.sure)
    return found


def _is_wished(wish: ForgetRequest) -> bool:
    """Whether the speaker's own words ask for something to be forgotten, and say what, or were said
    right after it was told ("forget that"). What a mail or a page that they quote asks for waits
    for a person, and so does whatever is written with characters that nobody sees."""
    own = strip_hidden(mask_passed_on(wish.turn.words))
    if not (may_ask_to_forget(own) or asks_to_forget(own)):
        return False
    return names_something(extract_wish_words(own)) or _was_just_told(wish)


def _was_just_told(wish: ForgetRequest) -> bool:
    """Whether each memory meant rests on the message of the wish or on one of the last before it.
    One statement."""
    told = Derivation.objects.filter(
        child_type="fact",
        child_id__in=[fact.id for fact in wish.facts],
        turn__space=wish.turn.space_id,
        turn__seq__range=(wish.turn.seq - _JUST_BEFORE, wish.turn.seq),
        role=Derivation.Role.SUPPORT,
    )
    return {fact.id for fact in wish.facts} == set(told.values_list("child_id", flat=True))


def propose_erasures(
    space: Space, policy: Policy, wishes: Sequence[ForgetRequest], now: datetime
) -> None:
    """Propose the erasures. `auto` in the payload: the policy lets it be done without asking,
    since what is meant is certain: one claim, or no more than a turn may end, each named or read as
    meant, and asked for in the speaker's own words. `guessed`: nothing that it says names them, so
    that they are offered and not chosen. Call inside the tenant's scope."""
    for wish in wishes:
        only = wish.facts[0] if len(wish.facts) == 1 else None
        few = len(wish.facts) <= policy.facts.most_closures
        read = bool(wish.facts) and wish.is_certain and not _are_rivals(wish.facts)
        several = (wish.named or read) and few and policy.judge.trust != "confirm"
        clear = several or (only is not None and wish.is_certain)
        certain = clear and _is_wished(wish)
        propose_change(
            space,
            "erase",
            str(wish.turn.id),
            describe_request(wish),
            now,
            payload={
                "fact_ids": [str(fact.id) for fact in wish.facts],
                "auto": certain and policy.erase.on_request == "auto",
                **({} if clear or wish.named or not wish.facts else {"guessed": True}),
            },
            row=only,
            turn_ids=[wish.turn.id],
        )
