"""Erasure as a whole (spec §11.9): targets, dry run, execution, receipt.

One transaction: nothing is left half erased, and nothing that is being derived is written from
what goes, because running jobs lose their lease. What has to be derived, written or embedded anew
is planned as jobs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, Literal
from uuid import UUID

from django.db.models import F, Min, Q, QuerySet
from django.utils.translation import gettext

from memoryhub.background.news import News, notify_listeners
from memoryhub.declarations import load_declarations
from memoryhub.dialogues.models import IS_INNER, RESTS_ON, Session, Turn
from memoryhub.dialogues.redaction import hash_with_secret
from memoryhub.errors import Conflict
from memoryhub.inference.ledger import save_open_ledger
from memoryhub.inference.models import ModelCall
from memoryhub.pipeline import naming, sealed_erasures
from memoryhub.pipeline.embeddings import embedding_map
from memoryhub.pipeline.erasure import sources
from memoryhub.pipeline.jobs import queue
from memoryhub.pipeline.models import Job, SealedErasure
from memoryhub.pipeline.steps import promotion
from memoryhub.pipeline.steps.maintenance import quality_readings
from memoryhub.policies.schema import Policy
from memoryhub.policies.services import load_effective_policy
from memoryhub.tenants.database.contention import retry_deadlocks
from memoryhub.tenants.database.row_images import note_rows
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope
from memoryhub.tenants.services import lock_space
from notes.erasure import erase
from notes.erasure.clauses import TurnCut
from notes.erasure.evidence import has_erased_words
from notes.erasure.trace import ErasureTrace, collect_row_text, trace_erasure
from notes.facts.validity import build_past_q
from notes.history import row_kinds
from notes.models import Fact, Proposal, Receipt
from personas.models import BlockAttachment, BlockVersion
from personas.scrub import scrub_blocks

MAX_SAMPLES = 5
MAX_STAYING_TURNS = 8
MAX_OUTLIVED_PER_SWEEP = 500  # a sweep
TargetKind = Literal["turns", "session", "facts", "subject"]


@dataclass(frozen=True, slots=True)
class ErasureTarget:
    """What to erase of a space. `sources`: with facts, also the words that say them; with turns,
    also replies that repeat what only those told. `wishes`: turns that asked for it; what of their
    exchanges repeats the facts goes too. `turns`: with facts, turns that go whole besides."""

    kind: TargetKind
    ids: tuple[UUID, ...] = ()
    sources: bool = False
    wishes: tuple[UUID, ...] = ()
    turns: tuple[UUID, ...] = ()


@dataclass(frozen=True, slots=True)
class _Erasure:
    """What is carried out, and who wants it when and why. `confirmed`: by a person or a policy
    that a person has set; else it can be undone for a time."""

    space: Space
    target: ErasureTarget
    actor: str
    now: datetime
    reason: str
    confirmed: bool = True


@dataclass(frozen=True, slots=True)
class ErasedRow:
    """A row that an erasure reaches. `how`: it goes, loses a clause (`text`: what it loses), is
    summed up anew without it, is read again from what remains, or is a claim that was over and
    holds again. `role` of a turn."""

    kind: str
    id: UUID
    how: Literal["goes", "cut", "rewritten", "read again", "true again"]
    text: str
    role: str = ""


@dataclass(frozen=True, slots=True)
class ErasurePlan:
    """What an erasure would do: how many rows of each kind, and some of their words, both by the
    names that its receipt has. A receipt also counts what is about those rows: index entries,
    revisions, jobs, model calls, what was answered."""

    counts: dict[str, int]
    samples: dict[str, list[str]] = field(default_factory=dict)
    review: list[dict[str, Any]] = field(default_factory=list)

    @property
    def is_empty(self) -> bool:
        return not any(self.counts.values())


def _erase_declared_words(space: Space, since: datetime) -> int:
    """What apps keep of what was answered since then. Returns how many answers went."""
    clearing = {
        erase_words: None  # each once, though it may clear several tables
        for app in load_declarations().values()
        for erase_words in app.erasable_texts.values()
        if not isinstance(erase_words, str)
    }
    return sum(erase_words(space, since) for erase_words in clearing)


def plan_erasure(space: Space, target: ErasureTarget) -> ErasurePlan:
    """A dry run: changes nothing. Opens its own scope. Raises NotFound."""
    return preview_erasure(space, target)[0]


def preview_erasure(
    space: Space, target: ErasureTarget
) -> tuple[ErasurePlan, list[ErasedRow], list[Turn]]:
    """A dry run that also names each row it reaches, none of a whole subject, and turns that say
    words of the claims and stay. Opens its own scope. Raises NotFound."""
    with tenant_scope(space.tenant_id):
        if target.kind == "subject":
            plan = ErasurePlan(_count_space_rows(space), review=_list_shared_blocks(space))
            return plan, [], []
        target = _add_similar_wishes(space, target)
        found = _trace_target(space, target)
        strict = _is_strict(space)
        held = Turn.objects.filter(space=space).exclude(state=Turn.State.REDACTED)
        staying = sources.find_turns_of_same_words(
            held, found.named_facts, found.touched_turn_ids, MAX_STAYING_TURNS
        )
        reopened = erase.find_reopened_facts(found, strict=strict)
        plan = _count_traced(found, target, reopened, strict)
        return plan, _list_traced_rows(found, reopened, strict), staying


def list_overtaken_erasures(space: Space, target: ErasureTarget, now: datetime) -> list[Receipt]:
    """Receipts of earlier erasures that could still be undone, and no longer can after this one.
    Changes nothing. Opens its own scope. Raises NotFound."""
    with tenant_scope(space.tenant_id):
        held = sealed_erasures.list_sealed(space, now)
        if held and target.kind != "subject":
            target = _add_similar_wishes(space, target)
            found = _trace_target(space, target)
            held = sealed_erasures.select_overtaken(held, found, target.ids)
        return [sealed.receipt for sealed in held]


def _count_traced(
    found: ErasureTrace, target: ErasureTarget, reopened: Collection[Fact], strict: bool
) -> ErasurePlan:
    """In the words of the receipt. Strictly, what also rests on other turns goes with the rest, and
    is counted a second time as what is derived again."""
    gone = {**found.doomed_rows, **(found.tainted_rows if strict else {})}
    counts = Counter(row_kinds.get_row_kind(kind).counted_as for kind, _ in gone)
    counts["turns"] = len(found.turns)
    counts["clauses"] = len(found.cuts)
    counts["wishes"] = len(found.touched_turn_ids.intersection(target.wishes))
    counts[_name_tainted(strict)] = len(found.tainted_rows)
    counts["reopened"] = len(reopened)
    counts["withheld"] = len(found.rewritten_rows)
    samples: dict[str, list[str]] = {"turns": [t.text for t in found.turns[:MAX_SAMPLES]]}
    samples["clauses"] = [cut.lost for cut in found.cuts[:MAX_SAMPLES]]
    for (kind, _), row in {**found.doomed_rows, **found.tainted_rows}.items():
        words = samples.setdefault(row_kinds.get_row_kind(kind).counted_as, [])
        if len(words) < MAX_SAMPLES and collect_row_text(row).strip():
            words.append(_get_first_line(row))
    return ErasurePlan(
        {k: n for k, n in counts.items() if n}, {k: w for k, w in samples.items() if w}
    )


def _name_tainted(strict: bool) -> str:
    """What rows are counted as that rest on other turns too."""
    return "rederived" if strict else "loosened"


def _get_first_line(row: Any) -> str:
    lines = (line for line in collect_row_text(row).split("\n") if line.strip())
    return next(lines, "")[:200]


def _list_traced_rows(
    found: ErasureTrace, reopened: Iterable[Fact], strict: bool
) -> list[ErasedRow]:
    rows = [ErasedRow("turn", t.id, "goes", t.words, t.role) for t in found.turns]
    rows += [ErasedRow("turn", c.turn.id, "cut", c.lost, c.turn.role) for c in found.cuts]
    rows += [ErasedRow("fact", fact.id, "true again", fact.text) for fact in reopened]
    tainted: Literal["goes", "read again"] = "goes" if strict else "read again"
    groups: tuple[tuple[dict[Any, Any], Any], ...] = (
        (found.doomed_rows, "goes"),
        (found.tainted_rows, tainted),
        (found.rewritten_rows, "rewritten"),
    )
    for group, how in groups:
        rows += [
            ErasedRow(kind, row_id, how, _get_first_line(row))
            for (kind, row_id), row in group.items()
        ]
    return rows


def execute_erasure(
    space: Space,
    target: ErasureTarget,
    actor: str,
    now: datetime,
    *,
    reason: str = "",
    within_step: bool = False,
    confirmed: bool = True,
) -> Receipt:
    """Erase, and say what went. Opens its own scope. Raises NotFound, and Conflict under a legal
    hold. What nobody has `confirmed` can be brought back for a time (sealed_erasures.py).

    Run again, it finds nothing: the receipt, not stored then, counts zero. `within_step`: the one
    job that runs in the space is the caller's own.
    """
    wanted = _Erasure(space, target, actor, now, reason, confirmed)
    receipt = retry_deadlocks(lambda: _execute_erasure(wanted, within_step=within_step))
    naming.forget_erased_name(space, actor, now)
    return receipt


def _execute_erasure(wanted: _Erasure, *, within_step: bool) -> Receipt:
    space, target, now = wanted.space, wanted.target, wanted.now
    save_open_ledger()
    with tenant_scope(space.tenant_id):
        lock_space(space)
        if load_effective_policy(space).policy.erase.hold:
            raise Conflict(gettext("a legal hold is on: nothing is erased"), code="legal_hold")
        if not within_step:
            # Whoever works on the space finds its lease lost, and what it made is thrown away.
            Job.objects.filter(space=space, state=Job.State.RUNNING).update(
                state=Job.State.RETRY, attempts=F("attempts") + 1, run_after=now, lease_until=None
            )
        if target.kind == "subject":
            return _drop_space(wanted)
        wanted = replace(wanted, target=_add_similar_wishes(space, target))
        found = _trace_target(space, wanted.target)
        sealed_erasures.yield_to_erasure(found, wanted.target.ids, now)
        if not found.touched_turn_ids and not found.doomed_rows:
            return _build_receipt(wanted, Counter(), [])
        until = None if wanted.confirmed else sealed_erasures.compute_end(space, now)
        if until is None:
            return _save_receipt(wanted, *_erase_traced(wanted, found))
        with note_rows() as noted:
            counts, review = _erase_traced(wanted, found)
        receipt = _save_receipt(wanted, counts, review, until)
        sealed_erasures.seal_erasure(found, receipt, noted.images, now)
        return receipt


def erase_outlived_facts(space: Space, policy: Policy, now: datetime) -> datetime | None:
    """Erase claims that hold no longer and outlived the tenant's limit (AMA's rule b, J3).

    A task of the sweep; returns when the next one outlives it. Without a limit they stay, closed.
    """
    days = policy.retention.max_age_days
    if days is None or policy.erase.hold:
        return None
    age = timedelta(days=days)
    with tenant_scope(space.tenant_id):
        over = Fact.objects.filter(build_past_q(now) | Q(status=Fact.Status.RETRACTED), space=space)
        over = over.filter(pinned=False)
        old = over.filter(asserted_at__lt=now - age).order_by("asserted_at")
        ids = tuple(old.values_list("id", flat=True)[:MAX_OUTLIVED_PER_SWEEP])
    if ids:
        target = ErasureTarget("facts", ids)
        execute_erasure(
            space, target, "policy: retention.max_age", now, reason="outlived", within_step=True
        )
    with tenant_scope(space.tenant_id):
        next_one = over.aggregate(at=Min("asserted_at"))["at"]
    return next_one + age if next_one else None


def erase_outlived_turns(space: Space, policy: Policy, now: datetime) -> datetime | None:
    """Erase what was taken in longer ago than the limit, with what rests on it alone.

    A task of the sweep; returns when the next one outlives it. What was not read yet stays until
    it was.
    """
    days = policy.retention.turn_days
    if days is None or policy.erase.hold:
        return None
    age = timedelta(days=days)
    read = (Turn.State.PROCESSED, Turn.State.FAILED)
    with tenant_scope(space.tenant_id):
        # In the order in which they were taken in, so that their index is enough.
        first = Turn.objects.filter(space=space, state__in=read).order_by("seq")
        oldest = first.values_list("id", "received_at")[:MAX_OUTLIVED_PER_SWEEP]
        ids = tuple(turn for turn, received in oldest if received < now - age)
    if ids:
        target = ErasureTarget("turns", ids)
        execute_erasure(
            space, target, "policy: retention.turn_days", now, reason="outlived", within_step=True
        )
    with tenant_scope(space.tenant_id):
        next_one = first.values_list("received_at", flat=True).first()
    return next_one + age if next_one else None


def _erase_traced(
    wanted: _Erasure, found: ErasureTrace
) -> tuple[Counter[str], list[dict[str, Any]]]:
    space, target, actor, now = wanted.space, wanted.target, wanted.actor, wanted.now
    blocks, review = scrub_blocks(space, found.lost_words, actor, now)
    wishes = found.touched_turn_ids.intersection(target.wishes)
    counts = Counter({"blocks": blocks, "wishes": len(wishes)})
    oldest = _find_oldest_time(found, now)
    strict = _is_strict(space)
    counts[_name_tainted(strict)] = len(found.tainted_rows)
    again = _group_remaining_turns(found) if strict or found.cuts else {}
    counts.update(_clear_payloads(space, oldest))
    counts.update(erase.erase_traced(found, actor, now, strict=strict))
    embedding_map.remove_erased_points(space, (row for _, row in found.doomed_rows))
    quality_readings.remove_erased_samples(space, (row for _, row in found.doomed_rows))
    if target.kind == "session":
        for session in Session.objects.filter(id__in=target.ids):
            erase.erase_session_name(session)
    _plan_follow_up(space, found, again, now)
    return counts, review


def _add_similar_wishes(space: Space, target: ErasureTarget) -> ErasureTarget:
    """With the other open wishes for the same claims: those are granted by the same erasure, which
    deletes their proposals, so that nobody would look at their words again.
    """
    if not target.wishes:
        return target
    alike = Proposal.objects.filter(
        space=space, kind="erase", state=Proposal.State.OPEN, row_id__in=target.ids
    )
    turns = (turn for turn_ids in alike.values_list("turn_ids", flat=True) for turn in turn_ids)
    return replace(target, wishes=tuple(dict.fromkeys([*target.wishes, *turns])))


def _trace_target(space: Space, target: ErasureTarget) -> ErasureTrace:
    found = trace_erasure(space, *_load_targets(space, target))
    for app in load_declarations().values():
        for extend in app.erasure_traces:
            extend(found)
    return found


def _load_targets(
    space: Space, target: ErasureTarget
) -> tuple[list[Turn], list[TurnCut], list[Fact]]:
    """The turns that go, those that lose a clause, and the claims."""
    held = Turn.objects.filter(space=space).exclude(state=Turn.State.REDACTED).order_by("seq")
    named = target.ids if target.kind == "facts" else ()
    facts = list(Fact.objects.filter(space=space, id__in=named))
    facts += _load_rewordings(facts)
    chosen = list(held.filter(_is_chosen(target)))
    whole, cuts = _find_telling(held, target, facts, chosen) if target.sources else ([], [])
    whole = _with_copies(space, held, _merge_turns(whole, chosen), cuts)
    gone = {turn.id for turn in whole}
    return whole, [cut for cut in cuts if cut.turn.id not in gone], facts


def _is_chosen(target: ErasureTarget) -> Q:
    """The turns that a person has chosen as they are, whatever they tell."""
    if target.kind == "session":
        return Q(session__in=target.ids)
    return Q(id__in=target.turns if target.kind == "facts" else target.ids)


def _find_telling(
    held: QuerySet[Turn], target: ErasureTarget, facts: Sequence[Fact], chosen: Sequence[Turn]
) -> sources.FoundTurns:
    """What tells the claims, and what repeats them or anything that only what goes has told."""
    if not facts and not chosen:
        return sources.find_wishes(held, () if target.ids else target.wishes)
    whole, cuts = sources.find_told_turns(held, facts, target.wishes) if facts else ([], [])
    if along := sources.load_facts_told_only_by(_merge_turns(whole, chosen), facts):
        whole, cuts = sources.find_told_turns(held, [*facts, *along], target.wishes)
    return whole, cuts


def _merge_turns(*groups: Iterable[Turn]) -> list[Turn]:
    return list({turn.id: turn for group in groups for turn in group}.values())


def _with_copies(
    space: Space, held: QuerySet[Turn], whole: list[Turn], cuts: Iterable[TurnCut]
) -> list[Turn]:
    """With an agent's own steps that repeat what goes: those that were shown one of the turns, and
    those that say what only they said."""
    lost = {turn.seq: turn.text for turn in whole} | {cut.turn.seq: cut.lost for cut in cuts}
    if not lost:
        return whole
    steps = list(held.filter(IS_INNER))
    sessions = {turn.session_id for turn in steps}
    others = held.exclude(IS_INNER).exclude(seq__in=lost).filter(session__in=sessions)
    remaining = [space.subject, space.name, *others.values_list("text", flat=True)]
    copies = [
        turn
        for turn in steps
        if _rests_on(turn, lost) or has_erased_words(turn.text, lost.values(), remaining)
    ]
    return _merge_turns(whole, copies)


def _rests_on(turn: Turn, lost: Collection[int]) -> bool:
    told = turn.metadata.get(RESTS_ON)  # an imported turn may have anything there
    return isinstance(told, list) and any(seq in told for seq in lost)


def _load_rewordings(facts: Iterable[Fact]) -> list[Fact]:
    """Versions of the same claims that said it in other words: not what was so before."""
    found: dict[UUID, Fact] = {}
    for fact in facts:
        # A correction may also have said since when it holds: its moment ends the words before it.
        reworded = Q(valid_from=fact.valid_from) | Q(retired_at=fact.recorded_at)
        same = Fact.objects.filter(reworded, space=fact.space_id, lineage=fact.lineage)
        found |= {other.id: other for other in same.exclude(retired_at=None).exclude(id=fact.id)}
    return list(found.values())


def _is_strict(space: Space) -> bool:
    return load_effective_policy(space).policy.erase.mode == "strict"


def _find_oldest_time(found: ErasureTrace, now: datetime) -> datetime:
    """When the first of what goes came in: nothing older can tell of it."""
    times = [turn.received_at for turn in found.touched_turns]
    times += [fact.recorded_at for fact in found.list_doomed_facts()]
    return min(times, default=now)


def _clear_payloads(space: Space, oldest: datetime) -> dict[str, int]:
    """What models were asked and answered, and what jobs and answers tell of it, since then."""
    calls = ModelCall.objects.filter(space=space, created_at__gte=oldest)
    told = calls.exclude(input=None, output="", error="")
    counts = {"model_calls": told.update(input=None, output="", error="")}
    jobs = Job.objects.filter(space=space).exclude(result={}, error="")
    jobs = jobs.filter(Q(finished_at__gte=oldest) | Q(finished_at=None))
    counts["jobs"] = jobs.update(result={}, error="")
    counts["answers"] = _erase_declared_words(space, oldest)
    return counts


def _group_remaining_turns(found: ErasureTrace) -> dict[UUID, list[UUID]]:
    """The turns that tainted rows also rest on, by session: what they say is derived again."""
    kept = Turn.objects.filter(id__in=found.remaining_turn_ids - found.erased_turn_ids)
    sessions: dict[UUID, list[UUID]] = {}
    for turn in kept.exclude(state=Turn.State.REDACTED).order_by("seq"):
        sessions.setdefault(turn.session_id, []).append(turn.id)
    return sessions


def _plan_follow_up(
    space: Space, found: ErasureTrace, again: dict[UUID, list[UUID]], now: datetime
) -> None:
    """Plan what is derived, summed up and embedded anew; the profile follows at once (I3)."""
    key = f"erased-{now.isoformat()}"
    for session_id, turns in again.items():
        said = {"turns": [str(turn) for turn in turns]}
        queue.plan_step(space, Job.Step.REDERIVE, f"{key}-{session_id}", now, payload=said)
    left: dict[str, list[str]] = {"page": [], "chain": [], "segment": [], "episode": []}
    for kind, row_id in found.rewritten_rows:
        left[kind].append(str(row_id))
    if left["page"] or left["chain"] or left["segment"]:
        payload = {"chains": left["chain"], "refresh": left["segment"]}
        queue.plan_step(space, Job.Step.PLACE, key, now, payload=payload)
    if left["episode"]:
        queue.plan_step(space, Job.Step.DIGEST, key, now)
        queue.plan_step(space, Job.Step.FOLD, key, now)
    if found.touched_turns:
        queue.plan_step(space, Job.Step.EMBED, key, now)
    promotion.refresh_profile(space, load_effective_policy(space).policy, now)


def _count_space_rows(space: Space) -> dict[str, int]:
    counts = {
        kind.counted_as: kind.model._default_manager.filter(space=space).count()
        for kind in row_kinds.list_row_kinds()
    }
    counts["turns"] = Turn.objects.filter(space=space).count()
    counts["model_calls"] = ModelCall.objects.filter(space=space).count()
    counts["jobs"] = Job.objects.filter(space=space).count()
    return {kind: count for kind, count in counts.items() if count}


def _list_shared_blocks(space: Space) -> list[dict[str, Any]]:
    """Blocks of the tenant that this subject's dialogue could write: for a person to look at."""
    attached = BlockAttachment.objects.filter(space=space, block__space=None)
    written = BlockVersion.objects.filter(space=space, block__space=None)
    blocks = {a.block_id: a.block.label for a in attached.select_related("block")}
    blocks |= {v.block_id: v.block.label for v in written.select_related("block")}
    return [{"block": str(block), "label": label} for block, label in blocks.items()]


def _drop_space(wanted: _Erasure) -> Receipt:
    space = wanted.space
    # From here on nothing more is written that names it.
    Space.objects.select_for_update().get(id=space.id)
    counts, review = Counter(_count_space_rows(space)), _list_shared_blocks(space)
    counts["spaces"] = 1
    sealed_erasures.destroy(SealedErasure.objects.filter(space=space), wanted.now)
    counts["answers"] = _erase_declared_words(space, space.created_at)
    receipt = _save_receipt(wanted, counts, review)
    Space.objects.filter(id=space.id).delete()
    return receipt


def _save_receipt(
    wanted: _Erasure,
    counts: Counter[str],
    review: list[dict[str, Any]],
    undoable_until: datetime | None = None,
) -> Receipt:
    receipt = _build_receipt(wanted, counts, review)
    receipt.undoable_until = undoable_until
    receipt.save(force_insert=True)
    notify_listeners(wanted.space.tenant_id, lambda: [_build_news(wanted.space, receipt)])
    return receipt


def _build_receipt(wanted: _Erasure, counts: Counter[str], review: list[dict[str, Any]]) -> Receipt:
    target = wanted.target
    ids = sorted(str(each) for each in target.ids or target.wishes) or [str(wanted.space.id)]
    return Receipt(
        tenant_id=wanted.space.tenant_id,
        target=target.kind,
        target_digest=hash_with_secret(target.kind, *ids),
        actor=wanted.actor,
        reason=wanted.reason[:500],
        counts={kind: count for kind, count in counts.items() if count},
        review=review,
        created_at=wanted.now,
    )


def _build_news(space: Space, receipt: Receipt) -> News:
    """Of no space where the whole of it goes, or it would go with it."""
    data: dict[str, Any] = {
        "receipt_id": str(receipt.id),
        "target": receipt.target,
        "counts": receipt.counts,
    }
    data["space_id"] = str(space.id)
    if receipt.undoable_until:
        data["undoable_until"] = receipt.undoable_until.isoformat()
    whole = receipt.target == "subject"
    return News("erasure.done", receipt.created_at, data, None if whole else space.id)
