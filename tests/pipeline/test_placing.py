"""Chains, the short-term queue, and when the step runs, with a scripted model (spec §8, §15.8)."""

from __future__ import annotations

from typing import Any

import pytest

from memoryhub.dialogues.models import Turn
from memoryhub.errors import EngineError
from memoryhub.pipeline.jobs import queue, runner
from memoryhub.pipeline.models import Job
from memoryhub.pipeline.steps.topics import placement
from memoryhub.policies.schema import HeatPolicy
from memoryhub.tenants.scope import tenant_scope
from notes.models import (
    Chain,
    Derivation,
    Page,
    Segment,
    SegmentPage,
)
from notes.topics.heat import compute_eviction_heat
from tests.support.hub import ScriptedHub
from tests.support.segments import (
    Reply,
    list_tiers,
    make_indexed_segment,
    reply_chain,
    reply_themes,
    run_place_step,
    say_exchanges,
)

pytestmark = pytest.mark.usefixtures("only_themes")


# Short-term memory


def test_MO1_the_oldest_page_leaves_and_none_is_lost(hub: ScriptedHub) -> None:
    hub.model.script("themes", reply_themes())
    say_exchanges(hub, 8)
    hub.run_due_jobs()
    assert list_tiers(hub) == ["mtm", *["stm"] * 7]
    with tenant_scope(hub.tenant.id):
        (member,) = SegmentPage.objects.select_related("page", "segment")
        assert member.page.first_seq == 1
        assert (member.segment.pages_total, member.segment.promo_pages) == (1, 1)
        assert Page.objects.count() == 8


def test_MO1_with_the_oldest_unread_nothing_leaves(hub: ScriptedHub) -> None:
    say_exchanges(hub, 8)
    with tenant_scope(hub.tenant.id):
        Job.objects.all().delete()
        Turn.objects.filter(seq__gt=2).update(state=Turn.State.PROCESSED)
    run_place_step(hub)
    assert list_tiers(hub) == ["stm"] * 8


def test_a_page_that_could_not_be_read_stays_and_lets_the_others_pass(hub: ScriptedHub) -> None:
    hub.model.script("themes", reply_themes())
    say_exchanges(hub, 9)
    with tenant_scope(hub.tenant.id):
        Job.objects.all().delete()
        Turn.objects.filter(seq__gt=2).update(state=Turn.State.PROCESSED)
        Turn.objects.filter(seq__lte=2).update(state=Turn.State.FAILED)
    run_place_step(hub)
    assert list_tiers(hub) == ["stm", "mtm", "mtm", *["stm"] * 6]


def test_I10_a_page_that_grows_is_back_in_the_queue_and_counts_once(hub: ScriptedHub) -> None:
    hub.model.allow(themes=reply_themes())
    hub.say("A lone word.", session="quiet")
    say_exchanges(hub, 7)
    hub.run_due_jobs()
    assert list_tiers(hub)[0] == "mtm"
    hub.say("A late reply.", role="assistant", speaker="Hub", session="quiet")
    assert list_tiers(hub)[0] == "stm"
    hub.run_due_jobs()
    with tenant_scope(hub.tenant.id):
        page = Page.objects.get(first_seq=1)
        assert (page.tier, page.kind) == ("mtm", "exchange")
        (member,) = page.memberships.all()
        assert member.segment.pages_total == SegmentPage.objects.count() == 1
        rests_on = Derivation.objects.filter(child_type="page", child_id=page.id)
        assert {row.turn.text for row in rests_on} == {"A lone word.", "A late reply."}


def test_a_page_that_grew_while_the_model_thought_is_read_again(
    hub: ScriptedHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    say_exchanges(hub, 7)
    hub.run_due_jobs()
    hub.say("Alone.", session="other")

    def meanwhile(data: Reply) -> Reply:
        if hub.model.list_calls("themes")[1:]:
            return reply_themes()(data)
        with tenant_scope(hub.tenant.id):
            Page.objects.filter(first_seq=1).update(last_seq=3)
        return reply_themes()(data)

    hub.model.script("themes", meanwhile, reply_themes())
    hub.run_due_jobs()
    assert list_tiers(hub)[0] == "mtm"
    assert len(hub.model.list_calls("themes")) == 2


# Chains


def test_MO12_chains_of_three_and_one_with_one_summary_each(hub: ScriptedHub) -> None:
    hub.model.script("chain", reply_chain(False, True), reply_chain(True, False, summary="Later."))
    say_exchanges(hub, 2)
    hub.run_due_jobs(hours=1)
    say_exchanges(hub, 2)
    hub.run_due_jobs(hours=1)
    with tenant_scope(hub.tenant.id):
        first, second = Chain.objects.order_by("-page_count")
        assert (first.page_count, second.page_count) == (3, 1)
        assert (first.open, second.open) == (False, True)
        pages = Page.objects.filter(chain=first).order_by("chain_pos")
        assert [(p.first_seq, p.chain_pos) for p in pages] == [(1, 0), (3, 1), (5, 2)]
        assert {page.chain.summary for page in pages if page.chain} == {"Later."}
    given = hub.model.list_calls("chain")[1]
    assert given["summary"] == "So far."
    assert "09:01" in given["previous"]["text"]


def test_MO12_what_was_not_judged_begins_a_chain(hub: ScriptedHub) -> None:
    hub.model.script("chain", {"pages": [{"handle": "p9", "continues": True}]})
    say_exchanges(hub, 3)
    hub.run_due_jobs()
    with tenant_scope(hub.tenant.id):
        assert Chain.objects.count() == 3


def test_the_first_page_of_a_session_goes_on_from_nothing(hub: ScriptedHub) -> None:
    for session in ("a", "b"):
        say_exchanges(hub, 2, session=session)
        hub.run_due_jobs()
    with tenant_scope(hub.tenant.id):
        assert sorted(Chain.objects.values_list("page_count", flat=True)) == [2, 2]


def test_what_the_reading_told_is_not_asked_again(hub: ScriptedHub) -> None:
    """Combined calls: the flags of `construct` reach the step, and rules sum up."""
    say_exchanges(hub, 3)
    with tenant_scope(hub.tenant.id):
        Job.objects.all().delete()
        Turn.objects.update(state=Turn.State.PROCESSED)
        ids = [str(i) for i in Page.objects.order_by("first_seq").values_list("id", flat=True)]
    run_place_step(hub, continues={ids[0]: True, ids[1]: True, ids[2]: False})
    assert hub.model.list_calls("chain") == []
    with tenant_scope(hub.tenant.id):
        assert sorted(Chain.objects.values_list("page_count", flat=True)) == [1, 2]


def test_without_combined_calls_the_model_is_asked_for_each_part(hub: ScriptedHub) -> None:
    hub.set_policy("rag", segments__enabled=True, chain__enabled=True, llm__combine_calls=False)
    make_indexed_segment(hub, "Boats.", [1, 0], "boat")
    hub.embedder.table["Ships."] = [1, 0]
    hub.model.script("themes", reply_themes("Ships.", "ship"))
    hub.model.script("segment_refresh", {"text": "Boats and ships.", "keywords": ["boat", "ship"]})
    say_exchanges(hub, 8)
    hub.run_due_jobs()
    with tenant_scope(hub.tenant.id):
        assert Segment.objects.get().summary == "Boats and ships."
    assert hub.model.list_calls("segment_refresh")[0]["summary"] == "Boats."


def test_a_failed_call_changes_nothing_and_is_tried_again(hub: ScriptedHub) -> None:
    hub.model.script("themes", EngineError("down"), reply_themes("At last."))
    say_exchanges(hub, 8)
    hub.run_due_jobs()
    assert list_tiers(hub) == ["stm"] * 8
    with tenant_scope(hub.tenant.id):
        assert Chain.objects.count() == Segment.objects.count() == 0
    hub.run_due_jobs()
    assert list_tiers(hub)[0] == "mtm"


# When the step runs


def test_a_model_is_asked_after_a_pause_and_for_all_that_waits(hub: ScriptedHub) -> None:
    for _ in range(4):
        say_exchanges(hub, 1)
        hub.run_due_jobs(seconds=5)
    with tenant_scope(hub.tenant.id):
        assert Job.objects.filter(step="place").count() == 1
    assert hub.model.list_calls("chain") == []
    hub.run_due_jobs(minutes=11)
    assert [len(call["pages"]) for call in hub.model.list_calls("chain")] == [4]


@pytest.mark.parametrize(("said", "most"), [({"continues": True}, 0.25), ({}, 0.5)])
def test_placing_costs_at_most_a_quarter_of_a_call_an_exchange_or_half_if_reading_tells_less(
    hub: ScriptedHub, said: Reply, most: float
) -> None:
    hub.set_policy("rag", facts__enabled=True, segments__enabled=True, chain__enabled=True)
    hub.model.allow(construct={"changes": []} | said, themes=reply_themes())
    for session in range(6):
        for _ in range(11):
            say_exchanges(hub, 1, session=f"s{session}")
            hub.run_due_jobs(seconds=5)
        hub.run_due_jobs()
    asked = [a.purpose for a in hub.model.requests if a.purpose != "construct"]
    assert len(asked) <= 66 * most
    assert list_tiers(hub).count("stm") == 7


def test_a_full_queue_is_not_kept_waiting(hub: ScriptedHub) -> None:
    hub.model.script("themes", reply_themes())
    say_exchanges(hub, 12)
    hub.run_due_jobs(seconds=5)
    assert list_tiers(hub).count("mtm") == 5


def test_nothing_is_planned_where_the_policy_wants_nothing(hub: ScriptedHub) -> None:
    hub.set_policy("mem0", facts__enabled=False, episodes__rolling=False)
    say_exchanges(hub, 2)
    hub.run_due_jobs()
    with tenant_scope(hub.tenant.id):
        assert not Job.objects.filter(step="place").exists()


def test_a_long_backlog_is_worked_off_in_jobs(hub: ScriptedHub) -> None:
    hub.model.allow(themes=reply_themes())
    say_exchanges(hub, placement.MAX_PAGES_PER_JOB + 10)
    hub.run_due_jobs()
    assert list_tiers(hub).count("stm") == 7
    with tenant_scope(hub.tenant.id):
        assert Job.objects.filter(step="place").count() == 2
        assert not Page.objects.filter(chain=None).exists()
        segment = Segment.objects.get()
        assert (
            compute_eviction_heat(segment, HeatPolicy(), segment.last_visited_at)
            == placement.MAX_PAGES_PER_JOB + 4
        )


def test_placing_takes_statements_by_the_batch_not_by_the_page(
    hub: ScriptedHub, django_assert_max_num_queries: Any
) -> None:
    hub.model.allow(themes=reply_themes())
    say_exchanges(hub, 7 + placement.MAX_PAGES_PER_JOB)
    with tenant_scope(hub.tenant.id):
        Job.objects.all().delete()
        Turn.objects.update(state=Turn.State.PROCESSED)
        queue.plan_step(hub.space, Job.Step.PLACE, "all", hub.now)
    # Six calls are accounted for; a new space asks which embedder was chosen.
    with django_assert_max_num_queries(77):
        assert runner.run_next_job(hub.tenant.id, hub.space.id, hub.now)
    assert list_tiers(hub).count("mtm") == placement.MAX_PAGES_PER_JOB
