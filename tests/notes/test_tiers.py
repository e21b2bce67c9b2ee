"""Segments that go cold, and those that come back."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from memoryhub.pipeline.steps.maintenance import sweep
from memoryhub.pipeline.steps.topics import placement
from memoryhub.policies.schema import Policy, SegmentsPolicy
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope
from notes.history.change_set import ChangeSet
from notes.models import EvolutionEvent, Revision, Segment
from notes.topics.heat import add_visits
from notes.topics.tiers import evict_segments, filter_in_reach
from tests.support.factories import MAY, make_segment, make_space, make_tenant, make_turns

LATER = MAY + timedelta(days=1)
TWO = Policy(segments=SegmentsPolicy(max=2))


@pytest.fixture
def space(db: None) -> Space:
    tenant = make_tenant()
    with tenant_scope(tenant.id):
        return make_space(tenant)


def make_cold_segment(space: Space) -> Segment:
    """The coldest of three, moved out of sight on MAY."""
    for visits in (5, 3, 1):
        (turn,) = make_turns(space, f"Visited {visits} times")
        make_segment(space, f"{visits}", turn, visits_total=visits)
    changes = ChangeSet(space, EvolutionEvent.Kind.ARCHIVE, "pipeline", MAY)
    assert evict_segments(changes, TWO, MAY) == 1
    return Segment.objects.get(tier="cold")


def visit_segment(segment: Segment, times: int, at: datetime) -> None:
    pages = list(segment.memberships.values_list("page_id", flat=True))
    for _ in range(times):
        add_visits(segment.space, [(pages, at)])


def list_reachable() -> set[str]:
    return set(filter_in_reach(Segment.objects.all()).values_list("summary", flat=True))


def test_the_coldest_goes_and_its_revision_says_so(space: Space) -> None:
    with tenant_scope(space.tenant_id):
        cold = make_cold_segment(space)
        assert (cold.summary, cold.version) == ("1", 2)
        revision = Revision.objects.get(row_id=cold.id)
        assert revision.before is not None
        assert revision.after is not None
        assert (revision.before["tier"], revision.after["tier"]) == ("mid", "cold")
        assert list_reachable() == {"5", "3"}


def test_a_visit_brings_a_warmer_one_back_and_sends_the_coldest_away(space: Space) -> None:
    with tenant_scope(space.tenant_id):
        visit_segment(make_cold_segment(space), 4, LATER)
        assert list_reachable() == {"5", "3"}, "reading changes counters only"
        assert placement.revive_visited_segments(space, TWO, LATER) == LATER + timedelta(days=1)
        assert list_reachable() == {"5", "1"}
        assert EvolutionEvent.objects.filter(kind="archive", trigger="sweep").count() == 2
        placement.revive_visited_segments(space, TWO, LATER)
        assert EvolutionEvent.objects.filter(kind="archive").count() == 3


def test_a_visit_that_does_not_make_it_warmer_than_the_coldest_leaves_it(space: Space) -> None:
    with tenant_scope(space.tenant_id):
        visit_segment(make_cold_segment(space), 1, LATER)
        placement.revive_visited_segments(space, TWO, LATER)
        assert list_reachable() == {"5", "3"}


def test_without_a_visit_nothing_comes_back(space: Space) -> None:
    with tenant_scope(space.tenant_id):
        make_cold_segment(space)
        Segment.objects.filter(summary="3").update(visits_total=0)
        placement.revive_visited_segments(space, TWO, LATER)
        assert list_reachable() == {"5", "3"}


def test_where_nothing_is_cold_no_sweep_is_asked_for(space: Space) -> None:
    with tenant_scope(space.tenant_id):
        make_segment(space)
    assert placement.revive_visited_segments(space, TWO, LATER) is None


def test_the_sweep_looks_after_it() -> None:
    assert placement.revive_visited_segments in sweep.list_space_sweeps()
