"""The predicates in use in a tenant, each with how it is taken and on whose word."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from django.db.models import Count, F, Func, Q, QuerySet, TextField

from memoryhub.console.frame.lists import Filters, has_all_words
from memoryhub.console.frame.text.predicate_words import format_predicate
from memoryhub.engines.local.claims.predicates import is_many_valued, is_single_valued
from memoryhub.policies.schema import FactsPolicy, split_keys
from notes.models import Fact

Taken = Literal["single", "multi"]
# A person's word goes before the table, which a model's word goes before.
Reason = Literal["person", "table", "model", "none"]


@dataclass(frozen=True, slots=True)
class PredicateUse:
    """A predicate with the facts held that have it. `singles`: how many of them were read as the
    one value of their time; `several`: as one of several at a time."""

    key: str
    facts: int = 0
    owners: int = 0
    singles: int = 0
    several: int = 0


@dataclass(frozen=True, slots=True)
class PredicateRow:
    """A predicate in use, what it is taken for, and why."""

    use: PredicateUse
    taken: Taken
    reason: Reason

    @property
    def words(self) -> str:
        return format_predicate(self.use.key)


def list_held_facts(key: str = "") -> QuerySet[Fact]:
    """Those with this predicate, or with any. Call inside the tenant's scope."""
    rows: QuerySet[Fact] = Fact.objects.filter(retired_at=None)
    return rows.filter(predicate_key=key) if key else rows.exclude(predicate_key="")


def load_predicate_uses() -> list[PredicateUse]:
    """By how many facts have them. One statement. Call inside the tenant's scope."""
    owner = Func(F("space_id"), F("owner"), function="ROW", output_field=TextField())
    # What is planned, denied or happened is one of several of any predicate.
    stands = Q(polarity="holds") & ~Q(kind="event")
    found = (
        list_held_facts()
        .order_by()
        .values("predicate_key")
        .annotate(
            facts=Count("id"),
            owners=Count(owner, distinct=True),
            singles=Count("id", filter=Q(cardinality="single")),
            several=Count("id", filter=stands & Q(cardinality="multi")),
        )
        .order_by("-facts", "predicate_key")
        .values_list("predicate_key", "facts", "owners", "singles", "several")
    )
    return [PredicateUse(*row) for row in found]


def classify_predicate_use(use: PredicateUse, facts: FactsPolicy) -> PredicateRow:
    """What a new claim with this predicate is taken for, as far as can be told beforehand."""
    if chosen := facts.get_cardinality(use.key):
        return PredicateRow(use, chosen, "person")
    known: Taken | None = (
        "single" if is_single_valued(use.key) else "multi" if is_many_valued(use.key) else None
    )
    if known is None:  # said once of any claim, it decides the later ones
        return PredicateRow(use, *(("single", "model") if use.singles else ("multi", "none")))
    read: Taken = "single" if use.singles > use.several else "multi"
    if read == known or not (use.singles or use.several):
        return PredicateRow(use, known, "table")
    return PredicateRow(use, read, "model")


def list_predicate_rows(
    uses: list[PredicateUse], facts: FactsPolicy, filters: Filters
) -> list[PredicateRow]:
    """Those that fit the filters; what a person has set and no fact has, last."""
    used = {use.key for use in uses}
    unused = (split_keys(facts.one_value) | split_keys(facts.many_values)) - used
    rows = (
        classify_predicate_use(use, facts)
        for use in (*uses, *(PredicateUse(key) for key in sorted(unused)))
    )
    return [
        row
        for row in rows
        if has_all_words(f"{row.use.key} {row.words}", filters.q)
        and filters["taken"] in ("", row.taken)
        and filters["why"] in ("", row.reason)
    ]
