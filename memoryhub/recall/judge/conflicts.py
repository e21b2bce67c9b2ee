"""Facts that can't all hold, reported and never changed by a search (spec §12.2 step 7).

Resolving keeps those of one single-valued matter of the same owner apart when they are written;
what still meets here came by different ways. And what resolving may not decide by itself waits
for a person: until one has answered, it is not known which of the two is true.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime
from uuid import UUID

from django.db.models import Q

from memoryhub.dialogues.messages import normalise_text
from memoryhub.recall.question.prepare import PreparedQuestion
from memoryhub.recall.render.results import ConflictingMemories, MemoryItem
from memoryhub.tenants.scope import reading_scope
from notes.models import Proposal

# What a person is asked about claims that are there.
_KINDS = (Proposal.Kind.CONFLICT, Proposal.Kind.OVERWRITE)


def list_conflicts(ask: PreparedQuestion, items: Sequence[MemoryItem]) -> list[ConflictingMemories]:
    """What of the `items` can't all hold, and what of them a case of the inbox is about, with what
    contradicts it. Opens its own scope where there are cases."""
    clashing = _find_clashing(items, ask.visibility.at)
    reported = [frozenset(each.ids) for each in clashing]
    cases = _load_open_cases(ask, items) if ask.has_cases else []
    return [*clashing, *(case for case in cases if frozenset(case.ids) not in reported)]


def _load_open_cases(
    ask: PreparedQuestion, items: Sequence[MemoryItem]
) -> list[ConflictingMemories]:
    ids = [item.id for item in items if item.kind == "fact"]
    about = Q(row_id__in=ids) | Q(payload__fact_id__in=[str(each) for each in ids])
    with reading_scope(ask.space.tenant_id):
        rows = Proposal.objects.filter(
            about, space=ask.space, row_type="fact", kind__in=_KINDS, state=Proposal.State.OPEN
        ).order_by("created_at", "id")
        told = list(rows.values_list("row_id", "payload__fact_id", "reason"))
    return [
        ConflictingMemories(_list_disputed_ids(held, beside), reason)
        for held, beside, reason in told
    ]


def _list_disputed_ids(held: UUID | None, beside: str | None) -> tuple[UUID, ...]:
    """What is held, and what is kept beside it until a person has decided."""
    return tuple(each for each in (held, UUID(beside) if beside else None) if each)


def _find_clashing(items: Iterable[MemoryItem], at: datetime) -> list[ConflictingMemories]:
    """Those that hold at `at` and say different things of one matter."""
    matters: dict[str, list[MemoryItem]] = defaultdict(list)
    for item in sorted(items, key=lambda item: (item.occurred_at, item.id)):
        if item.matter and _holds_at(item, at):
            matters[item.matter].append(item)
    return [
        ConflictingMemories(tuple(dict.fromkeys(item.id for item in told)), matter)
        for matter, told in matters.items()
        if len({normalise_text(item.text) for item in told}) > 1
    ]


def _holds_at(item: MemoryItem, at: datetime) -> bool:
    begun = item.valid_from is None or item.valid_from <= at
    return begun and (item.valid_to is None or item.valid_to > at)
