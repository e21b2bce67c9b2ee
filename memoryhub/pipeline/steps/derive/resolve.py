"""From candidates to claims: compare with what is held, decide, write (spec §11.7).

Used by the derivation of dialogue and by promotion alike. `prepare` reads in a short transaction
of its own and asks models with nothing open; `write` runs in the caller's transaction and only
writes what was decided, if nothing it rests on has changed meanwhile.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

from memoryhub.engines.local.language import choose_floor
from memoryhub.engines.types import Embedder, Engine, ToldMessage
from memoryhub.pipeline.jobs.step import StaleRead
from memoryhub.pipeline.steps.derive.offers import OfferLimits
from memoryhub.pipeline.steps.derive.verdicts import ClaimDecider, ClaimQuestion, JudgedChange
from memoryhub.policies.schema import Policy
from memoryhub.subject_names import is_same_name, list_same_names
from memoryhub.tenants.database.locks import lock_until_commit
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope
from notes.facts.decide import ClaimDecision
from notes.facts.neighbours import (
    OF_ANYBODY,
    find_facts_about,
    find_facts_naming,
    find_facts_of,
    find_open_facts,
    find_same_predicate,
    list_named_owners,
    list_open_owners,
    name_others,
    name_owners,
    take_turns,
)
from notes.facts.resolve import ResolutionRules, Resolver, find_refuted_candidates, load_held_claims
from notes.facts.trust import find_distrust_reason
from notes.graph import build as graphs
from notes.graph.build import FactTriples, GraphDraft, Triple
from notes.graph.identity import normalise_name
from notes.history.change_set import ChangeSet, TurnEvidence
from notes.index import indexer
from notes.models import Derivation, Fact
from notes.review.proposals import propose_candidate

REFUTED_REASON = "a person has said that this was never so"


@dataclass
class FactDraft:
    """A claim to be resolved. `fact` is a row not yet saved, `sources` its support, never empty.

    `trusted`: said by a person, not by an assistant or a tool. `correction`: the speaker takes
    back what was said. `types` are the types of entities by their keys
    (`notes.graph.identity.normalise_name`), `aliases` their other names.
    """

    fact: Fact
    sources: list[TurnEvidence]
    trusted: bool
    correction: bool = False
    relations: list[Triple] = field(default_factory=list)
    types: Mapping[str, str] = field(default_factory=dict)
    aliases: Mapping[str, Sequence[str]] = field(default_factory=dict)
    named: Sequence[str] = ()  # entities that its text names
    role: str = "user"  # in which the first source was said
    handle: str = ""  # of the claim among those read with it
    quoted: bool = True  # the words it rests on were found, and speak of it
    withheld: str = ""  # why a person is asked before anything comes of it
    passed_on: bool = False  # told of what somebody else says, or in words that are quoted
    changes: Sequence[JudgedChange] | None = None  # what the engine said while it read, if it did
    said: str = ""  # the words of its message around those it rests on
    message: ToldMessage | None = None  # all of them; None: more than is read in one
    quotation: Sequence[str] = ()  # the speaker's own sentences that it rests on
    assisted: bool = False  # told to an assistant, and not among people
    renames: UUID | None = None  # the claim held that it tells with a name put right

    @property
    def may_end(self) -> bool:
        """Whether it says that something is over or never was so, of which it need not speak."""
        return self.correction or self.fact.polarity in ("denied", "ended")

    @property
    def supporting_sources(self) -> list[TurnEvidence]:
        """Without the turns that are only its context."""
        return [s for s in self.sources if s.role == Derivation.Role.SUPPORT]


def copy_drafts(drafts: Sequence[FactDraft]) -> list[FactDraft]:
    """The drafts with rows of their own: deciding changes them, and may have to be done again."""
    return [replace(draft, fact=copy(draft.fact)) for draft in drafts]


@dataclass(frozen=True, slots=True)
class DecidedDraft:
    """What became of a draft. `fact` is the row that now says it: new, or the one it repeats;
    None when nothing does."""

    draft: FactDraft
    decision: ClaimDecision[Any]
    fact: Fact | None

    def render_decision(self) -> dict[str, Any]:
        """In the words of the API."""
        target = self.decision.target
        return {
            "text": self.draft.fact.text,
            "op": self.decision.op.value,
            "reason": self.decision.reason,
            "fact_id": str(self.fact.id) if self.fact else "",
            "target": {"id": str(target.id), "text": target.text} if target else None,
            "turns": [str(source.turn_id) for source in self.draft.supporting_sources],
        }


@dataclass(frozen=True, slots=True)
class PreparedClaims:
    """Decisions taken and vectors made, not yet written. `asked` are the drafts as they were read:
    a decision may give a draft the owner and the predicate of what it makes more exact.
    `read_versions` are the versions rested on."""

    space: Space
    drafts: Sequence[FactDraft]
    asked: Sequence[FactDraft]
    decisions: Sequence[DecidedDraft]
    resolver: Resolver
    graph: GraphDraft | None
    read_versions: Mapping[UUID, int]
    entries: Sequence[indexer.EntryDraft]
    vectors: indexer.Vectors | None
    model: str

    @property
    def inserted_facts(self) -> list[Fact]:
        """The facts that `write` will store."""
        return self.resolver.inserted

    def list_new_claims(self) -> list[tuple[Fact, Any]]:
        """These facts with their vectors; None where the embedder is down."""
        found = () if self.vectors is None else zip(self.entries, self.vectors, strict=True)
        vectors = {entry.owner_id: vector for entry, vector in found}
        return [(fact, vectors.get(fact.id)) for fact in self.inserted_facts]


def prepare_claims(
    space: Space,
    policy: Policy,
    drafts: Sequence[FactDraft],
    engine: Engine,
    embedder: Embedder,
    now: datetime,
) -> PreparedClaims:
    """Decide what each draft does to the claims held. Opens its own scope: call outside any.

    Raises EngineError when a model fails: nothing is decided then, and the job tries again.
    """
    zone = ZoneInfo(space.timezone)
    asked = indexer.embed_entries_or_none(
        indexer.build_fact_entries([d.fact for d in drafts], zone=zone), embedder
    )
    limits = OfferLimits.of(engine, policy)
    read_drafts = copy_drafts(drafts)
    earlier = [
        _find_earlier_drafts(drafts, at, asked, embedder.name, limits) for at in range(len(drafts))
    ]
    room = [min(limits.claims, limits.compared - len(places)) for places in earlier]
    near, held, refuted = _load_comparison(space, drafts, asked, embedder.name, limits, room)
    read = {fact.id: fact.version for fact in held}
    resolver = Resolver(space, held, now, _build_rules(policy))
    rows = {fact.id: fact for fact in held}
    deciding = ClaimDecider(
        resolver,
        engine,
        _build_questions(drafts, near, earlier, policy, refuted),
        rows,
        space.display_name,
        policy.facts,
        policy.judge.trust,
        {speaker.casefold() for speaker in space.speakers},
        space.called_names,
        embedder.name,
        limits.compared,
    )
    decided = [
        DecidedDraft(draft, *done)
        for draft, done in zip(drafts, deciding.decide_candidates(), strict=True)
    ]
    with tenant_scope(space.tenant_id):
        graph = _draw_graph(space, policy, decided, resolver, engine)
    entries = indexer.build_fact_entries(resolver.inserted, zone=zone)
    entries += graphs.build_graph_entries(graph) if graph else []
    vectors = indexer.embed_entries_or_none(entries, embedder)
    if graph is not None and vectors is not None:
        _settle_entity_merges(graph, policy, entries, vectors, engine, embedder.name)
    return PreparedClaims(
        space, drafts, read_drafts, decided, resolver, graph, read, entries, vectors, embedder.name
    )


def _build_rules(policy: Policy) -> ResolutionRules:
    facts = policy.facts
    return ResolutionRules(
        resolution=facts.resolution,
        contradiction=facts.contradiction,
        store_after_contradiction=facts.store_after_contradiction,
        most_closures=facts.most_closures,
        review_from=facts.review_from,
    )


@dataclass(frozen=True, slots=True)
class _NearClaims:
    """Of a draft: claims that may be offered for it, the likeliest first, and the cosines known."""

    rows: Sequence[UUID]
    similar: Mapping[UUID, float] = field(default_factory=dict)


def _load_comparison(
    space: Space,
    drafts: Sequence[FactDraft],
    vectors: indexer.Vectors | None,
    model: str,
    limits: OfferLimits,
    room: Sequence[int],
) -> tuple[list[_NearClaims], list[Fact], set[int]]:
    """By draft, what may be offered for it, as many as there is `room` for; every row that
    decisions may rest on; the places of drafts that say what a person has said was never so.

    Claims are found by meaning, by predicate, and by what and whom the draft names, under all names
    of its owner.
    """
    if not drafts:
        return [], [], set()
    facts = [draft.fact for draft in drafts]
    with tenant_scope(space.tenant_id):
        owners = list_open_owners(space)
        names = {
            owner: list_same_names(owner, owners, space.called_names)
            for owner in {fact.owner for fact in facts}
        }
        own, others = _find_near_claims(space, facts, names, vectors, model, limits)
        named = _find_named_claims(space, drafts, names, owners, limits)
        ways = [*own, *others]
        wanted = {row for rows in [*(near.rows for near in ways), *named] for row in rows}
        wanted |= {change.row for d in drafts for change in d.changes or () if change.row}
        wanted |= {draft.renames for draft in drafts if draft.renames}
        held = _load_held_claims(space, drafts, wanted, names)
        refuted = find_refuted_candidates(space, facts, held)
    offered = [
        _NearClaims(
            take_turns(
                room[at],
                own[at].rows,
                others[at].rows,
                find_same_predicate(held, fact, names[fact.owner]),
                named[at],
            ),
            {**own[at].similar, **others[at].similar},
        )
        for at, fact in enumerate(facts)
    ]
    return offered, held, refuted


def _find_near_claims(
    space: Space,
    facts: Sequence[Fact],
    names: Mapping[str, Collection[str]],
    vectors: indexer.Vectors | None,
    model: str,
    limits: OfferLimits,
) -> tuple[list[_NearClaims], list[_NearClaims]]:
    """Claims of the owner that are like a new one, then the likest of other people, who may be the
    same person by a name that nobody would guess. One statement."""
    if vectors is None:
        nothing = [_NearClaims(()) for _ in facts]
        return nothing, nothing
    whose = [names[fact.owner] for fact in facts]
    rest = [name_others(each) if limits.of_others else OF_ANYBODY for each in whose]
    asked = [
        *zip(map(name_owners, whose), vectors, strict=True),
        *zip(rest, vectors, strict=True),
    ]
    found = find_open_facts(space, model, asked, most=max(limits.claims, limits.others))
    own, others = found[: len(facts)], found[len(facts) :]
    floors = [choose_floor(model, fact.text, limits.floor) for fact in facts]
    return (
        [_keep_near_claims(rows[: limits.claims], f) for rows, f in zip(own, floors, strict=True)],
        [
            _keep_near_claims(rows[: limits.others], f)
            for rows, f in zip(others, floors, strict=True)
        ],
    )


def _keep_near_claims(found: Sequence[tuple[UUID, float]], floor: float) -> _NearClaims:
    return _NearClaims([fact for fact, cosine in found if cosine >= floor], dict(found))


def _find_named_claims(
    space: Space,
    drafts: Sequence[FactDraft],
    names: Mapping[str, Collection[str]],
    owners: Sequence[str],
    limits: OfferLimits,
) -> list[list[UUID]]:
    """By draft, claims with an edge to what it names, those about whom it names, those of others
    that name its owner, and the newest about the owner of one that ends something ("graduated!" is
    like nothing that it ends), or is of somebody who does not speak. Four statements at most."""
    whose = [names[draft.fact.owner] for draft in drafts]
    edges = find_facts_about(
        space,
        [
            (None if limits.of_others else mine, _list_related_names(draft, mine))
            for draft, mine in zip(drafts, whose, strict=True)
        ],
    )
    spoken = {normalise_name(name) for name in (*space.speakers, *space.called_names)}
    third = [[] if spoken & {normalise_name(n) for n in mine} else mine for mine in whose]
    told = [list_named_owners(owners, draft.fact.text) for draft in drafts]
    about = find_facts_of(space, [{*t} - {*m} for t, m in zip(told, whose, strict=True)])
    if not limits.of_others:
        # With a dog that died ends what somebody has of it: "keeps a dog called Biscuit".
        ending = [mine if d.may_end else [] for d, mine in zip(drafts, third, strict=True)]
        naming = find_facts_naming(space, ending)
        return [
            take_turns(limits.claims, edges.get(at, []), naming[at], about[at][: limits.others])
            for at in range(len(drafts))
        ]
    naming = find_facts_naming(space, third)
    newest = find_facts_of(
        space,
        [mine if d.may_end else rest for d, mine, rest in zip(drafts, whose, third, strict=True)],
    )
    return [
        take_turns(limits.claims, edges.get(at, []), about[at], naming[at], newest[at])
        for at in range(len(drafts))
    ]


def _list_related_names(draft: FactDraft, own: Collection[str]) -> set[str]:
    """What a draft's relations lead to; everything of an owner's leads from the owner."""
    names = {name for src, _, dst in draft.relations for name in (src, dst)}
    mine = {normalise_name(name) for name in own}
    return {name for name in names if normalise_name(name) not in mine}


def _load_held_claims(
    space: Space,
    drafts: Sequence[FactDraft],
    near: Collection[UUID],
    names: Mapping[str, Collection[str]] | None = None,
) -> list[Fact]:
    return load_held_claims(
        space,
        [draft.fact for draft in drafts],
        corrections=[draft.fact for draft in drafts if draft.correction],
        near=near,
        names=names,
    )


def _build_questions(
    drafts: Sequence[FactDraft],
    near: Sequence[_NearClaims],
    earlier: Sequence[Mapping[int, float]],
    policy: Policy,
    refuted: Collection[int],
) -> list[ClaimQuestion]:
    places = {draft.handle: at for at, draft in enumerate(drafts) if draft.handle}
    questions = []
    for at, draft in enumerate(drafts):
        before = {drafts[place].fact.id: cosine for place, cosine in earlier[at].items()}
        questions.append(
            ClaimQuestion(
                draft.fact,
                draft.sources,
                draft.trusted,
                draft.correction,
                near[at].rows,
                list(earlier[at]),
                find_distrust_reason(draft.role, draft.fact.text)
                or (REFUTED_REASON if at in refuted else ""),
                None
                if draft.changes is None or (policy.facts.second_opinion and not draft.withheld)
                else [change.place_among(places) for change in draft.changes],
                draft.quoted,
                {**near[at].similar, **before},
                draft.said,
                draft.assisted,
                draft.passed_on,
                draft.withheld,
                draft.quotation,
                draft.message,
                draft.renames,
            )
        )
    return questions


def _find_earlier_drafts(
    drafts: Sequence[FactDraft],
    at: int,
    vectors: indexer.Vectors | None,
    model: str,
    limits: OfferLimits,
) -> dict[int, float]:
    """Earlier candidates of the batch in other turns that are offered, with their cosines, the same
    owner's first, then the nearest of others ("Lucy and I broke up", "Lucy is Ana's girlfriend"):
    what one turn says at once is meant side by side."""
    if vectors is None:
        return {}
    new, turn = drafts[at].fact, drafts[at].sources[0].turn_id
    near = {
        place: round(float(vectors[at] @ vectors[place]) / 4, 6)
        for place in range(at)
        if all(source.turn_id != turn for source in drafts[place].sources)
    }
    floor = choose_floor(model, new.text, limits.floor)
    ranked = sorted(
        (place for place, cosine in near.items() if cosine >= floor),
        key=lambda place: (near[place], place),
        reverse=True,
    )
    owners = {drafts[place].fact.owner for place in ranked}
    alike = {owner for owner in owners if is_same_name(owner, new.owner)}
    own = [place for place in ranked if drafts[place].fact.owner in alike]
    chosen = take_turns(limits.earlier, own, [place for place in ranked if place not in own])
    return {place: near[place] for place in chosen}


def _draw_graph(
    space: Space,
    policy: Policy,
    decided: Sequence[DecidedDraft],
    resolver: Resolver,
    engine: Engine,
) -> GraphDraft | None:
    if not policy.graph.enabled:
        return None
    stored = {fact.id for fact in resolver.inserted}
    drafts = [each.draft for each in decided if each.draft.fact.id in stored]
    types = {name: kind for draft in drafts for name, kind in draft.types.items()}
    aliases = {name: more for draft in drafts for name, more in draft.aliases.items()}
    told = [FactTriples(d.fact, d.relations, d.sources, d.named) for d in drafts]
    stamp = f"{engine.name}/{engine.version}"[:60]
    return graphs.build_graph(space, told, types, stamp, aliases)


def _settle_entity_merges(
    graph: GraphDraft,
    policy: Policy,
    entries: Sequence[indexer.EntryDraft],
    vectors: indexer.Vectors,
    engine: Engine,
    model: str,
) -> None:
    """Which new entities are ones known under another name (GR5)."""
    places = {entry.owner_id: at for at, entry in enumerate(entries) if entry.kind == "entity"}
    new = [entity for entity in graph.new_entities.values() if entity.id in places]
    with tenant_scope(graph.space.tenant_id):
        near = graphs.find_nearest_entities(
            graph.space, model, [vectors[places[entity.id]] for entity in new]
        )
        pairs = graphs.build_entity_pairs(
            graph, new, near, policy.graph.merge_at, policy.graph.ask_at
        )
    asked = graphs.list_undecided_pairs(pairs)
    answers = engine.compare_names(asked) if asked else {}
    graphs.apply_pair_answers(graph, pairs, answers)


def write_claims(
    prepared: PreparedClaims, changes: ChangeSet, now: datetime
) -> Sequence[DecidedDraft]:
    """Store facts, entities, relations and their index entries; the causes go into `changes`,
    which the caller saves. What may not be done unasked is proposed.

    Call in the transaction that also ends the job. Raises StaleRead: prepare again.
    """
    # Of two who bring a claim of the same matter at the same time, neither of whom has read the
    # other's, the second finds here that it has to read again.
    lock_until_commit("claims", prepared.space.id)
    _check_not_stale(prepared)
    prepared.resolver.save(changes)
    if prepared.graph is not None:
        graphs.save_graph(prepared.graph, changes)
    indexer.write_entries(prepared.space, prepared.model, prepared.entries, prepared.vectors)
    relations = {draft.fact.id: draft.relations for draft in prepared.drafts}
    for overruled in prepared.resolver.overruled:
        propose_candidate(
            prepared.space, overruled, relations.get(overruled.new.id, []), changes.at
        )
    return prepared.decisions


def _check_not_stale(prepared: PreparedClaims) -> None:
    rows = _load_held_claims(prepared.space, prepared.asked, prepared.read_versions.keys())
    if {fact.id: fact.version for fact in rows} != prepared.read_versions:
        raise StaleRead("claims changed while they were being compared")
    if prepared.graph is not None and prepared.graph.is_stale():
        raise StaleRead("entities changed while they were being compared")
