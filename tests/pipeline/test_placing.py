"""Chains, the short-term queue and segments, with a scripted model (spec §8, §15.8)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any

import pytest
from django.db import IntegrityError, transaction

from memoryhub.dialogues.models import Turn
from memoryhub.errors import EngineError
from memoryhub.pipeline import erasing, placing, queue, runner, theming
from memoryhub.pipeline.models import Job
from memoryhub.policies.schema import Heat
from memoryhub.recall.services import search
from memoryhub.tenants.scope import tenant_scope
from notes.heat import eviction_heat
from notes.models import (
    Chain,
    Derivation,
    EvolutionEvent,
    IndexEntry,
    Page,
    Proposal,
    Revision,
    Segment,
    SegmentPage,
)
from notes.undoing import undo
from tests.support.hub import Hub
from tests.support.scan import places_of

Reply = dict[str, Any]


def chained(*flags: bool, summary: str = "So far.") -> Callable[[Reply], Reply]:
    """Says for the pages asked about, in order, whether they go on; without flags all do."""

    def reply(data: Reply) -> Reply:
        said = flags or (True,) * len(data["pages"])
        return {
            "pages": [
                {"handle": page["handle"], "continues": goes_on, "summary": summary}
                for page, goes_on in zip(data["pages"], said, strict=True)
            ]
        }

    return reply


def themed(text: str = "What they said.", *keywords: str) -> Callable[[Reply], Reply]:
    """One theme of all the pages asked about."""

    def reply(data: Reply) -> Reply:
        pages = [page["handle"] for page in data["pages"]]
        return {"themes": [theme(text, list(keywords) or ["word"], pages)]}

    return reply


def theme(text: str, keywords: Sequence[str], pages: Sequence[str]) -> Reply:
    return {"name": text, "keywords": list(keywords), "text": text, "pages": list(pages)}


@pytest.fixture
def hub(hub: Hub) -> Hub:
    """Only chains and segments are on; nothing else is read from what is said."""
    hub.policy("rag", segments__enabled=True, chain__enabled=True)
    hub.model.allow(construct={"facts": []}, chain=chained())
    return hub


def talk(hub: Hub, count: int, *, session: str = "s1") -> None:
    for _ in range(count):
        hub.exchange(f"It is {hub.now:%d %H:%M} here.", "I hear you.", session=session)


def tiers(hub: Hub) -> list[str]:
    with tenant_scope(hub.tenant.id):
        return list(Page.objects.order_by("first_seq").values_list("tier", flat=True))


def place(hub: Hub, key: str = "by hand", **payload: Any) -> Job:
    """Run the step, whether it is due or not."""
    with tenant_scope(hub.tenant.id):
        job = queue.enqueue_step(hub.space, Job.Step.PLACE, "B", key, hub.now, payload=payload)
    hub.drain()
    with tenant_scope(hub.tenant.id):
        job.refresh_from_db()
    return job


def held(hub: Hub, summary: str, vector: Sequence[float], *keywords: str, **values: Any) -> Segment:
    """A segment with an index entry of this vector."""
    hub.embedder.table[summary] = vector
    with tenant_scope(hub.tenant.id):
        space = hub.space
        times = dict.fromkeys(("started_at", "ended_at", "last_visited_at"), hub.now)
        row = Segment.objects.create(
            tenant_id=hub.tenant.id,
            space=space,
            summary=summary,
            keywords=list(keywords),
            **(times | values),
        )
        (full,) = hub.embedder.embed([summary])
        IndexEntry.objects.create(
            tenant_id=hub.tenant.id,
            space=space,
            kind="segment",
            owner_id=row.id,
            model=hub.embedder.name,
            embedding=full,
            words="",
        )
    return row


# Short-term memory


def test_MO1_the_oldest_page_leaves_and_none_is_lost(hub: Hub) -> None:
    hub.model.script("themes", themed())
    talk(hub, 8)
    hub.drain()
    assert tiers(hub) == ["mtm", *["stm"] * 7]
    with tenant_scope(hub.tenant.id):
        (member,) = SegmentPage.objects.select_related("page", "segment")
        assert member.page.first_seq == 1
        assert (member.segment.pages_total, member.segment.promo_pages) == (1, 1)
        assert Page.objects.count() == 8


def test_MO1_with_the_oldest_unread_nothing_leaves(hub: Hub) -> None:
    talk(hub, 8)
    with tenant_scope(hub.tenant.id):
        Job.objects.all().delete()
        Turn.objects.filter(seq__gt=2).update(state=Turn.State.PROCESSED)
    place(hub)
    assert tiers(hub) == ["stm"] * 8


def test_a_page_that_could_not_be_read_stays_and_lets_the_others_pass(hub: Hub) -> None:
    hub.model.script("themes", themed())
    talk(hub, 9)
    with tenant_scope(hub.tenant.id):
        Job.objects.all().delete()
        Turn.objects.filter(seq__gt=2).update(state=Turn.State.PROCESSED)
        Turn.objects.filter(seq__lte=2).update(state=Turn.State.FAILED)
    place(hub)
    assert tiers(hub) == ["stm", "mtm", "mtm", *["stm"] * 6]


def test_I10_a_page_that_grows_is_back_in_the_queue_and_counts_once(hub: Hub) -> None:
    hub.model.allow(themes=themed())
    hub.say("A lone word.", session="quiet")
    talk(hub, 7)
    hub.drain()
    assert tiers(hub)[0] == "mtm"
    hub.say("A late reply.", role="assistant", speaker="Hub", session="quiet")
    assert tiers(hub)[0] == "stm"
    hub.drain()
    with tenant_scope(hub.tenant.id):
        page = Page.objects.get(first_seq=1)
        assert (page.tier, page.kind) == ("mtm", "exchange")
        (member,) = page.memberships.all()
        assert member.segment.pages_total == SegmentPage.objects.count() == 1
        rests_on = Derivation.objects.filter(child_type="page", child_id=page.id)
        assert {row.turn.text for row in rests_on} == {"A lone word.", "A late reply."}


def test_a_page_that_grew_while_the_model_thought_is_read_again(
    hub: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    talk(hub, 7)
    hub.drain()
    hub.say("Alone.", session="other")

    def meanwhile(data: Reply) -> Reply:
        if hub.model.calls("themes")[1:]:
            return themed()(data)
        with tenant_scope(hub.tenant.id):
            Page.objects.filter(first_seq=1).update(last_seq=3)
        return themed()(data)

    hub.model.script("themes", meanwhile, themed())
    hub.drain()
    assert tiers(hub)[0] == "mtm"
    assert len(hub.model.calls("themes")) == 2


# Chains


def test_MO12_chains_of_three_and_one_with_one_summary_each(hub: Hub) -> None:
    hub.model.script("chain", chained(False, True), chained(True, False, summary="Later."))
    talk(hub, 2)
    hub.drain(hours=1)
    talk(hub, 2)
    hub.drain(hours=1)
    with tenant_scope(hub.tenant.id):
        first, second = Chain.objects.order_by("-page_count")
        assert (first.page_count, second.page_count) == (3, 1)
        assert (first.open, second.open) == (False, True)
        pages = Page.objects.filter(chain=first).order_by("chain_pos")
        assert [(p.first_seq, p.chain_pos) for p in pages] == [(1, 0), (3, 1), (5, 2)]
        assert {page.chain.summary for page in pages if page.chain} == {"Later."}
    given = hub.model.calls("chain")[1]
    assert given["summary"] == "So far."
    assert "09:01" in given["previous"]["text"]


def test_MO12_what_was_not_judged_begins_a_chain(hub: Hub) -> None:
    hub.model.script("chain", {"pages": [{"handle": "p9", "continues": True}]})
    talk(hub, 3)
    hub.drain()
    with tenant_scope(hub.tenant.id):
        assert Chain.objects.count() == 3


def test_the_first_page_of_a_session_goes_on_from_nothing(hub: Hub) -> None:
    for session in ("a", "b"):
        talk(hub, 2, session=session)
        hub.drain()
    with tenant_scope(hub.tenant.id):
        assert sorted(Chain.objects.values_list("page_count", flat=True)) == [2, 2]


def test_what_the_reading_told_is_not_asked_again(hub: Hub) -> None:
    """Combined calls: the flags of `construct` reach the step, and rules sum up."""
    talk(hub, 3)
    with tenant_scope(hub.tenant.id):
        Job.objects.all().delete()
        Turn.objects.update(state=Turn.State.PROCESSED)
        ids = [str(i) for i in Page.objects.order_by("first_seq").values_list("id", flat=True)]
    place(hub, continues={ids[0]: True, ids[1]: True, ids[2]: False})
    assert hub.model.calls("chain") == []
    with tenant_scope(hub.tenant.id):
        assert sorted(Chain.objects.values_list("page_count", flat=True)) == [1, 2]


def test_without_combined_calls_the_model_is_asked_for_each_part(hub: Hub) -> None:
    hub.policy("rag", segments__enabled=True, chain__enabled=True, llm__combine_calls=False)
    held(hub, "Boats.", [1, 0], "boat")
    hub.embedder.table["Ships."] = [1, 0]
    hub.model.script("themes", themed("Ships.", "ship"))
    hub.model.script("segment_refresh", {"text": "Boats and ships.", "keywords": ["boat", "ship"]})
    talk(hub, 8)
    hub.drain()
    with tenant_scope(hub.tenant.id):
        assert Segment.objects.get().summary == "Boats and ships."
    assert hub.model.calls("segment_refresh")[0]["summary"] == "Boats."


def test_a_failed_call_changes_nothing_and_is_tried_again(hub: Hub) -> None:
    hub.model.script("themes", EngineError("down"), themed("At last."))
    talk(hub, 8)
    hub.drain()
    assert tiers(hub) == ["stm"] * 8
    with tenant_scope(hub.tenant.id):
        assert Chain.objects.count() == Segment.objects.count() == 0
    hub.drain()
    assert tiers(hub)[0] == "mtm"


# Segments


def test_what_was_placed_can_be_undone_and_redone(hub: Hub) -> None:
    hub.model.script("themes", themed())
    talk(hub, 8)
    hub.drain()
    with tenant_scope(hub.tenant.id):
        event = EvolutionEvent.objects.get(kind="place")
    undone = undo(event, "ana", hub.now)
    assert tiers(hub) == ["stm"] * 8
    with tenant_scope(hub.tenant.id):
        assert not SegmentPage.objects.exists()
        assert not Page.objects.exclude(chain=None).exists()
        assert not Segment.objects.filter(retired_at=None).exists()
        assert not Chain.objects.filter(retired_at=None).exists()
    undo(undone, "ana", hub.now)
    assert tiers(hub) == ["mtm", *["stm"] * 7]
    with tenant_scope(hub.tenant.id):
        assert SegmentPage.objects.get().segment.retired_at is None
        assert Chain.objects.get(retired_at=None).page_count == 8


@pytest.mark.parametrize(("others", "segments"), [(9, 1), (19, 2)])
def test_MO2_a_theme_joins_only_over_theta(hub: Hub, others: int, segments: int) -> None:
    """Cosine 0.55, and one shared keyword of 10 or of 20."""
    keywords = [f"k{n}" for n in range(others + 1)]
    mine, theirs = (
        keywords[: len(keywords) // 2 + 1],
        [keywords[0], *keywords[len(keywords) // 2 + 1 :]],
    )
    held(hub, "Held.", [1, 0], *theirs)
    hub.embedder.table["Coming."] = [0.55, 0.8351646544]
    hub.model.script("themes", themed("Coming.", *mine))
    talk(hub, 8)
    hub.drain()
    with tenant_scope(hub.tenant.id):
        assert Segment.objects.count() == segments
        member = SegmentPage.objects.get()
        assert member.score == (0.65 if segments == 1 else theming.ITSELF)


def test_O9_a_page_joins_the_themes_that_claim_it_and_none_is_left_out(hub: Hub) -> None:
    hub.embedder.table |= {"Tea.": [1, 0, 0], "Dogs.": [0, 1, 0]}

    def two(data: Reply) -> Reply:
        first, second, *_ = (page["handle"] for page in data["pages"])
        return {
            "themes": [
                theme("Tea.", ["tea"], [first, second, "p99"]),
                theme("Dogs.", ["dog"], [second]),
            ]
        }

    hub.model.script("themes", two)
    talk(hub, 10)
    hub.drain()
    with tenant_scope(hub.tenant.id):
        sizes = dict(Segment.objects.values_list("summary", "pages_total"))
        assert (sizes.pop("Tea."), sizes.pop("Dogs.")) == (2, 1)
        assert list(sizes.values()) == [1], "the page that none claimed has a theme by rules"
        assert SegmentPage.objects.count() == 4
        assert Page.objects.filter(tier="mtm").count() == 3


def test_two_themes_for_one_segment_count_a_page_once(hub: Hub) -> None:
    held(hub, "Held.", [1, 0], "tea")
    hub.embedder.table |= {"Green.": [1, 0], "Black.": [1, 0]}

    def two(data: Reply) -> Reply:
        (page,) = (page["handle"] for page in data["pages"])
        return {"themes": [theme("Green.", ["tea"], [page]), theme("Black.", ["tea"], [page])]}

    hub.model.script("themes", two)
    talk(hub, 8)
    hub.drain()
    with tenant_scope(hub.tenant.id):
        segment = Segment.objects.get()
        assert (segment.pages_total, SegmentPage.objects.count()) == (1, 1)
        assert segment.summary == "Held. Green. Black."


def test_E28_a_page_is_in_a_segment_once(hub: Hub) -> None:
    hub.model.script("themes", themed())
    talk(hub, 8)
    hub.drain()
    with tenant_scope(hub.tenant.id):
        member = SegmentPage.objects.get()
        member.pk = None
        member._state.adding = True
        with pytest.raises(IntegrityError), transaction.atomic():
            SegmentPage.objects.create(
                tenant_id=member.tenant_id,
                space_id=member.space_id,
                segment_id=member.segment_id,
                page_id=member.page_id,
                added_at=hub.now,
            )


def test_I9_segments_and_pages_are_indexed_in_the_same_unit_of_work(hub: Hub) -> None:
    hub.model.script("themes", themed("Sailing round Faro.", "boat"))
    talk(hub, 8)
    hub.drain()
    with tenant_scope(hub.tenant.id):
        entries = {e.kind: e for e in IndexEntry.objects.filter(kind__in=("segment", "page"))}
        assert entries["segment"].owner_id == Segment.objects.get().id
        assert entries["page"].owner_id == Page.objects.get(tier="mtm").id
        assert "'boat'" in str(entries["segment"].words)
        assert all(entry.embedding is not None for entry in entries.values())


def test_every_row_has_its_event_its_revisions_and_its_turns(hub: Hub) -> None:
    hub.model.script("themes", themed())
    talk(hub, 8)
    hub.drain()
    with tenant_scope(hub.tenant.id):
        (event,) = EvolutionEvent.objects.filter(kind="place")
        assert (event.actor, event.trigger) == ("pipeline", "place")
        assert event.policy_version == "t1.s0"
        for model, rows in ((Page, 8), (Chain, 1), (Segment, 1)):
            name = model._meta.model_name
            for row in model.objects.all():
                revision = Revision.objects.get(row_type=name, row_id=row.id)
                assert revision.version_after == row.version
                assert revision.event_id == event.id
                supports = Derivation.objects.filter(child_type=name, child_id=row.id)
                assert supports.filter(role="support").exists()
            assert model.objects.count() == rows
        assert Revision.objects.filter(row_type="segmentpage", before__isnull=True).count() == 1


def test_a_person_keeps_their_words_and_gets_a_proposal(hub: Hub) -> None:
    held(hub, "My own words.", [1, 0], "tea", corrected_by="ana")
    hub.embedder.table["More tea."] = [1, 0]
    hub.model.script("themes", themed("More tea.", "tea"))
    talk(hub, 8)
    hub.drain()
    with tenant_scope(hub.tenant.id):
        segment = Segment.objects.get()
        assert (segment.summary, segment.pages_total) == ("My own words.", 1)
        proposal = Proposal.objects.get()
        assert proposal.payload["summary"] == "My own words. More tea."
        assert proposal.row_id == segment.id


def test_a_summary_that_outgrows_itself_is_written_anew(hub: Hub) -> None:
    long = "Tea " + "is drunk again " * 60
    held(hub, long, [1, 0], "tea")
    hub.embedder.table["More tea."] = [1, 0]
    hub.model.script("themes", themed("More tea.", "tea"))
    hub.model.script("segment_refresh", {"text": "Tea, over and over.", "keywords": ["tea"]})
    talk(hub, 8)
    hub.drain()
    with tenant_scope(hub.tenant.id):
        assert Segment.objects.get().summary == "Tea, over and over."


def test_cold_stale_and_retired_segments_are_not_joined(hub: Hub) -> None:
    kinds: list[dict[str, Any]] = [{"tier": "cold"}, {"retired_at": hub.now}]
    for number, values in enumerate(kinds):
        held(hub, f"Held {number}.", [1, 0], "tea", **values)
    hub.embedder.table["Tea."] = [1, 0]
    hub.model.script("themes", themed("Tea.", "tea"))
    talk(hub, 8)
    hub.drain()
    with tenant_scope(hub.tenant.id):
        assert Segment.objects.count() == 3


# Out of sight


def test_MO8_the_coldest_of_the_older_200_goes_cold_and_its_pages_stay_found(hub: Hub) -> None:
    for _ in range(200):
        held(hub, "Held.", [0, 1], visits_total=3)
    with tenant_scope(hub.tenant.id):
        coldest = Segment.objects.order_by("?").first()
        assert coldest is not None
        Segment.objects.filter(id=coldest.id).update(visits_total=1)
    hub.model.script("themes", themed("Brand new.", "new"))
    hub.say("My zeppelin is moored in Faro.")
    talk(hub, 7)
    with tenant_scope(hub.tenant.id):
        page = Page.objects.get(first_seq=1)
        SegmentPage.objects.create(
            tenant_id=hub.tenant.id,
            space=hub.space,
            segment=coldest,
            page=page,
            added_at=hub.now,
        )
    hub.drain()
    with tenant_scope(hub.tenant.id):
        (cold,) = Segment.objects.filter(tier="cold")
        assert cold.id == coldest.id
        new = Segment.objects.get(summary="Brand new.")
        assert (new.tier, new.visits_total, new.pages_total) == ("mid", 0, 1)
        (event,) = EvolutionEvent.objects.filter(kind="archive")
        assert [r.row_id for r in Revision.objects.filter(event=event)] == [cold.id]
    found = search(hub.space, "zeppelin", kinds=("turn",))
    assert "zeppelin" in found.items[0].text


def test_O1_equally_cold_the_one_visited_longer_ago_goes(hub: Hub) -> None:
    hub.policy("rag", segments__enabled=True, segments__max=2, heat__gamma=0)
    older = held(hub, "Older.", [0, 1], last_visited_at=hub.now - timedelta(days=2))
    held(hub, "Newer.", [0, 1], last_visited_at=hub.now - timedelta(days=1))
    hub.model.script("themes", themed("Brand new.", "new"))
    talk(hub, 8)
    hub.drain()
    with tenant_scope(hub.tenant.id):
        assert Segment.objects.get(tier="cold").id == older.id


# After an erasure


def test_X6_an_erased_turn_leaves_no_word_in_page_chain_or_segment(hub: Hub) -> None:
    hub.model.allow(chain=chained(summary="They spoke of zanzibar."))
    hub.model.script("themes", themed("To zanzibar and back.", "zanzibar", "boat"))
    hub.exchange("I sailed to zanzibar.", "By boat?")
    talk(hub, 8)
    hub.drain()
    hub.model.allow(chain=chained(summary="They spoke of boats."))
    hub.model.script("segment_refresh", {"text": "Boats.", "keywords": ["boat"]})
    with tenant_scope(hub.tenant.id):
        page = Page.objects.get(first_seq=1)
        secret = Turn.objects.get(seq=1)
        assert places_of("zanzibar")
    target = erasing.Target("turns", (secret.id,))
    erasing.execute(hub.space, target, "eva", hub.now)
    with tenant_scope(hub.tenant.id):
        assert places_of("zanzibar") == []
        assert Segment.objects.get().stale
    hub.drain()
    with tenant_scope(hub.tenant.id):
        assert places_of("zanzibar") == []
        assert not Segment.objects.get().stale
        assert Segment.objects.get().summary == "Boats."
        assert Chain.objects.get().summary != ""
        assert Page.objects.get(id=page.id).memberships.count() == 1
        assert "boat" in str(IndexEntry.objects.get(owner_id=page.id).words)


def test_a_stale_segment_is_rewritten_from_the_pages_that_remain(hub: Hub) -> None:
    hub.model.script("themes", themed("Told a secret, and more.", "secret"))
    talk(hub, 9)
    hub.drain()
    hub.model.script("segment_refresh", {"text": "And more.", "keywords": ["more"]})
    with tenant_scope(hub.tenant.id):
        segment = Segment.objects.get()
        Segment.objects.update(stale=True)
        SegmentPage.objects.filter(page__first_seq=1).delete()
    place(hub, refresh=[str(segment.id)])
    with tenant_scope(hub.tenant.id):
        segment.refresh_from_db()
        assert (segment.summary, segment.keywords, segment.stale) == ("And more.", ["more"], False)
        assert segment.pages_total == 1
        entry = IndexEntry.objects.get(owner_id=segment.id)
        assert "secret" not in str(entry.words)
    (given,) = hub.model.calls("segment_refresh")
    assert (given["summary"], len(given["pages"])) == ("", 1)


def test_a_segment_and_a_chain_without_pages_are_retired(hub: Hub) -> None:
    hub.model.script("themes", themed())
    talk(hub, 8)
    hub.drain()
    with tenant_scope(hub.tenant.id):
        segment, chain = Segment.objects.get(), Chain.objects.get()
        SegmentPage.objects.all().delete()
        Page.objects.update(retired_at=hub.now)
    place(hub, refresh=[str(segment.id)], chains=[str(chain.id)])
    with tenant_scope(hub.tenant.id):
        segment.refresh_from_db()
        chain.refresh_from_db()
        assert segment.retired_at == chain.retired_at == hub.now
        assert not IndexEntry.objects.filter(owner_id=segment.id).exists()


def test_a_chain_is_summed_up_again_from_the_pages_that_remain(hub: Hub) -> None:
    talk(hub, 3)
    hub.drain()
    with tenant_scope(hub.tenant.id):
        chain = Chain.objects.get()
        Page.objects.filter(first_seq=1).update(chain=None, retired_at=hub.now)
    place(hub, chains=[str(chain.id)])
    with tenant_scope(hub.tenant.id):
        chain.refresh_from_db()
        assert chain.page_count == 2
        assert chain.summary != "So far."


# When the step runs


def test_a_model_is_asked_after_a_pause_and_for_all_that_waits(hub: Hub) -> None:
    for _ in range(4):
        talk(hub, 1)
        hub.drain(seconds=5)
    with tenant_scope(hub.tenant.id):
        assert Job.objects.filter(step="place").count() == 1
    assert hub.model.calls("chain") == []
    hub.drain(minutes=11)
    assert [len(call["pages"]) for call in hub.model.calls("chain")] == [4]


@pytest.mark.parametrize(("said", "most"), [({"continues": True}, 0.25), ({}, 0.5)])
def test_placing_costs_at_most_a_quarter_of_a_call_an_exchange_or_half_if_reading_tells_less(
    hub: Hub, said: Reply, most: float
) -> None:
    hub.policy("rag", facts__enabled=True, segments__enabled=True, chain__enabled=True)
    hub.model.allow(construct={"facts": []} | said, themes=themed())
    for session in range(6):
        for _ in range(11):
            talk(hub, 1, session=f"s{session}")
            hub.drain(seconds=5)
        hub.drain()
    asked = [a.purpose for a in hub.model.asked if a.purpose != "construct"]
    assert len(asked) <= 66 * most
    assert tiers(hub).count("stm") == 7


def test_a_full_queue_is_not_kept_waiting(hub: Hub) -> None:
    hub.model.script("themes", themed())
    talk(hub, 12)
    hub.drain(seconds=5)
    assert tiers(hub).count("mtm") == 5


def test_nothing_is_planned_where_the_policy_wants_nothing(hub: Hub) -> None:
    hub.policy("mem0", facts__enabled=False, episodes__rolling=False)
    talk(hub, 2)
    hub.drain()
    with tenant_scope(hub.tenant.id):
        assert not Job.objects.filter(step="place").exists()


def test_a_long_backlog_is_worked_off_in_jobs(hub: Hub) -> None:
    hub.model.allow(themes=themed())
    talk(hub, placing.MOST_AT_ONCE + 10)
    hub.drain()
    assert tiers(hub).count("stm") == 7
    with tenant_scope(hub.tenant.id):
        assert Job.objects.filter(step="place").count() == 2
        assert not Page.objects.filter(chain=None).exists()
        segment = Segment.objects.get()
        assert eviction_heat(segment, Heat(), segment.last_visited_at) == placing.MOST_AT_ONCE + 4


def test_placing_takes_statements_by_the_batch_not_by_the_page(
    hub: Hub, django_assert_max_num_queries: Any
) -> None:
    hub.model.allow(themes=themed())
    talk(hub, 7 + placing.MOST_AT_ONCE)
    with tenant_scope(hub.tenant.id):
        Job.objects.all().delete()
        Turn.objects.update(state=Turn.State.PROCESSED)
        queue.enqueue_step(hub.space, Job.Step.PLACE, "B", "all", hub.now)
    with django_assert_max_num_queries(75):  # six calls are accounted for
        assert runner.run_next(hub.tenant.id, hub.space.id, hub.now)
    assert tiers(hub).count("mtm") == placing.MOST_AT_ONCE
