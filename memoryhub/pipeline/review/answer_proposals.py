"""A person's word on what the pipeline may not do by itself (spec §11.7, E20, E24).

Each answer is carried out as a manual event, or as an erasure. Opens its own scopes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any
from uuid import UUID

from django.utils.translation import gettext as _

from memoryhub.background.news import notify_listeners
from memoryhub.dialogues.messages import check_text
from memoryhub.errors import Conflict, InvalidInput, MemoryHubError
from memoryhub.pipeline import corrections
from memoryhub.pipeline.erasure import erase_targets
from memoryhub.pipeline.erasure.erase_targets import ErasureTarget
from memoryhub.pipeline.review.answers import (
    OPS_WITHOUT_ROW,
    find_proposed_text,
    find_text_column,
    list_answers,
    translate_common_answer,
)
from memoryhub.pipeline.steps.derive.name_corrections import rename_fact, select_facts_to_rename
from memoryhub.policies.services import load_effective_policy
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope
from notes.corrections.edits import (
    FactCorrection,
    build_next_version,
    correct_fact,
    merge_entities,
    replace_version,
)
from notes.facts.fact_shelf import OFF_SHELF
from notes.history.change_set import ChangeSet, TurnEvidence, load_supports, load_supports_of
from notes.history.unit_of_work import UnitOfWork, load_event_standing, restore_columns
from notes.models import EvolutionEvent, Fact, Proposal, Receipt
from notes.review.moot import build_proposal_news

Kind = Proposal.Kind
_ANSWERS_WITHOUT_EFFECT = frozenset(
    {("quarantine", "discard"), *((kind, "keep") for kind in Kind if kind != Kind.QUARANTINE)}
)
_RETRACTING_OPS = frozenset({"correct", "retract"})


def answer_proposal(
    proposal: Proposal, said: str, actor: str, now: datetime, *, reason: str = "", text: str = ""
) -> Proposal:
    """Carry out one of the proposal's answers, for a `reason` of whoever decides. `text`: what is
    new in other words, where it is accepted or kept beside. Raises InvalidInput, and Conflict
    when it was answered before or can't be done any more."""
    said = translate_common_answer(proposal.kind, said)
    if said not in list_answers(proposal):
        known = ", ".join(list_answers(proposal))
        raise InvalidInput(_("one of %(known)s") % {"known": known}, field="answer")
    words = _check_new_text(proposal, said, text)
    with tenant_scope(proposal.tenant_id):
        space = Space.objects.get(id=proposal.space_id)
    proposal.decided_because = reason
    _close_proposal(proposal, said, actor, now)
    try:
        if (proposal.kind, said) not in _ANSWERS_WITHOUT_EFFECT:
            _carry_out_answer(space, proposal, said, actor, now, words)
    except Exception:
        _reopen_proposal(proposal, now)
        raise
    return proposal


def _check_new_text(proposal: Proposal, said: str, text: str) -> str:
    """The words to be written instead of those proposed, "" for none. Raises InvalidInput."""
    words = check_text(text, field="text").strip() if text.strip() else ""
    if not words or words == find_proposed_text(proposal):
        return ""
    if not find_proposed_text(proposal) or said not in ("replace", "store", "apply"):
        raise InvalidInput(_("this answer writes no words of its own"), field="text")
    return words


def _close_proposal(proposal: Proposal, said: str, actor: str, now: datetime) -> None:
    """Close it first, so that two people don't carry it out twice."""
    left = (proposal.kind, said) in _ANSWERS_WITHOUT_EFFECT
    proposal.state = Proposal.State.REJECTED if left else Proposal.State.ACCEPTED
    with tenant_scope(proposal.tenant_id):
        done = Proposal.objects.filter(id=proposal.id, state=Proposal.State.OPEN).update(
            state=proposal.state,
            decided_at=now,
            decided_by=actor[:120],
            decided_because=proposal.decided_because,
            event=None,
        )
        if done:
            notify_listeners(
                proposal.tenant_id,
                lambda: [build_proposal_news(proposal, "conflict.resolved", now)],
            )
    if done != 1:
        raise Conflict(_("this was answered before"), code="already_answered")


def _reopen_proposal(proposal: Proposal, now: datetime) -> None:
    proposal.state = Proposal.State.OPEN
    with tenant_scope(proposal.tenant_id):
        Proposal.objects.filter(id=proposal.id).update(
            state=proposal.state, decided_at=None, decided_by="", decided_because="", event=None
        )
        notify_listeners(
            proposal.tenant_id, lambda: [build_proposal_news(proposal, "conflict.opened", now)]
        )


def take_back_answer(
    proposal: Proposal, actor: str, now: datetime, *, reason: str = ""
) -> Proposal:
    """Undo what its answer did, and open it again. No rule answers it a second time.

    Raises Conflict: it is open, its answer erased something, or more was built on it since.
    """
    if proposal.state == Proposal.State.OPEN:
        raise Conflict(_("this is open: there is nothing to take back"), code="not_answered")
    if proposal.kind == Kind.ERASE and proposal.state == Proposal.State.ACCEPTED:
        raise Conflict(_("what was erased is gone for good"), code="not_undoable")
    with tenant_scope(proposal.tenant_id):
        event = _find_standing_event(proposal)
    if event is not None:
        corrections.undo_event(event, actor, now, reason=reason or "an answer taken back")
    _reopen_proposal(proposal, now)
    return proposal


def _find_standing_event(proposal: Proposal) -> EvolutionEvent | None:
    """The change-set of its answer, unless that was undone in the history already."""
    event: EvolutionEvent | None = proposal.event
    is_standing = event and load_event_standing(proposal.space).select_standing({event.id})
    return event if is_standing else None


@dataclass(frozen=True, slots=True)
class AnswerOutcome:
    """What came of one of many: `refused` says why it was not done."""

    proposal: Proposal
    refused: str = ""


def run_for_each(
    proposals: Iterable[Proposal], work: Callable[[Proposal], object]
) -> list[AnswerOutcome]:
    """Do it to one after the other; one that can't be done leaves the others alone."""
    outcomes: list[AnswerOutcome] = []
    for proposal in proposals:
        refused = ""
        try:
            work(proposal)
        except MemoryHubError as error:
            refused = error.message
        outcomes.append(AnswerOutcome(proposal, refused))
    return outcomes


def _carry_out_answer(
    space: Space, proposal: Proposal, said: str, actor: str, now: datetime, words: str
) -> None:
    if proposal.kind == Kind.ERASE:
        _erase_wished(space, proposal, build_erasure_target(proposal), actor, now)
        return
    work, meaning = _WORK_BY_ANSWER[said]
    why = proposal.decided_because or f"{meaning}: {proposal.reason}"[:500]
    edit = partial(work, proposal=proposal, words=words)
    proposal.event = corrections.edit_rows(space, edit, actor, now, reason=why).event
    with tenant_scope(space.tenant_id):
        Proposal.objects.filter(id=proposal.id).update(event=proposal.event)


def grant_request(
    proposal: Proposal,
    target: ErasureTarget,
    actor: str,
    now: datetime,
    *,
    reason: str = "",
    confirmed: bool = True,
) -> Receipt:
    """Erase what a person has chosen for a wish to be forgotten, which is answered by it, or what
    it plainly means, which nobody has `confirmed`. Opens its own scopes. Raises Conflict when it
    was answered before."""
    with tenant_scope(proposal.tenant_id):
        space = Space.objects.get(id=proposal.space_id)
    proposal.decided_because = reason
    _close_proposal(proposal, "erase", actor, now)
    try:
        return _erase_wished(space, proposal, target, actor, now, confirmed=confirmed)
    except Exception:
        _reopen_proposal(proposal, now)
        raise


def _erase_wished(
    space: Space,
    proposal: Proposal,
    target: ErasureTarget,
    actor: str,
    now: datetime,
    *,
    confirmed: bool = True,
) -> Receipt:
    why = proposal.decided_because or "asked to forget"
    return erase_targets.execute_erasure(space, target, actor, now, reason=why, confirmed=confirmed)


def build_erasure_target(proposal: Proposal) -> ErasureTarget:
    """The claims, the turns that say them, and the wish where it says them once more: a wish to
    forget leaves nothing to be found."""
    ids = [UUID(str(each)) for each in proposal.payload.get("fact_ids", [])]
    if not ids and proposal.row_id:
        ids = [proposal.row_id]
    return ErasureTarget("facts", tuple(ids), sources=True, wishes=tuple(proposal.turn_ids))


def _replace_fact(bench: UnitOfWork, changes: ChangeSet, proposal: Proposal, words: str) -> None:
    """The stored claim takes the place of the one it contradicts."""
    old: Fact = bench.get_row("fact", proposal.row_id or UUID(int=0))
    new: Fact = bench.get_row("fact", UUID(str(proposal.payload["fact_id"])))
    if words:
        new = correct_fact(bench, changes, new, FactCorrection(words))
    if new.valid_from < old.valid_from:
        bench.edit_row(
            changes,
            new,
            valid_to=old.valid_from,
            status=Fact.Status.SUPERSEDED,
            confidence=max(new.confidence, 0.9),
        )
        return
    slot = _end_fact(bench, changes, old, new, str(proposal.payload.get("op", "supersede")))
    same = old.predicate_key == new.predicate_key
    bench.edit_row(
        changes,
        new,
        supersedes_id=old.id,
        confidence=max(new.confidence, 0.9),
        cardinality=old.cardinality if same else new.cardinality,
        **slot,
    )


def _end_fact(
    bench: UnitOfWork, changes: ChangeSet, old: Fact, new: Fact, op: str
) -> dict[str, Any]:
    """End the old claim; the slot on the shelf that it leaves to its successor, if it had one."""
    slot = {"shelf": old.shelf, "shelved_at": old.shelved_at} if old.shelf else {}
    if op in _RETRACTING_OPS:
        ended: dict[str, Any] = {"status": Fact.Status.RETRACTED, "retired_at": bench.now}
    elif op == "augment":
        ended = {"retired_at": bench.now}
    else:
        until = max(new.valid_from, old.valid_from)
        ended = {"valid_to": until, "status": Fact.Status.SUPERSEDED}
    bench.edit_row(changes, old, **ended, **OFF_SHELF)
    return slot


def _discard_fact(bench: UnitOfWork, changes: ChangeSet, proposal: Proposal, words: str) -> None:
    row = bench.get_row("fact", UUID(str(proposal.payload["fact_id"])))
    bench.edit_row(changes, row, status=Fact.Status.RETRACTED, corrected_by=bench.actor)


def _build_candidate(
    bench: UnitOfWork, proposal: Proposal, words: str
) -> tuple[Fact, list[TurnEvidence]]:
    """A row of the candidate that the proposal keeps, not saved, with its support."""
    fact = Fact(tenant_id=bench.space.tenant_id, space=bench.space)
    fresh = {"id", "lineage", "lineage_version", "version", "supersedes_id", "retired_at"}
    given = proposal.payload["candidate"]
    restore_columns(fact, {name: value for name, value in given.items() if name not in fresh})
    kept = proposal.payload.get("sources", [])
    sources = [TurnEvidence(UUID(s["turn"]), s.get("start"), s.get("end")) for s in kept]
    fact.recorded_at, fact.confidence = bench.now, max(fact.confidence, 0.9)
    if words:
        fact = build_next_version(fact, words, bench.now)
        fact.lineage_version, fact.corrected_by = 1, bench.actor
    return fact, sources


def _store_candidate(bench: UnitOfWork, changes: ChangeSet, proposal: Proposal, words: str) -> None:
    """A person vouches for what was held back; it stands beside what is held."""
    fact, sources = _build_candidate(bench, proposal, words)
    fact.cardinality = "multi"
    bench.add_row(changes, fact, sources)


def _apply_overwrite(bench: UnitOfWork, changes: ChangeSet, proposal: Proposal, words: str) -> None:
    """Write what would have changed a row that a person had corrected or pinned."""
    row = bench.get_row(proposal.row_type, proposal.row_id or UUID(int=0))
    if proposal.row_type == "fact" and "candidate" in proposal.payload:
        _apply_claim_overwrite(bench, changes, row, proposal, words)
        return
    given = proposal.payload.get("values", proposal.payload)
    columns = {column.attname for column in row._meta.concrete_fields}
    values: dict[str, Any] = {name: value for name, value in given.items() if name in columns}
    if not values:
        raise InvalidInput(_("there is nothing to write in this proposal"), field="payload")
    if words:
        values[find_text_column(proposal)] = words
    bench.edit_row(changes, row, **values)


def _apply_claim_overwrite(
    bench: UnitOfWork, changes: ChangeSet, old: Fact, proposal: Proposal, words: str
) -> None:
    op = str(proposal.payload.get("op", "supersede"))
    new, sources = _build_candidate(bench, proposal, words)
    slot = _end_fact(bench, changes, old, new, op)
    if op in OPS_WITHOUT_ROW:
        return
    for name, value in slot.items():
        setattr(new, name, value)
    if op == "augment":
        new.valid_from, new.valid_to, new.status = old.valid_from, old.valid_to, old.status
        new.mention_count = old.mention_count + 1
        # united, as where nobody has to be asked
        sources = [*load_supports_of(old), *sources]
    else:
        new.supersedes = old
    same = (old.owner, old.predicate_key) == (new.owner, new.predicate_key)
    if op == "augment" or (same and old.predicate_key):
        new.lineage, new.lineage_version = old.lineage, old.lineage_version + 1
    bench.add_row(changes, new, sources)


def _merge_entities(bench: UnitOfWork, changes: ChangeSet, proposal: Proposal, words: str) -> None:
    entity, into = (UUID(str(proposal.payload[name])) for name in ("entity", "into"))
    merge_entities(bench, changes, entity, into)


def _rename_facts(bench: UnitOfWork, changes: ChangeSet, proposal: Proposal, words: str) -> None:
    """Put a name right in all the claims that still have the wrong one."""
    bench.load_rows([("fact", UUID(each)) for each in proposal.payload["fact_ids"]])
    held = (bench.rows["fact", UUID(each)] for each in proposal.payload["fact_ids"])
    facts = select_facts_to_rename(proposal, (fact for fact in held if fact is not None))
    if not facts:
        raise Conflict(_("no memory has this name any more"), code="no_change")
    supports = load_supports("fact", [fact.id for fact in facts])
    for fact in facts:
        new = rename_fact(proposal, fact, bench.now)
        replace_version(bench, changes, fact, new, supports.get(fact.id, []))


# What each answer does, given what is new in other words or ""; and what it comes to.
_WORK_BY_ANSWER: dict[str, tuple[Callable[..., None], str]] = {
    "replace": (_replace_fact, "accepted"),
    "apply": (_apply_overwrite, "accepted"),
    "merge": (_merge_entities, "accepted"),
    "rename": (_rename_facts, "accepted"),
    "store": (_store_candidate, "kept beside what is held"),
    "discard": (_discard_fact, "rejected"),
}


def grant_forget_requests(space: Space, now: datetime) -> list[Receipt]:
    """Erase at once what the subject asked to forget, where it is clear what is meant and the
    policy says so (E20); the other wishes wait for a person. Returns the receipts.

    A wish is clear when its proposal says so (`auto`). Call outside of any scope.
    """
    with tenant_scope(space.tenant_id):
        if load_effective_policy(space).policy.erase.on_request != "auto":
            return []
        open_ones = Proposal.objects.filter(
            space=space, kind=Kind.ERASE, state=Proposal.State.OPEN, payload__auto=True
        )
        wishes = list(open_ones.order_by("created_at", "id"))
    receipts = (_grant_clear_request(wish, now) for wish in wishes)
    return [receipt for receipt in receipts if receipt is not None]


def _grant_clear_request(wish: Proposal, now: datetime) -> Receipt | None:
    """None where an erasure has taken the wish along meanwhile: two that mean the same."""
    try:
        target = build_erasure_target(wish)
        return grant_request(wish, target, "policy: erase.on_request", now, confirmed=False)
    except Conflict:
        return None


MAX_OPEN_COUNT = 100


def count_open_cases() -> int:
    """At most 100, which says "many". Call inside the tenant's scope."""
    rows = Proposal.objects.filter(state=Proposal.State.OPEN).order_by()
    return rows[:MAX_OPEN_COUNT].count()
