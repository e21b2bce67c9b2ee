"""A person's word on what the pipeline may not do by itself (spec §11.7, E20, E24).

Each answer is carried out as a manual event, or as an erasure. Opens its own scopes.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any
from uuid import UUID

from memoryhub.errors import Conflict, InvalidInput
from memoryhub.news import tell
from memoryhub.pipeline import erasing, restoring
from memoryhub.pipeline.erasing import Target
from memoryhub.policies.services import policy_of
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope
from notes.correcting import by_hand
from notes.models import Entity, Fact, Proposal
from notes.proposals import news_of
from notes.recording import ChangeSet, Source
from notes.workbench import Workbench, restore
from notes.works import supports

Kind = Proposal.Kind
# What may be answered, by kind: the first carries the proposal out, the last leaves all as it is.
ANSWERS: dict[str, tuple[str, ...]] = {
    Kind.CONFLICT: ("replace", "discard", "keep"),
    Kind.QUARANTINE: ("store", "discard"),
    Kind.OVERWRITE: ("apply", "keep"),
    Kind.ERASE: ("erase", "keep"),
    Kind.MERGE: ("merge", "keep"),
}
_LEAVES_ALL = frozenset(
    {
        ("conflict", "keep"),
        ("quarantine", "discard"),
        ("overwrite", "keep"),
        ("erase", "keep"),
        ("merge", "keep"),
    }
)
_WITHDRAWS, _NO_ROW = frozenset({"correct", "retract"}), frozenset({"close", "retract"})


def answer(
    proposal: Proposal, said: str, actor: str, now: datetime, *, reason: str = ""
) -> Proposal:
    """Carry out one of the proposal's ANSWERS, for a `reason` of whoever decides. Raises
    InvalidInput, and Conflict when it was answered before or can't be done any more."""
    if said not in ANSWERS[proposal.kind]:
        known = ", ".join(ANSWERS[proposal.kind])
        raise InvalidInput(f"one of {known}", field="answer")
    with tenant_scope(proposal.tenant_id):
        space = Space.objects.get(id=proposal.space_id)
    proposal.decided_because = reason
    _take(proposal, said, actor, now)
    try:
        if (proposal.kind, said) not in _LEAVES_ALL:
            _carry_out(space, proposal, said, actor, now)
    except Exception:
        _put_back(proposal, now)
        raise
    return proposal


def _take(proposal: Proposal, said: str, actor: str, now: datetime) -> None:
    """Close it first, so that two people don't carry it out twice."""
    left = (proposal.kind, said) in _LEAVES_ALL
    proposal.state = Proposal.State.REJECTED if left else Proposal.State.ACCEPTED
    with tenant_scope(proposal.tenant_id):
        done = Proposal.objects.filter(id=proposal.id, state=Proposal.State.OPEN).update(
            state=proposal.state,
            decided_at=now,
            decided_by=actor,
            decided_because=proposal.decided_because,
        )
        if done:
            tell(proposal.tenant_id, lambda: [news_of(proposal, "conflict.resolved", now)])
    if done != 1:
        raise Conflict("this was answered before", code="already_answered")


def _put_back(proposal: Proposal, now: datetime) -> None:
    proposal.state = Proposal.State.OPEN
    with tenant_scope(proposal.tenant_id):
        Proposal.objects.filter(id=proposal.id).update(
            state=proposal.state, decided_at=None, decided_by="", decided_because=""
        )
        tell(proposal.tenant_id, lambda: [news_of(proposal, "conflict.opened", now)])


def _carry_out(space: Space, proposal: Proposal, said: str, actor: str, now: datetime) -> None:
    if proposal.kind == Kind.ERASE:
        why = proposal.decided_because or "asked to forget"
        erasing.execute(space, erase_target(proposal), actor, now, reason=why)
        return
    work: Work = {
        "replace": _replace,
        "discard": _discard,
        "store": _store,
        "apply": _apply,
        "merge": _merge,
    }[said]
    why = proposal.decided_because or f"accepted: {proposal.reason}"[:500]
    by_hand(space, actor, now, why, _bound(work, proposal))
    restoring.settle(space.id, space.tenant_id, str(proposal.id), now)


Work = Callable[[Workbench, ChangeSet, Proposal], None]


def _bound(work: Work, proposal: Proposal) -> Callable[[Workbench, ChangeSet], None]:
    return lambda bench, changes: work(bench, changes, proposal)


def erase_target(proposal: Proposal) -> Target:
    """The claims, the turns that say them, and the wish where it says them once more: a wish to
    forget leaves nothing to be found."""
    ids = [UUID(str(each)) for each in proposal.payload.get("fact_ids", [])]
    if not ids and proposal.row_id:
        ids = [proposal.row_id]
    return Target("facts", tuple(ids), sources=True, wishes=tuple(proposal.turn_ids))


def _replace(bench: Workbench, changes: ChangeSet, proposal: Proposal) -> None:
    """The stored claim takes the place of the one it contradicts."""
    old: Fact = bench.row("fact", proposal.row_id or UUID(int=0))
    new: Fact = bench.row("fact", UUID(str(proposal.payload["fact_id"])))
    if new.valid_from < old.valid_from:
        bench.edit(
            changes,
            new,
            valid_to=old.valid_from,
            status=Fact.Status.SUPERSEDED,
            confidence=max(new.confidence, 0.9),
        )
        return
    slot = _end(bench, changes, old, new, str(proposal.payload.get("op", "supersede")))
    same = old.predicate_key == new.predicate_key
    bench.edit(
        changes,
        new,
        supersedes_id=old.id,
        confidence=max(new.confidence, 0.9),
        cardinality=old.cardinality if same else new.cardinality,
        **slot,
    )


def _end(bench: Workbench, changes: ChangeSet, old: Fact, new: Fact, op: str) -> dict[str, Any]:
    """End the old claim; the slot on the shelf that it leaves to its successor, if it had one."""
    slot = {"shelf": old.shelf, "shelved_at": old.shelved_at} if old.shelf else {}
    off: dict[str, Any] = {"shelf": Fact.Shelf.NONE, "shelved_at": None}
    if op in _WITHDRAWS:
        bench.edit(changes, old, status=Fact.Status.RETRACTED, retired_at=bench.now, **off)
    elif op == "augment":
        bench.edit(changes, old, retired_at=bench.now, **off)
    else:
        until = max(new.valid_from, old.valid_from)
        bench.edit(changes, old, valid_to=until, status=Fact.Status.SUPERSEDED, **off)
    return slot


def _discard(bench: Workbench, changes: ChangeSet, proposal: Proposal) -> None:
    row = bench.row("fact", UUID(str(proposal.payload["fact_id"])))
    bench.edit(changes, row, status=Fact.Status.RETRACTED, corrected_by=bench.actor)


def _candidate(bench: Workbench, proposal: Proposal) -> tuple[Fact, list[Source]]:
    """A row of the candidate that the proposal keeps, not saved, with its support."""
    fact = Fact(tenant_id=bench.space.tenant_id, space=bench.space)
    fresh = {"id", "lineage", "lineage_version", "version", "supersedes_id", "retired_at"}
    given = proposal.payload["candidate"]
    restore(fact, {name: value for name, value in given.items() if name not in fresh})
    kept = proposal.payload.get("sources", [])
    sources = [Source(UUID(s["turn"]), s.get("start"), s.get("end")) for s in kept]
    fact.recorded_at, fact.confidence = bench.now, max(fact.confidence, 0.9)
    return fact, sources


def _store(bench: Workbench, changes: ChangeSet, proposal: Proposal) -> None:
    """A person vouches for what was held back; it stands beside what is held."""
    fact, sources = _candidate(bench, proposal)
    fact.cardinality = "multi"
    bench.add(changes, fact, sources)


def _apply(bench: Workbench, changes: ChangeSet, proposal: Proposal) -> None:
    """Write what would have changed a row that a person had corrected or pinned."""
    row = bench.row(proposal.row_type, proposal.row_id or UUID(int=0))
    if proposal.row_type == "fact" and "candidate" in proposal.payload:
        _apply_claim(bench, changes, row, proposal)
        return
    given = proposal.payload.get("values", proposal.payload)
    columns = {column.attname for column in row._meta.concrete_fields}
    values: dict[str, Any] = {name: value for name, value in given.items() if name in columns}
    if not values:
        raise InvalidInput("there is nothing to write in this proposal", field="payload")
    bench.edit(changes, row, **values)


def _apply_claim(bench: Workbench, changes: ChangeSet, old: Fact, proposal: Proposal) -> None:
    op = str(proposal.payload.get("op", "supersede"))
    new, sources = _candidate(bench, proposal)
    slot = _end(bench, changes, old, new, op)
    if op in _NO_ROW:
        return
    for name, value in slot.items():
        setattr(new, name, value)
    if op == "augment":
        new.valid_from, new.valid_to, new.status = old.valid_from, old.valid_to, old.status
        new.mention_count = old.mention_count + 1
        sources = [*supports(old.id), *sources]  # united, as where nobody has to be asked
    else:
        new.supersedes = old
    same = (old.owner, old.predicate_key) == (new.owner, new.predicate_key)
    if op == "augment" or (same and old.predicate_key):
        new.lineage, new.lineage_version = old.lineage, old.lineage_version + 1
    bench.add(changes, new, sources)


def _merge(bench: Workbench, changes: ChangeSet, proposal: Proposal) -> None:
    entity: Entity = bench.row("entity", UUID(str(proposal.payload["entity"])))
    into: Entity = bench.row("entity", UUID(str(proposal.payload["into"])))
    if entity.id == into.id or entity.merged_into_id or into.merged_into_id:
        raise Conflict("one of the two is merged already", code="already_merged")
    bench.edit(changes, entity, merged_into_id=into.id)
    aliases = [*dict.fromkeys([*into.aliases, entity.name])]
    bench.edit(changes, into, aliases=aliases)


def grant_wishes(space: Space, now: datetime) -> int:
    """Erase at once what the subject asked to forget, where it is clear what is meant and the
    policy says so (E20); the other wishes wait for a person. Returns how many were granted.

    A wish is clear when its proposal says so (`auto`). Call outside of any scope.
    """
    with tenant_scope(space.tenant_id):
        if policy_of(space).policy.erase.on_request != "auto":
            return 0
        open_ones = Proposal.objects.filter(
            space=space, kind=Kind.ERASE, state=Proposal.State.OPEN, payload__auto=True
        )
        wishes = list(open_ones.order_by("created_at", "id"))
    return sum(_grant(wish, now) for wish in wishes)


def _grant(wish: Proposal, now: datetime) -> bool:
    """False where an erasure has taken the wish along meanwhile: two that mean the same."""
    try:
        answer(wish, "erase", "policy: erase.on_request", now)
    except Conflict:
        return False
    return True
