"""Figures over time: what is counted, what too few leave out, and the tables beside."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from memoryhub.console.pages.figures import plots, queries
from memoryhub.golden.models import ReplayAnswer, ReplayRun
from memoryhub.recall.models import RecallLog
from memoryhub.tenants.scope import tenant_scope
from notes.models import Fact
from tests.console.conftest import ConsoleWorld
from tests.support.factories import MAY, make_fact, make_proposal, make_replay, make_space

NOW = MAY + timedelta(days=30)


def make_questions(world: ConsoleWorld, took: list[float]) -> None:
    for milliseconds in took:
        RecallLog.objects.create(
            tenant=world.tenant,
            space=world.space,
            form="search",
            asked_at=MAY,
            query="where",
            milliseconds=milliseconds,
        )


@pytest.fixture
def scoped(world: ConsoleWorld) -> Any:
    with tenant_scope(world.tenant.id):
        yield make_space(world.tenant, "lives")


def test_facts_are_counted_by_the_week_they_were_said_or_ended_in(scoped: Any) -> None:
    porto = make_fact(scoped, "lives in Porto", asserted_at=MAY, valid_to=MAY + timedelta(days=7))
    later = MAY + timedelta(days=7)
    make_fact(scoped, "lives in Madrid", asserted_at=later, supersedes=porto)
    make_fact(scoped, "has a bicycle", asserted_at=later, valid_to=later + timedelta(days=7))
    make_fact(scoped, "taken out", asserted_at=later, retired_at=later)
    told = {
        str(each.week): (each.made, each.replaced, each.ended)
        for each in queries.count_facts_by_week(scoped, NOW)
    }
    assert len(told) == queries.WEEKS
    assert told["2026-05-11"] == (1, 0, 0)
    assert told["2026-05-18"] == (2, 1, 0)
    assert told["2026-05-25"] == (0, 0, 1)
    assert sum(made for made, *_ in told.values()) == 3


def test_no_bar_reaches_the_edge_also_where_more_ended_than_began() -> None:
    week = plots.WeekOfFacts(MAY.date(), made=3, replaced=1, ended=10)
    figure = plots.plot_facts_by_week([week]).figure
    assert figure is not None
    assert figure["layout"]["yaxis"]["range"][1] > 10


def test_tokens_and_money_of_a_day_have_a_scale_each() -> None:
    days = [(MAY.date(), 100, Decimal("0.25")), (NOW.date(), 4000, Decimal("0.5"))]
    plot = plots.plot_usage_by_day(days)
    assert plot.figure is not None
    drawn = [list(map(float, trace["y"])) for trace in plot.figure["data"]]
    assert drawn == [[100, 4000], [0.25, 0.5]]
    layout = plot.figure["layout"]
    assert layout["yaxis"]["range"][1] > 4000
    assert 0.5 < layout["yaxis2"]["range"][1] < 1
    assert [row[1] for row in plot.rows] == [4000, 100]
    assert plots.plot_usage_by_day([]).figure is None


def test_of_each_replay_it_is_known_how_many_were_found(world: ConsoleWorld) -> None:
    with tenant_scope(world.tenant.id):
        ReplayRun.objects.all().delete()
        old = make_replay(world.question, created_at=MAY)
        new = make_replay(world.question, created_at=NOW)
        ReplayAnswer.objects.filter(run=new, side="current").update(ranks=[3, None, 11])
        told = queries.load_replay_qualities()
    assert [(each.at, each.found, each.expected) for each in told] == [
        (old.created_at, 1, 1),
        (new.created_at, 1, 3),  # one is beyond the first ten
    ]


def test_of_few_questions_only_the_median_is_drawn(world: ConsoleWorld) -> None:
    with tenant_scope(world.tenant.id):
        RecallLog.objects.all().delete()
        make_questions(world, [10, 20, 90])
        few = plots.plot_latency_by_day(queries.load_latency_by_day(60, NOW))
        make_questions(world, [20] * 20)
        many = plots.plot_latency_by_day(queries.load_latency_by_day(60, NOW))
    assert list(few.rows) == [(MAY.date(), 3, 20, None, None)]
    assert few.figure is not None
    assert [trace["y"] for trace in few.figure["data"]] == [[20.0], [None], [None]]
    assert next(iter(many.rows))[:3] == (MAY.date(), 23, 20)
    assert many.figure is not None
    assert many.figure["data"][2]["y"][0] > 20


def test_cases_are_counted_by_age_and_risk(scoped: Any) -> None:
    before = queries.count_cases_by_age(NOW)
    for days, risk in ((0, "low"), (2, "high"), (2, "medium"), (90, "high")):
        made = make_proposal(scoped)
        type(made).objects.filter(id=made.id).update(
            created_at=NOW - timedelta(days=days), risk=risk, state="open"
        )
    found = queries.count_cases_by_age(NOW)
    more = [(one[1] - was[1], one[2] - was[2]) for one, was in zip(found, before, strict=True)]
    assert more == [(1, 0), (1, 1), (0, 0), (0, 1)]


def test_a_claim_of_one_value_at_a_time_has_a_line(scoped: Any) -> None:
    single = {"cardinality": "single", "predicate_key": "lives_in", "owner": scoped.display_name}
    move = MAY + timedelta(days=3)
    make_fact(scoped, "Porto it is", object="Porto", valid_from=MAY, valid_to=move, **single)
    make_fact(scoped, "Madrid it is", object="Madrid", valid_from=move, **single)
    make_fact(scoped, "likes tea", predicate_key="likes", owner=scoped.display_name)
    lines = queries.load_lifelines(scoped, NOW)
    assert [(each.claim, each.value, each.end) for each in lines] == [
        ("lives in", "Porto", move),
        ("lives in", "Madrid", None),
    ]
    drawn = plots.plot_lifelines(lines, NOW)
    assert drawn.figure is not None
    start, end = drawn.figure["layout"]["xaxis"]["range"]
    assert start < MAY.isoformat()
    assert end > NOW.isoformat()


def test_of_very_many_values_the_latest_are_drawn(
    scoped: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queries, "MAX_VALUES", 2)
    single = {"cardinality": "single", "predicate_key": "lives_in", "owner": scoped.display_name}
    days = [MAY + timedelta(days=n) for n in range(6)]
    for n in range(5):
        flat = f"Flat {n}"
        make_fact(scoped, flat, object=flat, valid_from=days[n], valid_to=days[n + 1], **single)
    lines = queries.load_lifelines(scoped, MAY + timedelta(days=9))
    assert [each.value for each in lines] == ["Flat 3", "Flat 4"]


def test_the_fewer_questions_the_wider_the_interval() -> None:
    few, many = plots.ReplayQuality(MAY, 4, 5), plots.ReplayQuality(MAY, 400, 500)
    (low, high), (lower, higher) = few.interval, many.interval
    assert low < lower < 0.8 < higher < high
    assert plots.ReplayQuality(MAY, 5, 5).interval[1] == 1.0
    drawn = plots.plot_recall_quality([few, many])
    assert [row[1:4] for row in drawn.rows] == [(400, 500, "80%"), (4, 5, "80%")]


def test_the_pages_show_each_plot_with_its_table(browser: Client, world: ConsoleWorld) -> None:
    with tenant_scope(world.tenant.id):
        Fact.objects.filter(id=world.fact.id).update(asserted_at=timezone.now())
        ReplayRun.objects.all().delete()
    shown = browser.get(reverse("figures")).content.decode()
    for title in ("Facts per week", "Response times", "Age of open inbox cases"):
        assert title in shown
    assert "No finished replay yet" in shown
    assert "data-plot=" in shown
    assert '<th scope="col">Week of</th>' in shown
    own = browser.get(reverse("space-figures", args=[world.space.id])).content.decode()
    assert "What was true when" in own
    assert "Facts per week" in own
