"""What was told under a name that was wrong is told under the right one (spec E19).

"She's called Lea, not Lena" is of everything that is known of Lena: each claim that names her gets
a new version, with what supported it, in the one event of what was read. Where two go by the wrong
name, a person is asked of what may be of the other.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import chain
from uuid import UUID

from django.db.models import F, Q

from memoryhub.dialogues.messages import hash_text
from memoryhub.dialogues.models import Turn
from memoryhub.engines.local.claims.name_corrections import (
    find_name,
    list_changed_names,
    select_renamed_texts,
)
from memoryhub.engines.types import NameCorrection, SourceSpan
from memoryhub.pipeline.steps.derive.resolve import FactDraft
from memoryhub.policies.schema import Policy
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope
from notes.corrections.edits import copy_row
from notes.facts.intervals import is_claim_held
from notes.facts.neighbours import list_named_things
from notes.graph.build import Triple
from notes.graph.identity import load_known_entities, normalise_name
from notes.history.change_set import TurnEvidence, load_supports_of
from notes.models import Fact, Proposal, Relation
from notes.review.proposals import propose_change

TWO_OF_THE_NAME = "somebody else may go by the name that was put right"
ELSEWHERE = "the name was put right in another claim"
_WORD_COLUMNS = ("owner", "text", "subject", "object", "indirect_object", "complement")
_MOST_CLAIMS = 200  # that are told anew at once


@dataclass(frozen=True, slots=True)
class CorrectedName:
    """A name put right in a turn, with the words that do so."""

    correction: NameCorrection
    turn: Turn
    source: TurnEvidence


def put_names_right(
    space: Space,
    policy: Policy,
    drafts: Sequence[FactDraft],
    names: Sequence[CorrectedName],
    now: datetime,
) -> list[FactDraft]:
    """The drafts with the right names, behind those of the claims held that are told anew. Opens
    its own scope, if there is anything to put right."""
    found = list(drafts)
    if policy.facts.resolution != "resolve":
        return found
    for each in names:
        found = _put_name_right(space, found, each, now)
    return found


def _put_name_right(
    space: Space, drafts: Sequence[FactDraft], name: CorrectedName, now: datetime
) -> list[FactDraft]:
    correction = name.correction
    with tenant_scope(space.tenant_id):
        held = _load_claims_naming(space, [correction.old or correction.thing, correction.new])
        told = [d for d in drafts if d.renames is None and _is_told_before(d, name)]
        texts = [*(fact.text for fact in held), *(draft.fact.text for draft in told)]
        named = select_renamed_texts(correction, texts)
        over = {at for at, fact in enumerate(held) if fact.valid_to is not None}
        doubted = {*named.doubtful} - over
        meant = {*named.meant, *doubted}
        if meant <= over or named.old in space.called_names:
            return list(drafts)
        facts = [fact for at, fact in enumerate(held) if at in meant]
        triples = _load_triples(facts)
        named_keys = list_named_things(space, [fact.text for fact in facts])
        entities = load_known_entities(space, {*chain.from_iterable(named_keys)})
    doubtful = {held[at].id for at in doubted if at < len(held)}
    change = replace(correction, old=named.old)
    anew = [
        FactDraft(
            fact=_rename_fact(fact, change, name.turn.speaker, now),
            sources=[name.source],
            trusted=True,
            role=name.turn.role,
            relations=[_rename_triple(each, change) for each in triples.get(fact.id, ())],
            types={_rename_key(key, change): each.type for key, each in entities.items()},
            named=[_replace_name(entities[key].name, change) for key in keys if key in entities],
            withheld=TWO_OF_THE_NAME if fact.id in doubtful else "",
            renames=fact.id,
        )
        for fact, keys in zip(facts, named_keys, strict=True)
    ]
    renamed = {told[at - len(held)].fact.id for at in named.meant if at >= len(held)}
    kept = [
        _rename_draft(draft, change, name) if draft.fact.id in renamed else draft
        for draft in drafts
        if not _says_name_alone(draft, change, name)
    ]
    return [*anew, *kept]


def _load_claims_naming(space: Space, words: Iterable[str]) -> list[Fact]:
    """Claims with one of these names in them, or the thing that has it, those that are over last:
    what is told of the past has the right name too."""
    named = Q()
    for word in filter(None, words):
        named |= Q(text__icontains=word)
    rows = Fact.objects.filter(named, space=space, retired_at=None)
    held = rows.exclude(status=Fact.Status.RETRACTED)
    open_first = held.order_by(F("valid_to").desc(nulls_first=True), "asserted_at", "id")
    return list(open_first[:_MOST_CLAIMS])


def _load_triples(facts: Sequence[Fact]) -> Mapping[UUID, Sequence[Triple]]:
    """By fact, what it tells of entities."""
    rows = Relation.objects.filter(fact__in=facts, retired_at=None).select_related("src", "dst")
    found: dict[UUID, list[Triple]] = {}
    for row in rows:
        found.setdefault(row.fact_id, []).append((row.src.name, row.label, row.dst.name))
    return found


def _is_told_before(draft: FactDraft, name: CorrectedName) -> bool:
    """Whether a claim of the batch was told under the wrong name: before that was put right, or
    later by a pronoun."""
    source = draft.sources[0]
    if source.turn_id != name.turn.id:
        return draft.fact.asserted_at <= name.turn.occurred_at
    if _is_read_from(draft, name):
        return False
    start, end = source.start or 0, source.end or 0
    words = name.turn.text[start:end]
    return end <= (name.source.start or 0) or not find_name(name.correction.old).search(words)


def _is_read_from(draft: FactDraft, name: CorrectedName) -> bool:
    """Whether it rests on the very words that put the name right."""
    source, right = draft.sources[0], name.source
    overlaps = (source.start or 0) < (right.end or 0) and (source.end or 0) > (right.start or 0)
    return draft.renames is None and source.turn_id == name.turn.id and overlaps


def _says_name_alone(draft: FactDraft, change: NameCorrection, name: CorrectedName) -> bool:
    """Whether it says no more than the correction: whose the name is, is known better from what was
    told before ("the parrot is called Coco, not Kiki")."""
    text, source, right = draft.fact.text, draft.sources[0], name.source
    is_name_last = text.rstrip(".。").endswith(change.new)
    is_within = (source.start or 0) >= (right.start or 0) and (source.end or 0) <= (right.end or 0)
    says_name = is_name_last or is_within or find_name(change.old).search(text) is not None
    return says_name and _is_read_from(draft, name)


def _rename_fact(fact: Fact, change: NameCorrection, speaker: str, now: datetime) -> Fact:
    """The claim with the right name, as a row of its own that is not saved."""
    new = copy_row(fact)
    for column in _WORD_COLUMNS:
        setattr(new, column, _replace_name(getattr(fact, column), change))
    new.text_key = hash_text(f"{new.owner} {new.text}")
    new.speaker, new.recorded_at = speaker, now
    return new


def _rename_draft(draft: FactDraft, change: NameCorrection, name: CorrectedName) -> FactDraft:
    fact = draft.fact
    for column in _WORD_COLUMNS:
        setattr(fact, column, _replace_name(getattr(fact, column), change))
    fact.text_key = hash_text(f"{fact.owner} {fact.text}")
    return replace(
        draft,
        sources=[*draft.sources, name.source],
        relations=[_rename_triple(each, change) for each in draft.relations],
        types={_rename_key(key, change): kind for key, kind in draft.types.items()},
        named=[_replace_name(each, change) for each in draft.named],
    )


def _rename_triple(triple: Triple, change: NameCorrection) -> Triple:
    src, label, dst = triple
    return _replace_name(src, change), label, _replace_name(dst, change)


def _rename_key(key: str, change: NameCorrection) -> str:
    return normalise_name(_replace_name(key, change))


def _replace_name(text: str, change: NameCorrection) -> str:
    """A name that is typed small now is written as the other one was."""
    new = change.new
    new = new[:1].upper() + new[1:] if change.old[:1].isupper() else new
    return find_name(change.old).sub(lambda _: new, text)


def propose_right_names(space: Space, corrected: Sequence[Fact], old: str, now: datetime) -> None:
    """Ask a person whether other claims are to follow where the first of these was put in words of
    which only a name differs, `old` before: whoever corrected them has seen these alone. It is one
    case for all that is told of the one meant, and one for each claim that may be told of another
    of the name. Opens its own scope."""
    new = corrected[0]
    if not list_changed_names(old, new.text):
        return
    with tenant_scope(space.tenant_id):
        # A name that is put right twice is elsewhere as it was at first.
        versions = Fact.objects.filter(space=space, lineage=new.lineage).exclude(id=new.id)
        texts = list(versions.order_by("-lineage_version").values_list("text", flat=True))
        changes = {change: text for text in texts for change in list_changed_names(text, new.text)}
        known = {fact.lineage for fact in corrected}
        held = _load_claims_naming(space, [word for c in changes for word in (c.old, c.new)])
        others = [fact for fact in held if fact.lineage not in known]
        for change, text in changes.items():
            named = select_renamed_texts(change, [*(fact.text for fact in others), text])
            meant = [others[at] for at in named.meant if at < len(others)]
            unsure = [others[at] for at in named.doubtful if at < len(others)]
            doubtful = [fact for fact in unsure if fact.valid_to is None]
            cases = [(meant, ELSEWHERE)] if meant else []
            cases += [([fact], TWO_OF_THE_NAME) for fact in doubtful]
            if cases:
                _propose_names(space, named.old, change.new, new, cases, now)
                return


def _propose_names(
    space: Space,
    old: str,
    new: str,
    right: Fact,
    cases: Sequence[tuple[Sequence[Fact], str]],
    now: datetime,
) -> None:
    turns = {source.turn_id for source in load_supports_of(right)}
    for facts, why in cases:
        propose_change(
            space,
            Proposal.Kind.RENAME,
            f"{right.id}:{facts[0].id}",
            why,
            now,
            payload={
                "old": old,
                "new": new,
                "lineage": str(right.lineage),
                "fact_ids": [str(fact.id) for fact in facts],
            },
            row=right,
            turn_ids=turns,
        )


def select_facts_to_rename(proposal: Proposal, facts: Iterable[Fact]) -> list[Fact]:
    """Those in which the proposal would put a name right, the first told first: not what was put
    in other words or withdrawn meanwhile."""
    wanted = {*proposal.payload["fact_ids"]}
    held = (fact for fact in facts if str(fact.id) in wanted and is_claim_held(fact))
    return sorted(held, key=lambda fact: (fact.asserted_at, fact.id))


def rename_text(proposal: Proposal, text: str) -> str:
    """A claim's words as the proposal would have them."""
    return _replace_name(text, _read_change(proposal))


def rename_fact(proposal: Proposal, fact: Fact, now: datetime) -> Fact:
    """The next version of a claim, with the name that the proposal puts right; not saved."""
    new = _rename_fact(fact, _read_change(proposal), fact.speaker, now)
    new.lineage_version = fact.lineage_version + 1
    return new


def _read_change(proposal: Proposal) -> NameCorrection:
    payload = proposal.payload
    nowhere = SourceSpan("", 0, 0)
    return NameCorrection(payload["old"], payload["new"], "", nowhere, is_named=False)
