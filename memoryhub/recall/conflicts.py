"""Current facts that can't all hold: the same single-valued matter of the same owner.

Resolving keeps such pairs apart when they are written; what still meets here came by different
ways, and is reported (spec §12.2 step 7).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from datetime import datetime
from uuid import UUID

from memoryhub.recall.results import Conflicting, Item
from notes.models import Fact
from notes.queries import current


def among(items: Iterable[Item], at: datetime) -> list[Conflicting]:
    """Call inside the tenant's scope."""
    ids = [item.id for item in items if item.kind == "fact"]
    if len(ids) < 2:
        return []
    rows = Fact.objects.filter(id__in=ids, cardinality="single", polarity="holds")
    held = current(rows.exclude(predicate_key=""), at)
    matters: dict[tuple[str, str], dict[UUID, str]] = defaultdict(dict)
    for fact in held.order_by("asserted_at", "id"):
        matters[fact.owner, fact.predicate_key][fact.id] = fact.text_key
    return [
        Conflicting(tuple(facts), f"{owner}: {predicate}")
        for (owner, predicate), facts in matters.items()
        if len(set(facts.values())) > 1
    ]
