"""From warm segments to the shelf and the traits (MemoryOS, spec §8.2, §11.5).

One question for knowledge and one for traits, about exactly the pages that are sent; what they
say becomes facts by the same way as everything said. Fails a call, then nothing has changed and
the pages stay to be read (O7, MO11).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from uuid import UUID

from memoryhub.dialogues.messages import hash_text
from memoryhub.dialogues.models import Turn
from memoryhub.engines.local.engine import LocalEngine
from memoryhub.engines.types import (
    Exchange,
    Knowledge,
    KnowledgeItem,
    Passage,
    TraitAssessment,
    Utterance,
)
from memoryhub.pipeline.jobs import queue
from memoryhub.pipeline.jobs.step import JobResult, NothingToDo, StaleRead, Step
from memoryhub.pipeline.models import Job, Lane
from memoryhub.pipeline.steps.context import DerivedDialogue, StepContext, load_context
from memoryhub.pipeline.steps.derive import resolve
from memoryhub.pipeline.steps.derive.resolve import FactDraft
from memoryhub.pipeline.steps.passages import load_passages
from memoryhub.policies.schema import Policy
from memoryhub.policies.services import load_effective_policy
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope
from notes.facts import fact_shelf
from notes.facts.validity import filter_current
from notes.history.change_set import ChangeSet, TurnEvidence
from notes.models import EvolutionEvent, Fact, Page
from notes.topics.heat import DueSegment, find_due_promotions, mark_promoted
from notes.topics.pages import load_page_turns
from personas import portrait, profile, traits
from personas.dimensions import DIMENSIONS, list_allowed_keys
from personas.models import Trait

MAX_PAGES = 20  # sent in one promotion; what is over waits for the next
MIRROR_TRIGGER = "profile"  # what sets off an event that brings the profile in step
SHELF_BY_SIDE = {"user": Fact.Shelf.USER, "agent": Fact.Shelf.AGENT}


@dataclass(frozen=True, slots=True)
class PromotionBatch:
    """What is sent, and what else is decided by."""

    at: StepContext
    due: list[DueSegment]  # with no more pages than are sent
    more: bool
    passages: list[Passage]
    turns: dict[str, list[Turn]]  # by the handle of their page
    held: list[Trait]
    keys: list[str]

    @property
    def pages(self) -> list[Page]:
        return list({page.id: page for each in self.due for page in each.pages}.values())


@dataclass(frozen=True, slots=True)
class KnowledgeClaim:
    """A piece of knowledge as a claim: held already under `known`, or to be resolved."""

    shelf: str
    draft: FactDraft
    known: UUID | None


@dataclass
class PromotionDraft:
    """What models said, ready to be written."""

    items: list[KnowledgeClaim]
    prepared: resolve.PreparedClaims | None
    trait_judgements: list[traits.JudgedTrait]
    dropped: int


class PromoteStep(Step[PromotionBatch, PromotionDraft]):
    """Promote what is warm."""

    name = Job.Step.PROMOTE
    lane = Lane.PROMOTING

    def read(self) -> PromotionBatch | NothingToDo:
        at = load_context(self.job, self.now)
        policy = at.policy
        found = find_due_promotions(at.space, policy, self.now) if _is_wanted(policy) else []
        if not found:
            return NothingToDo({"pages": 0})
        due, more = _limit_pages(found, MAX_PAGES)
        pages = list({page.id: page for each in due for page in each.pages}.values())
        said = load_page_turns(pages)
        keys = list_allowed_keys(extras=policy.traits.extras, sensitive=policy.traits.sensitive)
        return PromotionBatch(
            at,
            due,
            more,
            load_passages(pages, said),
            # as `load_passages` numbers them
            {f"p{number}": said[page.id] for number, page in enumerate(pages, start=1)},
            traits.load_open_traits(at.space),
            keys if policy.traits.enabled else [],
        )

    def ask(self, batch: PromotionBatch) -> PromotionDraft:
        at, passages = batch.at, batch.passages
        known, told = Knowledge(), []
        if _uses_shelf(at.policy) and passages:
            subject = traits.get_owner_name(at.space)
            known = at.engine.extract_knowledge(passages, subject=subject)
        if batch.keys and passages:
            views = traits.build_trait_views(batch.held, batch.keys)
            scales = [DIMENSIONS[key] for key in batch.keys]
            told = at.engine.assess_traits(passages, views, scales)
        kept, dropped = traits.select_registered(told, batch.keys)
        judged = [one for each in kept if (one := _judge_trait(batch, each))]
        items = _build_knowledge_claims(batch, known)
        drafts = [item.draft for item in items if item.known is None]
        prepared = None
        if drafts:
            prepared = resolve.prepare_claims(
                at.space, at.policy, drafts, at.engine, at.embedder, self.now
            )
        return PromotionDraft(items, prepared, judged, dropped)

    def write(self, batch: PromotionBatch, draft: PromotionDraft) -> JobResult:
        _check_not_stale(batch)
        at, policy = batch.at, batch.at.policy
        changes = at.build_change_set(EvolutionEvent.Kind.PROMOTE, "warm enough to be kept at hand")
        shelved = _shelve_claims(draft, changes, self.now)
        assessed = traits.assess_traits(changes, batch.held, draft.trait_judgements)
        for due in batch.due:
            mark_promoted(changes, due.segment, due.pages, policy.heat, self.now)
        profile.mirror_profile(at.space, changes, sensitive=policy.traits.sensitive)
        changes.save()
        portrait.renew_portrait(at.space, policy, at.effective.version, self.now)
        return {
            "pages": len(batch.pages),
            "segments": len(batch.due),
            "facts": len(draft.items),
            "shelved": shelved,
            "traits": assessed.made,
            "traits_renewed": assessed.renewed,
            "traits_proposed": assessed.proposed,
            "rejected": draft.dropped,
        }

    def plan(self, batch: PromotionBatch, draft: PromotionDraft) -> None:
        if batch.more:
            plan_promotion(batch.at.space, f"{self.job.id}", self.now)


def _is_wanted(policy: Policy) -> bool:
    return policy.segments.enabled and (policy.traits.enabled or _uses_shelf(policy))


def _uses_shelf(policy: Policy) -> bool:
    return policy.shelf.enabled and policy.facts.enabled


def _limit_pages(found: Sequence[DueSegment], most: int) -> tuple[list[DueSegment], bool]:
    """The warmest segments with at most so many pages together; whether some had to wait."""
    taken: dict[UUID, None] = {}
    due = []
    for each in found:
        new = (page for page in each.pages if page.id not in taken)
        room = {page.id for page in islice(new, max(0, most - len(taken)))}
        pages = [page for page in each.pages if page.id in room or page.id in taken]
        taken |= dict.fromkeys(page.id for page in pages)
        if pages:
            due.append(DueSegment(each.segment, pages))
    everything = {page.id for each in found for page in each.pages}
    return due, len(everything) > len(taken)


def _judge_trait(reading: PromotionBatch, said: TraitAssessment) -> traits.JudgedTrait | None:
    turns = _select_evidence_turns(reading, said.evidence, Turn.Role.USER)
    if not turns:
        return None  # without support it is not kept (I2)
    at = max(turn.occurred_at for turn in turns)
    return traits.JudgedTrait(said, tuple(TurnEvidence(turn.id) for turn in turns), at)


def _select_evidence_turns(
    reading: PromotionBatch, handles: Sequence[str], role: str
) -> list[Turn]:
    """The turns of these pages that this side said, else all of them."""
    said = [turn for handle in handles for turn in reading.turns.get(handle, [])]
    said = [turn for turn in said if not turn.metadata.get("quoted")]
    return [turn for turn in said if turn.role == role] or said


def _build_knowledge_claims(reading: PromotionBatch, known: Knowledge) -> list[KnowledgeClaim]:
    """Claims of what was extracted. One held already in the same words is not made again, and
    one that was held in these words and is over is left out: it is older than what ended it."""
    said = [("user", item) for item in known.user] + [("agent", item) for item in known.agent]
    drafts = [(side, made) for side, item in said if (made := _draft_claim(reading, side, item))]
    _name_profile_relations([draft.fact for side, draft in drafts if side == "user"])
    keys = [draft.fact.text_key for _, draft in drafts]
    space, now = reading.at.space, reading.at.now
    with tenant_scope(space.tenant_id):
        rows = Fact.objects.filter(space=space, text_key__in=keys)
        met = {fact.text_key for fact in rows}
        held = {fact.text_key: fact.id for fact in filter_current(rows.all(), now)}
    return [
        KnowledgeClaim(SHELF_BY_SIDE[side], draft, held.get(draft.fact.text_key))
        for side, draft in drafts
        if draft.fact.text_key in held or draft.fact.text_key not in met
    ]


def _draft_claim(reading: PromotionBatch, side: str, item: KnowledgeItem) -> FactDraft | None:
    role = Turn.Role.USER if side == "user" else Turn.Role.ASSISTANT
    turns = _select_evidence_turns(reading, item.evidence, role)
    if not turns:
        return None
    speaker, space = turns[0].speaker, reading.at.space
    owner = traits.get_owner_name(space) if side == "user" else (turns[0].agent or speaker)
    at = max(turn.occurred_at for turn in turns)
    fact = Fact(
        tenant_id=space.tenant_id,
        space=space,
        owner=owner[:120],
        speaker=speaker,
        text=item.text,
        text_key=hash_text(f"{owner} {item.text}"),
        valid_from=at,
        asserted_at=at,
        recorded_at=reading.at.now,
        confidence=0.8,
        engine=reading.at.stamp,
    )
    sources = [TurnEvidence(turn.id) for turn in turns]
    said_by = turns[0].role
    return FactDraft(fact, sources, trusted=said_by == Turn.Role.USER, role=said_by)


def _name_profile_relations(facts: Sequence[Fact]) -> None:
    """Knowledge comes as sentences. One that says what the profile holds is given its relation and
    value, by the rules: so the profile follows it, and a new value takes the place of the old."""
    said = [
        Exchange((Utterance("k1", fact.owner, "user", fact.text, fact.valid_from),))
        for fact in facts
    ]
    read = LocalEngine(judges=False).extract_memories(said) if said else []
    for fact, found in zip(facts, read, strict=True):
        for told in found.facts:
            known = told.predicate_key in profile.ATTRIBUTES_BY_PREDICATE
            if known and told.polarity == "holds" and told.owner == fact.owner:
                fact.predicate_key = told.predicate_key
                fact.cardinality = told.cardinality or "multi"
                fact.object, fact.complement = told.object, told.complement
                break


def _check_not_stale(reading: PromotionBatch) -> None:
    """Raises StaleRead when somebody else promoted the pages or touched the traits."""
    ids = [page.id for page in reading.pages]
    unread = Page.objects.select_for_update().filter(id__in=ids, analysed_at=None)
    if {page.id: page.version for page in unread} != {p.id: p.version for p in reading.pages}:
        raise StaleRead("pages changed while they were read")
    traits.lock_persona(reading.at.space)
    open_now = traits.load_open_traits(reading.at.space)
    if {t.id: t.version for t in open_now} != {t.id: t.version for t in reading.held}:
        raise StaleRead("traits changed while pages were read")


def _shelve_claims(made: PromotionDraft, changes: ChangeSet, now: datetime) -> int:
    decided = resolve.write_claims(made.prepared, changes, now) if made.prepared else []
    rows = {one.draft.fact.text_key: one.fact.id for one in decided if one.fact is not None}
    count = 0
    for shelf in SHELF_BY_SIDE.values():
        said = [item for item in made.items if item.shelf == shelf]
        ids = [item.known or rows.get(item.draft.fact.text_key) for item in said]
        wanted = {each for each in ids if each is not None}
        facts = filter_current(Fact.objects.select_for_update().filter(id__in=wanted), now)
        count += fact_shelf.shelve_facts(facts, shelf, changes, now)
    return count


def plan_promotion(space: Space, key: str, now: datetime) -> None:
    """Plan a promotion, once a `key`, and none while one waits: it takes what is warm by then."""
    waiting = Job.objects.filter(space=space, step=Job.Step.PROMOTE, state__in=Job.WAITING_STATES)
    if not waiting.exists():
        queue.plan_step(space, Job.Step.PROMOTE, key, now)


def plan_promotion_if_warm(space: Space, policy: Policy, key: str, now: datetime) -> None:
    """Plan a promotion where one is due: after pages were placed, and by the clock for what
    recall warmed up. Call inside the tenant's scope."""
    if _is_wanted(policy) and find_due_promotions(space, policy, now):
        plan_promotion(space, key, now)


def schedule(due: DerivedDialogue) -> None:
    """Let the profile follow what was just said of it. Promotion itself is planned where pages
    are placed."""
    said = [fact.predicate_key for built in due.constructions.values() for fact in built.facts]
    if any(key in profile.ATTRIBUTES_BY_PREDICATE for key in said):
        refresh_profile(due.space, due.policy, due.now, due.job)


def refresh_profile(space: Space, policy: Policy, now: datetime, job: Job | None = None) -> None:
    """Bring profile and portrait in step with the facts, in the caller's transaction (I3)."""
    changes = ChangeSet(
        space,
        EvolutionEvent.Kind.REFRESH,
        "pipeline",
        now,
        "the facts it mirrors changed",
        job_id=job.id if job else None,
        trigger=MIRROR_TRIGGER,
    )
    version = load_effective_policy(space).version
    if profile.mirror_profile(space, changes, sensitive=policy.traits.sensitive):
        changes.event.policy_version = version
        changes.save()
    portrait.renew_portrait(space, policy, version, now)


def refresh_by_clock(space: Space, policy: Policy, now: datetime) -> None:
    """By the clock: what recall warmed up, and facts whose time has come or gone. A task of the
    sweep, which opens its own scope; it wants no sweep of its own."""
    with tenant_scope(space.tenant_id):
        refresh_profile(space, policy, now)
        plan_promotion_if_warm(space, policy, f"sweep:{now:%Y-%m-%dT%H}", now)
