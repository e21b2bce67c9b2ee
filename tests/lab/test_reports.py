"""A report says what its rows say, and nothing twice."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from memoryhub.lab.metrics.aggregate import compute_figures, compute_recall_curve, sum_calls
from memoryhub.lab.models import LabDerivation, LabOutcome, LabRun
from memoryhub.lab.reports.build import REPORT_FORMAT, build_report, load_report
from memoryhub.tenants.models import Tenant
from memoryhub.tenants.scope import tenant_scope
from memoryhub.tenants.services import create_tenant


def make_report_outcome(**given: Any) -> LabOutcome:
    known: dict[str, Any] = {
        "system": "mem0",
        "dialogue": "boats",
        "category": 4,
        "evidence": ["D1:1", "D1:2"],
        "places": {"D1:1": [1, 40], "D1:2": [7, 600]},
        "items": 9,
        "tokens": 700,
        "scores": {
            "f1": 0.5,
            "bleu1": 0.25,
            "rouge_2": 0.2,
            "rouge_l": 0.4,
            "meteor": 0.45,
            "sbert": 0.8,
        },
        "created_at": timezone.now(),
    }
    return LabOutcome(**(known | given))


def make_run(*systems: str) -> LabRun:
    now = timezone.now()
    described = [{"name": name, "signature": "w" if name != "rag" else ""} for name in systems]
    return LabRun(systems=described, created_at=now, updated_at=now)


def test_BL4_recall_counts_the_turns_shown_by_place_and_by_tokens() -> None:
    found = compute_figures([make_report_outcome()])
    assert [found[f"recall@{cut}"] for cut in (1, 5, 10)] == [0.5, 0.5, 1.0]
    assert [found[f"recall<={size}"] for size in (250, 500, 1000)] == [0.5, 0.5, 1.0]
    assert found["recall"] == 1.0


def test_what_no_outcome_says_is_unknown_and_not_nought() -> None:
    found = compute_figures([make_report_outcome(evidence=[], places={}, scores={})])
    assert found["recall"] is None
    assert found["f1"] is None
    assert found["judge"] is None
    assert found["questions"] == 1


def test_the_evidence_of_a_question_without_an_answer_is_a_trap_and_not_counted() -> None:
    trap = make_report_outcome(category=5, unanswerable=True, scores={"refusal": 1.0})
    found = build_report(make_run("mem0"), [make_report_outcome(), trap], [])["systems"][0]
    assert found["overall"]["questions"] == 1
    assert found["overall"]["f1"] == 0.5
    assert found["unanswerable"]["refusal"] == 1.0
    assert found["by_category"]["5"]["recall"] is None


def test_the_curve_rises_to_the_recall_of_the_whole_context() -> None:
    points = compute_recall_curve([make_report_outcome()])
    assert [point["tokens"] for point in points] == [50, 100, 250, 500, 1000]
    assert [point["recall"] for point in points] == [0.5, 0.5, 0.5, 0.5, 1.0]


def test_calls_add_up_by_purpose_and_money_is_kept_apart_from_the_judge_s() -> None:
    calls = {"answer": {"calls": 1, "money": 0.25}, "grade": {"calls": 1, "money": 1.0}}
    found = build_report(
        make_run("mem0"), [make_report_outcome(calls=calls), make_report_outcome(calls=calls)], []
    )
    (system,) = found["systems"]
    assert system["calls"] == {"answer": {"calls": 2, "money": 0.5}}
    assert system["judge_calls"]["grade"]["calls"] == 2
    assert system["money"] == {"writing": 0, "asking": 0.5, "judging": 2.0}
    assert sum_calls([]) == {}


def test_a_derivation_is_shown_by_every_system_that_shares_it() -> None:
    made = LabDerivation(signature="w", dialogue="boats", turns=10, seconds=2.0, counts={"fact": 3})
    found = {
        s["name"]: s for s in build_report(make_run("mem0", "tim", "rag"), [], [made])["systems"]
    }
    assert found["mem0"]["writing"]["turns_per_second"] == 5.0
    assert found["mem0"]["writing"]["shared_with"] == ["tim"]
    assert found["tim"]["writing"]["counts"] == {"fact": 3}
    assert found["rag"]["writing"]["turns"] == 0


@pytest.fixture
def tenant(db: None) -> Tenant:
    return create_tenant("Lab", "lab-owner")


def test_a_run_of_one_tenant_is_nothing_to_another(tenant: Tenant) -> None:
    run = make_run("mem0")
    run.tenant = tenant
    row = make_report_outcome(tenant=tenant, run=run, number=0)
    with tenant_scope(tenant.id):
        run.save(force_insert=True)
        row.save(force_insert=True)
        shown = load_report(run)
    assert shown["format"] == REPORT_FORMAT
    assert shown["systems"][0]["overall"]["questions"] == 1
    assert json.loads(json.dumps(shown)) == shown
    with tenant_scope(create_tenant("Other", "other").id):
        assert not LabRun.objects.exists()
        assert not LabOutcome.objects.exists()


def test_a_report_is_made_without_reading_what_was_said(tenant: Tenant) -> None:
    run = make_run("mem0")
    run.tenant = tenant
    with tenant_scope(tenant.id):
        run.save(force_insert=True)
        for number in range(3):
            make_report_outcome(tenant=tenant, run=run, number=number).save(force_insert=True)
        with CaptureQueriesContext(connection) as seen:
            made = load_report(run)
        rows = LabOutcome.objects.filter(run=run)
        assert made == build_report(run, rows, [])
    assert len(seen) == 2
    for words in ("question", "expected", "answer", "shown"):
        assert f'."{words}"' not in seen.captured_queries[0]["sql"]


def test_the_plots_are_flat_rows_of_all_systems(tenant: Tenant) -> None:
    rows = [make_report_outcome(), make_report_outcome(system="rag", category=1)]
    plots = build_report(make_run("mem0", "rag"), rows, [])["plots"]
    assert {point["system"] for point in plots["recall_against_tokens"]} == {"mem0", "rag"}
    assert {(p["system"], p["category"]) for p in plots["by_category"]} == {("mem0", 4), ("rag", 1)}
    assert {p["stage"] for p in plots["latency_ms"]} == {"recall", "answer"}
    assert [point["recall"] for point in plots["whole_context"]] == [1.0, 1.0]
