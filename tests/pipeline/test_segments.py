"""Segments: what joins them, and what goes out of sight (spec §8, §15.8)."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.db import IntegrityError, transaction

from memoryhub.pipeline.corrections import undo_event
from memoryhub.pipeline.steps.topics import themes
from memoryhub.recall.services import search_memories
from memoryhub.tenants.scope import tenant_scope
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
from tests.support.hub import ScriptedHub
from tests.support.segments import (
    Reply,
    list_tiers,
    make_indexed_segment,
    make_theme,
    reply_themes,
    say_exchanges,
)

pytestmark = pytest.mark.usefixtures("only_themes")


def test_what_was_placed_can_be_undone_and_redone(hub: ScriptedHub) -> None:
    hub.model.script("themes", reply_themes())
    say_exchanges(hub, 8)
    hub.run_due_jobs()
    with tenant_scope(hub.tenant.id):
        event = EvolutionEvent.objects.get(kind="place")
    undone = undo_event(event, "ana", hub.now).event
    assert list_tiers(hub) == ["stm"] * 8
    with tenant_scope(hub.tenant.id):
        assert not SegmentPage.objects.exists()
        assert not Page.objects.exclude(chain=None).exists()
        assert not Segment.objects.filter(retired_at=None).exists()
        assert not Chain.objects.filter(retired_at=None).exists()
    undo_event(undone, "ana", hub.now)
    assert list_tiers(hub) == ["mtm", *["stm"] * 7]
    with tenant_scope(hub.tenant.id):
        assert SegmentPage.objects.get().segment.retired_at is None
        assert Chain.objects.get(retired_at=None).page_count == 8


@pytest.mark.parametrize(("others", "segments"), [(9, 1), (19, 2)])
def test_MO2_a_theme_joins_only_over_theta(hub: ScriptedHub, others: int, segments: int) -> None:
    """Cosine 0.55, and one shared keyword of 10 or of 20."""
    keywords = [f"k{n}" for n in range(others + 1)]
    mine, theirs = (
        keywords[: len(keywords) // 2 + 1],
        [keywords[0], *keywords[len(keywords) // 2 + 1 :]],
    )
    make_indexed_segment(hub, "Held.", [1, 0], *theirs)
    hub.embedder.table["Coming."] = [0.55, 0.8351646544]
    hub.model.script("themes", reply_themes("Coming.", *mine))
    say_exchanges(hub, 8)
    hub.run_due_jobs()
    with tenant_scope(hub.tenant.id):
        assert Segment.objects.count() == segments
        member = SegmentPage.objects.get()
        assert member.score == (0.65 if segments == 1 else themes.SELF_SCORE)


def test_O9_a_page_joins_the_themes_that_claim_it_and_none_is_left_out(hub: ScriptedHub) -> None:
    hub.embedder.table |= {"Tea.": [1, 0, 0], "Dogs.": [0, 1, 0]}

    def two(data: Reply) -> Reply:
        first, second, *_ = (page["handle"] for page in data["pages"])
        return {
            "themes": [
                make_theme("Tea.", ["tea"], [first, second, "p99"]),
                make_theme("Dogs.", ["dog"], [second]),
            ]
        }

    hub.model.script("themes", two)
    say_exchanges(hub, 10)
    hub.run_due_jobs()
    with tenant_scope(hub.tenant.id):
        sizes = dict(Segment.objects.values_list("summary", "pages_total"))
        assert (sizes.pop("Tea."), sizes.pop("Dogs.")) == (2, 1)
        assert list(sizes.values()) == [1], "the page that none claimed has a theme by rules"
        assert SegmentPage.objects.count() == 4
        assert Page.objects.filter(tier="mtm").count() == 3


@pytest.mark.parametrize(("compare", "segments"), [("theme", 2), ("page", 1)])
def test_a_theme_or_each_page_is_compared_with_the_segments(
    hub: ScriptedHub, compare: str, segments: int
) -> None:
    """The page's own words are like the segment, what a model says of it is not."""
    hub.set_policy("rag", segments__enabled=True, segments__compare=compare)
    make_indexed_segment(hub, "Held.", [1, 0], "tea")
    hub.embedder.table |= {"Coming.": [0, 1], "here.": [0.9, 0.4358898944]}
    hub.model.script("themes", reply_themes("Coming.", "boat"))
    say_exchanges(hub, 8)
    hub.run_due_jobs()
    with tenant_scope(hub.tenant.id):
        assert Segment.objects.count() == segments
        score = SegmentPage.objects.get().score
        assert score == (0.9 if compare == "page" else themes.SELF_SCORE)


def test_pages_of_one_theme_go_each_to_its_own_segment_by_their_vectors(hub: ScriptedHub) -> None:
    hub.set_policy("rag", segments__enabled=True, segments__compare="page")
    make_indexed_segment(hub, "Ships.", [1, 0, 0], "sea")
    make_indexed_segment(hub, "Trains.", [0, 1, 0], "rail")
    hub.embedder.table |= {"Travel.": [0, 0, 1], "sailed": [1, 0, 0], "rode": [0, 1, 0]}
    hub.model.script("themes", reply_themes("Travel.", "journey"))
    hub.say_exchange("I sailed.", "Fine.")
    hub.say_exchange("I rode.", "Fine.")
    say_exchanges(hub, 7)
    hub.run_due_jobs()
    with tenant_scope(hub.tenant.id):
        members = SegmentPage.objects.order_by("page__first_seq").select_related("segment")
        assert [m.segment.keywords[-1] for m in members] == ["sea", "rail"]


def test_two_themes_for_one_segment_count_a_page_once(hub: ScriptedHub) -> None:
    make_indexed_segment(hub, "Held.", [1, 0], "tea")
    hub.embedder.table |= {"Green.": [1, 0], "Black.": [1, 0]}

    def two(data: Reply) -> Reply:
        pages = [page["handle"] for page in data["pages"]]
        return {
            "themes": [make_theme("Green.", ["tea"], pages), make_theme("Black.", ["tea"], pages)]
        }

    hub.model.script("themes", two)
    say_exchanges(hub, 9)
    hub.run_due_jobs()
    with tenant_scope(hub.tenant.id):
        segment = Segment.objects.get()
        assert (segment.pages_total, SegmentPage.objects.count()) == (2, 2)
        assert segment.summary == "Held. Green. Black."


def test_E28_a_page_is_in_a_segment_once(hub: ScriptedHub) -> None:
    hub.model.script("themes", reply_themes())
    say_exchanges(hub, 8)
    hub.run_due_jobs()
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


def test_I9_segments_and_pages_are_indexed_in_the_same_unit_of_work(hub: ScriptedHub) -> None:
    hub.model.script("themes", reply_themes("Sailing round Faro.", "boat"))
    say_exchanges(hub, 8)
    hub.run_due_jobs()
    with tenant_scope(hub.tenant.id):
        entries = {e.kind: e for e in IndexEntry.objects.filter(kind__in=("segment", "page"))}
        assert entries["segment"].owner_id == Segment.objects.get().id
        assert entries["page"].owner_id == Page.objects.get(tier="mtm").id
        assert "'boat'" in str(entries["segment"].words)
        assert all(entry.embedding is not None for entry in entries.values())


def test_every_row_has_its_event_its_revisions_and_its_turns(hub: ScriptedHub) -> None:
    hub.model.script("themes", reply_themes())
    say_exchanges(hub, 8)
    hub.run_due_jobs()
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


def test_a_person_keeps_their_words_and_gets_a_proposal(hub: ScriptedHub) -> None:
    make_indexed_segment(hub, "My own words.", [1, 0], "tea", corrected_by="ana")
    hub.embedder.table["More tea."] = [1, 0]
    hub.model.script("themes", reply_themes("More tea.", "tea"))
    say_exchanges(hub, 8)
    hub.run_due_jobs()
    with tenant_scope(hub.tenant.id):
        segment = Segment.objects.get()
        assert (segment.summary, segment.pages_total) == ("My own words.", 1)
        proposal = Proposal.objects.get()
        assert proposal.payload["summary"] == "My own words. More tea."
        assert proposal.row_id == segment.id


def test_a_summary_that_outgrows_itself_is_written_anew(hub: ScriptedHub) -> None:
    long = "Tea " + "is drunk again " * 60
    make_indexed_segment(hub, long, [1, 0], "tea")
    hub.embedder.table["More tea."] = [1, 0]
    hub.model.script("themes", reply_themes("More tea.", "tea"))
    hub.model.script("segment_refresh", {"text": "Tea, over and over.", "keywords": ["tea"]})
    say_exchanges(hub, 8)
    hub.run_due_jobs()
    with tenant_scope(hub.tenant.id):
        assert Segment.objects.get().summary == "Tea, over and over."


def test_cold_stale_and_retired_segments_are_not_joined(hub: ScriptedHub) -> None:
    kinds: list[dict[str, Any]] = [{"tier": "cold"}, {"retired_at": hub.now}]
    for number, values in enumerate(kinds):
        make_indexed_segment(hub, f"Held {number}.", [1, 0], "tea", **values)
    hub.embedder.table["Tea."] = [1, 0]
    hub.model.script("themes", reply_themes("Tea.", "tea"))
    say_exchanges(hub, 8)
    hub.run_due_jobs()
    with tenant_scope(hub.tenant.id):
        assert Segment.objects.count() == 3


# Out of sight


def test_MO8_the_coldest_of_the_older_200_goes_cold_and_its_pages_stay_found(
    hub: ScriptedHub,
) -> None:
    for _ in range(200):
        make_indexed_segment(hub, "Held.", [0, 1], visits_total=3)
    with tenant_scope(hub.tenant.id):
        coldest = Segment.objects.order_by("?").first()
        assert coldest is not None
        Segment.objects.filter(id=coldest.id).update(visits_total=1)
    hub.model.script("themes", reply_themes("Brand new.", "new"))
    hub.say("My zeppelin is moored in Faro.")
    say_exchanges(hub, 7)
    with tenant_scope(hub.tenant.id):
        page = Page.objects.get(first_seq=1)
        SegmentPage.objects.create(
            tenant_id=hub.tenant.id,
            space=hub.space,
            segment=coldest,
            page=page,
            added_at=hub.now,
        )
    hub.run_due_jobs()
    with tenant_scope(hub.tenant.id):
        (cold,) = Segment.objects.filter(tier="cold")
        assert cold.id == coldest.id
        new = Segment.objects.get(summary="Brand new.")
        assert (new.tier, new.visits_total, new.pages_total) == ("mid", 0, 1)
        (event,) = EvolutionEvent.objects.filter(kind="archive")
        assert [r.row_id for r in Revision.objects.filter(event=event)] == [cold.id]
    found = search_memories(hub.space, "zeppelin", kinds=("turn",))
    assert "zeppelin" in found.items[0].text


def test_O1_equally_cold_the_one_visited_longer_ago_goes(hub: ScriptedHub) -> None:
    hub.set_policy("rag", segments__enabled=True, segments__max=2, heat__gamma=0)
    older = make_indexed_segment(hub, "Older.", [0, 1], last_visited_at=hub.now - timedelta(days=2))
    make_indexed_segment(hub, "Newer.", [0, 1], last_visited_at=hub.now - timedelta(days=1))
    hub.model.script("themes", reply_themes("Brand new.", "new"))
    say_exchanges(hub, 8)
    hub.run_due_jobs()
    with tenant_scope(hub.tenant.id):
        assert Segment.objects.get(tier="cold").id == older.id
