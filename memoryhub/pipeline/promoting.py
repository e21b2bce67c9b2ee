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
from typing import Any
from uuid import UUID

from memoryhub.dialogues.messages import text_hash
from memoryhub.dialogues.models import Turn
from memoryhub.engines.types import Engine, Knowledge, KnowledgeItem, Passage, TraitAssessment
from memoryhub.models_in_use import embedder_for, engine_for
from memoryhub.pipeline import claiming, queue
from memoryhub.pipeline.claiming import FactDraft, StaleRead
from memoryhub.pipeline.following import Derived
from memoryhub.pipeline.models import Job
from memoryhub.pipeline.passages import Turns, passages_of, turns_of
from memoryhub.policies.schema import Policy
from memoryhub.policies.services import policy_of
from memoryhub.tenants.models import Space, Tenant
from memoryhub.tenants.scope import tenant_scope
from notes import shelving
from notes.heat import Due, due_for_promotion, promoted
from notes.models import EvolutionEvent, Fact, Page
from notes.queries import current
from notes.recording import ChangeSet, Source
from personas import portrait, profiles, traits
from personas.models import Trait
from personas.registry import allowed

MOST_PAGES = 20  # sent in one promotion; what is over waits for the next
TRIES = 3
MIRRORING = "profile"  # what sets off an event that brings the profile in step
SHELVES = {"user": Fact.Shelf.USER, "agent": Fact.Shelf.AGENT}


@dataclass(frozen=True, slots=True)
class Reading:
    """What is sent, and what else is decided by."""

    job: Job
    space: Space
    policy: Policy
    policy_version: str
    engine: Engine
    due: list[Due]  # with no more pages than are sent
    more: bool
    passages: list[Passage]
    turns: dict[str, list[Turn]]  # by the handle of their page
    held: list[Trait]
    keys: list[str]

    @property
    def pages(self) -> list[Page]:
        return list({page.id: page for each in self.due for page in each.pages}.values())

    @property
    def stamp(self) -> str:
        return f"{self.engine.name}/{self.engine.version}"[:60]


@dataclass(frozen=True, slots=True)
class Item:
    """A piece of knowledge as a claim: held already under `known`, or to be resolved."""

    shelf: str
    draft: FactDraft
    known: UUID | None


@dataclass
class Made:
    """What models said, ready to be written."""

    items: list[Item]
    prepared: claiming.Prepared | None
    judged: list[traits.Judged]
    dropped: int


def run(job: Job, now: datetime) -> None:
    """Promote what is warm. Raises EngineError, LeaseLost, StaleRead."""
    for attempt in range(TRIES):
        reading = read(job, now)
        if reading is None:
            return
        made = ask(reading, now)
        try:
            with tenant_scope(job.tenant_id):
                queue.hold(job)
                write(reading, made, now)
        except StaleRead:
            if attempt + 1 == TRIES:
                raise
        else:
            return


def read(job: Job, now: datetime) -> Reading | None:
    """None when nothing is warm: then the job has ended."""
    with tenant_scope(job.tenant_id):
        space = Space.objects.get(id=job.space_id)
        effective = policy_of(space)
        policy = effective.policy
        found = due_for_promotion(space, policy, now) if _wanted(policy) else []
        if not found:
            queue.finish(job, {"pages": 0}, now)
            return None
        due, more = _at_most(found, MOST_PAGES)
        pages = list({page.id: page for each in due for page in each.pages}.values())
        said = turns_of(pages)
        keys = allowed(extras=policy.traits.extras, sensitive=policy.traits.sensitive)
        return Reading(
            job=job,
            space=space,
            policy=policy,
            policy_version=effective.version,
            engine=engine_for(Tenant.objects.get(id=job.tenant_id), policy),
            due=due,
            more=more,
            passages=passages_of(pages, said),
            turns=_by_handle(pages, said),
            held=traits.open_traits(space),
            keys=keys if policy.traits.enabled else [],
        )


def _wanted(policy: Policy) -> bool:
    return policy.segments.enabled and (policy.traits.enabled or _shelves(policy))


def _shelves(policy: Policy) -> bool:
    return policy.shelf.enabled and policy.facts.enabled


def _at_most(found: Sequence[Due], most: int) -> tuple[list[Due], bool]:
    """The warmest segments with at most so many pages together; whether some had to wait."""
    taken: dict[UUID, None] = {}
    due = []
    for each in found:
        new = (page for page in each.pages if page.id not in taken)
        room = {page.id for page in islice(new, max(0, most - len(taken)))}
        pages = [page for page in each.pages if page.id in room or page.id in taken]
        taken |= dict.fromkeys(page.id for page in pages)
        if pages:
            due.append(Due(each.segment, pages))
    everything = {page.id for each in found for page in each.pages}
    return due, len(everything) > len(taken)


def _by_handle(pages: Sequence[Page], said: Turns) -> dict[str, list[Turn]]:
    """As `passages_of` numbers them."""
    return {f"p{number}": said[page.id] for number, page in enumerate(pages, start=1)}


def ask(reading: Reading, now: datetime) -> Made:
    """Ask the models, with nothing open."""
    engine, passages = reading.engine, reading.passages
    known, told = Knowledge(), []
    if _shelves(reading.policy) and passages:
        known = engine.kb_extract(passages, subject=traits.owner_of(reading.space))
    if reading.keys and passages:
        views = traits.views(reading.held, reading.keys)
        told = engine.trait_update(passages, views, reading.keys)
    kept, dropped = traits.registered(told, reading.keys)
    judged = [one for each in kept if (one := _judged(reading, each))]
    items = _items(reading, known, now)
    drafts = [item.draft for item in items if item.known is None]
    prepared = None
    if drafts:
        model = embedder_for(reading.space)
        prepared = claiming.prepare(reading.space, reading.policy, drafts, engine, model, now)
    return Made(items, prepared, judged, dropped)


def _judged(reading: Reading, said: TraitAssessment) -> traits.Judged | None:
    turns = _evidence(reading, said.evidence, Turn.Role.USER)
    if not turns:
        return None  # without support it is not kept (I2)
    at = max(turn.occurred_at for turn in turns)
    return traits.Judged(said, tuple(Source(turn.id) for turn in turns), at)


def _evidence(reading: Reading, handles: Sequence[str], role: str) -> list[Turn]:
    """The turns of these pages that this side said, else all of them."""
    said = [turn for handle in handles for turn in reading.turns.get(handle, [])]
    said = [turn for turn in said if not turn.metadata.get("quoted")]
    return [turn for turn in said if turn.role == role] or said


def _items(reading: Reading, known: Knowledge, now: datetime) -> list[Item]:
    """Claims of what was extracted. One held already in the same words is not made again, and
    one that was held in these words and is over is left out: it is older than what ended it."""
    said = [("user", item) for item in known.user] + [("agent", item) for item in known.agent]
    drafts = [(side, made) for side, item in said if (made := _draft(reading, side, item, now))]
    keys = [draft.fact.text_key for _, draft in drafts]
    with tenant_scope(reading.space.tenant_id):
        rows = Fact.objects.filter(space=reading.space, text_key__in=keys)
        met = {fact.text_key for fact in rows}
        held = {fact.text_key: fact.id for fact in current(rows.all(), now)}
    return [
        Item(SHELVES[side], draft, held.get(draft.fact.text_key))
        for side, draft in drafts
        if draft.fact.text_key in held or draft.fact.text_key not in met
    ]


def _draft(reading: Reading, side: str, item: KnowledgeItem, now: datetime) -> FactDraft | None:
    role = Turn.Role.USER if side == "user" else Turn.Role.ASSISTANT
    turns = _evidence(reading, item.evidence, role)
    if not turns:
        return None
    speaker = turns[0].speaker
    owner = traits.owner_of(reading.space) if side == "user" else (turns[0].agent or speaker)
    at = max(turn.occurred_at for turn in turns)
    fact = Fact(
        tenant_id=reading.space.tenant_id,
        space=reading.space,
        owner=owner[:120],
        speaker=speaker,
        text=item.text,
        text_key=text_hash(f"{owner} {item.text}"),
        valid_from=at,
        asserted_at=at,
        recorded_at=now,
        confidence=0.8,
        engine=reading.stamp,
    )
    sources = [Source(turn.id) for turn in turns]
    said_by = turns[0].role
    return FactDraft(fact, sources, trusted=said_by == Turn.Role.USER, role=said_by)


def write(reading: Reading, made: Made, now: datetime) -> None:
    """All that a promotion changes, and the job's end, in one transaction."""
    _refuse_stale(reading)
    changes = ChangeSet(
        reading.space,
        EvolutionEvent.Kind.PROMOTE,
        "pipeline",
        now,
        "warm enough to be kept at hand",
        engine=reading.stamp,
        job_id=reading.job.id,
        trigger=Job.Step.PROMOTE,
        policy_version=reading.policy_version,
    )
    shelved = _shelve(made, changes, now)
    assessed = traits.assess(changes, reading.held, made.judged)
    for due in reading.due:
        promoted(changes, due.segment, due.pages, reading.policy.heat, now)
    sensitive = reading.policy.traits.sensitive
    profiles.mirror(reading.space, changes, sensitive=sensitive)
    changes.save()
    portrait.renew(reading.space, reading.policy, reading.policy_version, now)
    queue.finish(reading.job, _result(reading, made, shelved, assessed), now)
    if reading.more:
        plan(reading.space, f"{reading.job.id}", now)


def _refuse_stale(reading: Reading) -> None:
    """Raises StaleRead when somebody else promoted the pages or touched the traits."""
    ids = [page.id for page in reading.pages]
    unread = Page.objects.select_for_update().filter(id__in=ids, analysed_at=None)
    if {page.id: page.version for page in unread} != {p.id: p.version for p in reading.pages}:
        raise StaleRead("pages changed while they were read")
    open_now = traits.open_traits(reading.space)
    if {t.id: t.version for t in open_now} != {t.id: t.version for t in reading.held}:
        raise StaleRead("traits changed while pages were read")


def _shelve(made: Made, changes: ChangeSet, now: datetime) -> int:
    decided = claiming.write(made.prepared, changes, now) if made.prepared else []
    rows = {one.draft.fact.text_key: one.fact.id for one in decided if one.fact is not None}
    count = 0
    for shelf in SHELVES.values():
        said = [item for item in made.items if item.shelf == shelf]
        ids = [item.known or rows.get(item.draft.fact.text_key) for item in said]
        wanted = {each for each in ids if each is not None}
        facts = current(Fact.objects.select_for_update().filter(id__in=wanted), now)
        count += shelving.put(facts, shelf, changes, now)
    return count


def _result(
    reading: Reading, made: Made, shelved: int, assessed: traits.Assessed
) -> dict[str, Any]:
    return {
        "pages": len(reading.pages),
        "segments": len(reading.due),
        "facts": len(made.items),
        "shelved": shelved,
        "traits": assessed.made,
        "traits_renewed": assessed.renewed,
        "traits_proposed": assessed.proposed,
        "rejected": made.dropped,
    }


def plan(space: Space, key: str, now: datetime) -> None:
    """Plan a promotion, once a `key`, and none while one waits: it takes what is warm by then."""
    waiting = Job.objects.filter(
        space=space, step=Job.Step.PROMOTE, state__in=(Job.State.QUEUED, Job.State.RETRY)
    )
    if not waiting.exists():
        queue.enqueue_step(space, Job.Step.PROMOTE, "C", key, now)


def plan_if_warm(space: Space, policy: Policy, key: str, now: datetime) -> None:
    """Plan a promotion where one is due: after pages were placed, and by the clock for what
    recall warmed up. Call inside the tenant's scope."""
    if _wanted(policy) and due_for_promotion(space, policy, now):
        plan(space, key, now)


def schedule(due: Derived) -> None:
    """Let the profile follow what was just said of it. Promotion itself is planned where pages
    are placed."""
    said = [fact.predicate_key for built in due.built.values() for fact in built.facts]
    if any(key in profiles.MIRRORED for key in said):
        follow(due.space, due.policy, due.now, due.job)


def follow(space: Space, policy: Policy, now: datetime, job: Job | None = None) -> None:
    """Bring profile and portrait in step with the facts, in the caller's transaction (I3)."""
    changes = ChangeSet(
        space,
        EvolutionEvent.Kind.REFRESH,
        "pipeline",
        now,
        "the facts it mirrors changed",
        job_id=job.id if job else None,
        trigger=MIRRORING,
    )
    version = policy_of(space).version
    if profiles.mirror(space, changes, sensitive=policy.traits.sensitive):
        changes.event.policy_version = version
        changes.save()
    portrait.renew(space, policy, version, now)


def sweep(space: Space, policy: Policy, now: datetime) -> None:
    """By the clock: what recall warmed up, and facts whose time has come or gone. A task of the
    sweep, which opens its own scope; it wants no sweep of its own."""
    with tenant_scope(space.tenant_id):
        follow(space, policy, now)
        plan_if_warm(space, policy, f"sweep:{now:%Y-%m-%dT%H}", now)
