"""Measuring a space: which facts each signal finds, and that nothing of them outlives erasure."""

from __future__ import annotations

from datetime import timedelta

import pytest
from pytest_django import DjangoAssertNumQueries

from memoryhub.pipeline.erasure import erase_targets
from memoryhub.pipeline.erasure.erase_targets import ErasureTarget
from memoryhub.pipeline.models import QualityReading
from memoryhub.pipeline.steps.maintenance import quality_readings
from memoryhub.policies.services import load_effective_policy
from memoryhub.tenants.scope import tenant_scope
from notes.index import indexer
from notes.models import EvolutionEvent, Fact
from notes.quality.signals import SIGNAL_NAMES
from tests.support.factories import make_event, make_fact, make_proposal, make_turns
from tests.support.hub import ScriptedHub


@pytest.fixture
def full(hub: ScriptedHub) -> ScriptedHub:
    """A fact for each signal, and one that has none."""
    long_ago, now = hub.now - timedelta(days=400), hub.now
    with tenant_scope(hub.tenant.id):
        said, echoed = make_turns(hub.space, "I keep bees in Ghent.", "You keep bees in Ghent.")
        type(said).objects.filter(id=echoed.id).update(role="assistant")
        fresh = {"owner": "Ana", "recorded_at": now, "asserted_at": now, "valid_from": long_ago}
        old = fresh | {"recorded_at": long_ago}
        facts = [
            make_fact(hub.space, "Ana keeps bees in Ghent", said, **old, recall_count=2),
            make_fact(hub.space, "Ana keeps bees in Ghent now", echoed, **fresh),
            make_fact(hub.space, "It rains", said, **fresh),
            make_fact(
                hub.space, "Ana plays go", said, **fresh | {"asserted_at": long_ago}, pinned=False
            ),
            make_fact(hub.space, "Ana rows every week", said, **old),
            make_fact(hub.space, "Ana paints with oil", None, **fresh),
            make_fact(
                hub.space, "Ana likes tea a lot", said, **fresh, predicate_key="likes", object="tea"
            ),
            make_fact(
                hub.space,
                "Ana does not like tea",
                said,
                **fresh,
                predicate_key="likes",
                object="Tea",
                polarity="denied",
            ),
            make_fact(hub.space, "Ana lives by the sea", said, **fresh),
        ]
        hub.embedder.table |= {"keeps bees in Ghent": [1.0] * 3}
        entries = indexer.build_fact_entries(facts)
        vectors = indexer.embed_entries(entries, hub.embedder)
        indexer.write_entries(hub.space, hub.embedder.name, entries, vectors)
    return hub


def list_readings(hub: ScriptedHub) -> dict[str, list[tuple[str, str]]]:
    """The texts of each signal's samples."""
    with tenant_scope(hub.tenant.id):
        texts = {str(fact.id): fact.text for fact in Fact.objects.all()}
        return {
            row.signal: [(texts[s["fact"]], texts.get(s["other"], "")) for s in row.samples]
            for row in QualityReading.objects.all()
        }


def test_each_signal_finds_its_facts_and_no_other(full: ScriptedHub) -> None:
    quality_readings.measure_quality(full.space, full.now)
    twins = ("Ana keeps bees in Ghent now", "Ana keeps bees in Ghent")
    assert list_readings(full) == {
        "duplicates": [twins],
        "fragments": [("It rains", "")],
        "stale": [("Ana plays go", "")],
        "contradicting": [("Ana does not like tea", "Ana likes tea a lot")],
        "unrecalled": [("Ana rows every week", "")],
        "unsupported": [("Ana paints with oil", "")],
        "loops": [twins],
    }
    with tenant_scope(full.tenant.id):
        assert {(row.found, row.of) for row in QualityReading.objects.all()} == {(1, 9)}


def test_what_waits_in_the_inbox_contradicts(full: ScriptedHub) -> None:
    with tenant_scope(full.tenant.id):
        old, new = Fact.objects.filter(text__contains="Ana p").order_by("text")
        payload = {"fact_id": str(new.id), "candidate": {}}
        make_proposal(full.space, row_type="fact", row_id=old.id, payload=payload)
    quality_readings.measure_quality(full.space, full.now)
    assert ("Ana plays go", "Ana paints with oil") in list_readings(full)["contradicting"]


def test_measured_again_it_is_one_reading_a_signal(full: ScriptedHub) -> None:
    for _ in range(2):
        quality_readings.measure_quality(full.space, full.now)
    with tenant_scope(full.tenant.id):
        assert sorted(QualityReading.objects.values_list("signal", flat=True)) == sorted(
            SIGNAL_NAMES
        )


def test_the_sweep_measures_once_a_day(full: ScriptedHub) -> None:
    policy = load_effective_policy(full.space).policy
    times = []
    for hours in (0, 3, 30):
        at = full.now + timedelta(hours=hours)
        quality_readings.measure_if_changed(full.space, policy, at)
        with tenant_scope(full.tenant.id):
            times.append(QualityReading.objects.values_list("computed_at", flat=True)[0])
    assert times == [full.now, full.now, full.now + timedelta(hours=30)]


def test_what_changed_since_is_measured_when_the_day_is_over(full: ScriptedHub) -> None:
    policy, later = load_effective_policy(full.space).policy, full.now + timedelta(hours=2)
    with tenant_scope(full.tenant.id):
        EvolutionEvent.objects.update(created_at=full.now)
    assert quality_readings.measure_if_changed(full.space, policy, full.now) is None
    assert (
        quality_readings.measure_if_changed(full.space, policy, later) is None
    )  # nothing was said since
    with tenant_scope(full.tenant.id):
        make_event(full.space, created_at=later)
    tomorrow = full.now + timedelta(days=1)
    assert quality_readings.measure_if_changed(full.space, policy, later) == tomorrow
    assert quality_readings.measure_if_changed(full.space, policy, tomorrow) is None


def test_an_empty_space_has_none_of_anything(hub: ScriptedHub) -> None:
    quality_readings.measure_quality(hub.space, hub.now)
    with tenant_scope(hub.tenant.id):
        assert {(row.found, row.of) for row in QualityReading.objects.all()} == {(0, 0)}


def test_the_ids_of_what_is_erased_do_not_stay(full: ScriptedHub) -> None:
    quality_readings.measure_quality(full.space, full.now)
    with tenant_scope(full.tenant.id):
        gone = Fact.objects.get(text="Ana keeps bees in Ghent")
    erase_targets.execute_erasure(full.space, ErasureTarget("facts", (gone.id,)), "eva", full.now)
    with tenant_scope(full.tenant.id):
        assert str(gone.id) not in str(list(QualityReading.objects.values("samples")))


def test_statements_do_not_grow_with_the_facts(
    full: ScriptedHub, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    with tenant_scope(full.tenant.id):
        (turn,) = make_turns(full.space, "More.")
        for number in range(30):
            make_fact(full.space, f"Ana did thing number {number}", turn)
    with django_assert_max_num_queries(30):
        quality_readings.measure_quality(full.space, full.now)
