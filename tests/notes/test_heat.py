from __future__ import annotations

from datetime import timedelta

import pytest

from memoryhub.policies.schema import HeatPolicy, Policy
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope
from notes.history.change_set import ChangeSet
from notes.models import EvolutionEvent, Page, Revision, Segment, SegmentPage
from notes.topics.heat import (
    add_visits,
    annotate_heat,
    compute_eviction_heat,
    compute_heat,
    compute_promotion_heat,
    compute_recency,
    find_due_promotions,
    mark_promoted,
)
from tests.support.factories import MAY, make_segment, make_space, make_tenant, make_turns

POLICY = Policy()
WEIGHTS = HeatPolicy()


@pytest.fixture
def space(db: None) -> Space:
    tenant = make_tenant()
    with tenant_scope(tenant.id):
        return make_space(tenant)


def make_warm_segment(space: Space, pages: int, **values: int) -> Segment:
    turns = make_turns(space, *(f"Words {number}" for number in range(pages)))
    return make_segment(space, "Warm", *turns, promo_pages=pages, **values)


def list_due_names(space: Space) -> list[str]:
    return [due.segment.summary for due in find_due_promotions(space, POLICY, MAY)]


def test_MO4_heat_of_pages_alone() -> None:
    assert compute_heat(0, 4, 0, WEIGHTS) == 5.0
    assert compute_heat(0, 5, 0, WEIGHTS) == 6.0


def test_MO4_promotion_is_strictly_over_tau(space: Space) -> None:
    with tenant_scope(space.tenant_id):
        make_warm_segment(space, 4)
        assert list_due_names(space) == []
        make_warm_segment(space, 5)
        (due,) = find_due_promotions(space, POLICY, MAY)
        assert (due.segment.pages_total, len(due.pages)) == (5, 5)


def test_MO5_recency_after_mu() -> None:
    assert compute_recency(1e7, 1e7) == pytest.approx(0.3679, abs=1e-4)
    assert compute_heat(0, 0, 1e7, WEIGHTS) == pytest.approx(0.3679, abs=1e-4)


def test_MO5_E29_a_visit_to_come_counts_as_now() -> None:
    assert compute_recency(-5.0, 1e7) == 1.0


@pytest.mark.parametrize(("reset", "visits"), [("both", 0), ("pages", 3)])
def test_MO6_promotion_reads_what_was_sent_and_leaves_eviction_alone(
    space: Space, reset: str, visits: int
) -> None:
    weights = HeatPolicy.model_validate({"reset": reset})
    with tenant_scope(space.tenant_id):
        make_warm_segment(space, 5, promo_visits=3, visits_total=3)
        (due,) = find_due_promotions(space, POLICY, MAY)
        (late,) = make_turns(space, "Meanwhile")
        page = Page.objects.create(
            tenant_id=space.tenant_id,
            space=space,
            session=late.session,
            first_seq=late.seq,
            last_seq=late.seq,
        )
        SegmentPage.objects.create(
            tenant_id=space.tenant_id, space=space, segment=due.segment, page=page, added_at=MAY
        )
        Segment.objects.update(promo_pages=6, pages_total=6)
        before = compute_eviction_heat(Segment.objects.get(), weights, MAY)
        changes = ChangeSet(space, EvolutionEvent.Kind.PROMOTE, "pipeline", MAY)
        mark_promoted(changes, due.segment, due.pages, weights, MAY)
        changes.save()

        segment = Segment.objects.get()
        assert (segment.promo_pages, segment.promo_visits) == (1, visits)
        assert compute_eviction_heat(segment, weights, MAY) == before == 10.0
        unread = Page.objects.filter(analysed_at=None)
        assert [p.id for p in unread] == [page.id]
        assert Revision.objects.filter(row_type="page").count() == 5
        assert Revision.objects.get(row_type="segment").version_after == segment.version == 2


def test_MO7_a_hot_segment_with_nothing_to_read_starves_nobody(space: Space) -> None:
    with tenant_scope(space.tenant_id):
        hottest = make_warm_segment(space, 9)
        Page.objects.filter(memberships__segment=hottest).update(analysed_at=MAY)
        Segment.objects.update(summary="Hottest")
        make_warm_segment(space, 6)
        assert list_due_names(space) == ["Warm"]


def test_stale_cold_and_retired_segments_are_not_promoted(space: Space) -> None:
    with tenant_scope(space.tenant_id):
        for values in ({"stale": True}, {"tier": "cold"}, {"retired_at": MAY}):
            Segment.objects.filter(id=make_warm_segment(space, 9).id).update(**values)
        assert list_due_names(space) == []


def test_a_visit_counts_once_a_retrieval_for_segments_with_one_of_the_pages(space: Space) -> None:
    with tenant_scope(space.tenant_id):
        seen, other = make_warm_segment(space, 3), make_warm_segment(space, 2)
        pages = Page.objects.filter(memberships__segment=seen).values_list("id", flat=True)
        later = MAY + timedelta(days=1)
        assert add_visits(space, [(list(pages), later)]) == 1
        seen.refresh_from_db()
        other.refresh_from_db()
        assert (seen.visits_total, seen.promo_visits, seen.last_visited_at) == (1, 1, later)
        assert (other.visits_total, other.last_visited_at) == (0, MAY)
        add_visits(space, [(list(pages), MAY)])
        seen.refresh_from_db()
        assert seen.last_visited_at == later, "a replay does not make it colder"
        assert seen.version == 1
        assert add_visits(space, [([], MAY)]) == 0
        two = [(list(pages), MAY), (list(pages)[:1], later)]
        assert add_visits(space, two) == 1
        seen.refresh_from_db()
        assert seen.visits_total == 4, "one an answer, however many of its pages it showed"


def test_the_database_and_the_formula_agree(space: Space) -> None:
    with tenant_scope(space.tenant_id):
        make_warm_segment(space, 3, visits_total=4, promo_visits=2)
        at = MAY + timedelta(days=40)
        (row,) = annotate_heat(Segment.objects.all(), WEIGHTS, at)
        assert row.heat == pytest.approx(compute_eviction_heat(row, WEIGHTS, at), abs=1e-6)
        assert row.promotion == pytest.approx(compute_promotion_heat(row, WEIGHTS, at), abs=1e-6)
