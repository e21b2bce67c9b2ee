"""What the first page of a space tells, each list cut to what one sees at a glance."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Q

from memoryhub.console.frame import charts
from memoryhub.console.frame.text.trait_levels import describe_level
from memoryhub.console.pages.facts.views import FactRow, load_fact_rows
from memoryhub.console.pages.history.queries import StreamEntry, load_latest_entries
from memoryhub.console.pages.review.queries import ReviewCase, load_riskiest_cases
from memoryhub.policies.schema import HeatPolicy, Policy
from memoryhub.tenants.models import Space
from notes.episodes.store import find_newest
from notes.facts.validity import build_plan_over_q, filter_current
from notes.models import Episode, Fact, Segment
from notes.topics.heat import annotate_heat
from personas.dimensions import DIMENSIONS, list_allowed_keys
from personas.models import ProfileAttribute, Trait
from personas.profile import load_profile
from personas.traits import get_owner_name, load_open_traits

MAX_PROFILE, MAX_TRAITS, MAX_FACTS, MAX_EVENTS, MAX_CASES, MAX_TOPICS = 8, 4, 8, 5, 3, 5


@dataclass(frozen=True, slots=True)
class SpaceGlance:
    """`traits`: (trait, its words), the surest first. `topics`: (segment, parts of its heat bar),
    the hottest first. `open_cases`: of which `cases` are the riskiest."""

    profile: list[ProfileAttribute]
    traits: list[tuple[Trait, str]]
    summary: Episode | None
    facts: list[FactRow]
    changes: list[StreamEntry]
    cases: list[ReviewCase]
    open_cases: int
    topics: list[tuple[Any, list[tuple[str, str, float, float]]]]

    @property
    def is_anybody_known(self) -> bool:
        return bool(self.profile or self.traits or self.summary)


def load_space_glance(space: Space, policy: Policy, now: datetime) -> SpaceGlance:
    """About twenty statements, however much there is. Call inside the tenant's scope."""
    cases, open_cases = load_riskiest_cases(space, MAX_CASES)
    return SpaceGlance(
        load_profile(space, now)[:MAX_PROFILE],
        _load_surest_traits(space, policy),
        find_newest(space, Episode.Kind.GLOBAL),
        load_fact_rows(select_telling_facts(space, now, MAX_FACTS)),
        load_latest_entries(space, MAX_EVENTS),
        cases,
        open_cases,
        _load_hottest_topics(space, policy.heat, now),
    )


def _load_surest_traits(space: Space, policy: Policy) -> list[tuple[Trait, str]]:
    keys = set(list_allowed_keys(extras=policy.traits.extras, sensitive=policy.traits.sensitive))
    rows = (row for row in load_open_traits(space) if row.key in keys)
    surest = sorted(rows, key=lambda row: -row.confidence)[:MAX_TRAITS]
    return [(row, describe_level(DIMENSIONS[row.key], row.level)) for row in surest]


def select_telling_facts(space: Space, now: datetime, most: int) -> list[Fact]:
    """At most `most` of what holds. No events, which are true once and for all, but those that
    changed what one has one of: a move says where somebody lives; and no plans whose day is over.
    First what is pinned, what one has one of at a time (home, trade), and what was said most
    often; of that the latest, the person's own first. Call inside the tenant's scope."""
    rows = filter_current(Fact.objects.filter(space=space, retired_at=None), now)
    ordered = (
        rows.exclude(Q(kind="event") & ~Q(cardinality="single"))
        .exclude(build_plan_over_q(now))
        .annotate(is_own=Q(owner=get_owner_name(space)), is_single=Q(cardinality="single"))
        .order_by("-pinned", "-is_own", "-is_single", "-mention_count", "-asserted_at", "-id")
    )
    return list(ordered[:most])


def _load_hottest_topics(
    space: Space, weights: HeatPolicy, now: datetime
) -> list[tuple[Any, list[tuple[str, str, float, float]]]]:
    rows = annotate_heat(Segment.objects.filter(space=space, retired_at=None), weights, now)
    hottest: list[Any] = list(rows.order_by("-heat", "-id")[:MAX_TOPICS])
    scale = max((row.heat for row in hottest), default=0.0)
    return [(row, charts.build_heat_parts(row, scale, weights)) for row in hottest]
