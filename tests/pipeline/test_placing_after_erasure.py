"""Pages, chains and segments after an erasure (spec §10, X6)."""

from __future__ import annotations

import pytest

from memoryhub.dialogues.models import Turn
from memoryhub.pipeline.erasure import erase_targets
from memoryhub.tenants.scope import tenant_scope
from notes.models import (
    Chain,
    IndexEntry,
    Page,
    Segment,
    SegmentPage,
)
from tests.support.database_scan import find_tables_with_word
from tests.support.hub import ScriptedHub
from tests.support.segments import reply_chain, reply_themes, run_place_step, say_exchanges

pytestmark = pytest.mark.usefixtures("only_themes")


def test_X6_an_erased_turn_leaves_no_word_in_page_chain_or_segment(hub: ScriptedHub) -> None:
    hub.model.allow(chain=reply_chain(summary="They spoke of zanzibar."))
    hub.model.script("themes", reply_themes("To zanzibar and back.", "zanzibar", "boat"))
    hub.say_exchange("I sailed to zanzibar.", "By boat?")
    say_exchanges(hub, 8)
    hub.run_due_jobs()
    hub.model.allow(chain=reply_chain(summary="They spoke of boats."))
    hub.model.script("segment_refresh", {"text": "Boats.", "keywords": ["boat"]})
    with tenant_scope(hub.tenant.id):
        page = Page.objects.get(first_seq=1)
        secret = Turn.objects.get(seq=1)
        assert find_tables_with_word("zanzibar")
    target = erase_targets.ErasureTarget("turns", (secret.id,))
    erase_targets.execute_erasure(hub.space, target, "eva", hub.now)
    with tenant_scope(hub.tenant.id):
        assert find_tables_with_word("zanzibar") == []
        assert Segment.objects.get().stale
    hub.run_due_jobs()
    with tenant_scope(hub.tenant.id):
        assert find_tables_with_word("zanzibar") == []
        assert not Segment.objects.get().stale
        assert Segment.objects.get().summary == "Boats."
        assert Chain.objects.get().summary != ""
        assert Page.objects.get(id=page.id).memberships.count() == 1
        assert "boat" in str(IndexEntry.objects.get(owner_id=page.id).words)


def test_a_stale_segment_is_rewritten_from_the_pages_that_remain(hub: ScriptedHub) -> None:
    hub.model.script("themes", reply_themes("Told a secret, and more.", "secret"))
    say_exchanges(hub, 9)
    hub.run_due_jobs()
    hub.model.script("segment_refresh", {"text": "And more.", "keywords": ["more"]})
    with tenant_scope(hub.tenant.id):
        segment = Segment.objects.get()
        Segment.objects.update(stale=True)
        SegmentPage.objects.filter(page__first_seq=1).delete()
    run_place_step(hub, refresh=[str(segment.id)])
    with tenant_scope(hub.tenant.id):
        segment.refresh_from_db()
        assert (segment.summary, segment.keywords, segment.stale) == ("And more.", ["more"], False)
        assert segment.pages_total == 1
        entry = IndexEntry.objects.get(owner_id=segment.id)
        assert "secret" not in str(entry.words)
    (given,) = hub.model.list_calls("segment_refresh")
    assert (given["summary"], len(given["pages"])) == ("", 1)


def test_a_segment_and_a_chain_without_pages_are_retired(hub: ScriptedHub) -> None:
    hub.model.script("themes", reply_themes())
    say_exchanges(hub, 8)
    hub.run_due_jobs()
    with tenant_scope(hub.tenant.id):
        segment, chain = Segment.objects.get(), Chain.objects.get()
        SegmentPage.objects.all().delete()
        Page.objects.update(retired_at=hub.now)
    run_place_step(hub, refresh=[str(segment.id)], chains=[str(chain.id)])
    with tenant_scope(hub.tenant.id):
        segment.refresh_from_db()
        chain.refresh_from_db()
        assert segment.retired_at == chain.retired_at == hub.now
        assert not IndexEntry.objects.filter(owner_id=segment.id).exists()


def test_a_chain_is_summed_up_again_from_the_pages_that_remain(hub: ScriptedHub) -> None:
    say_exchanges(hub, 3)
    hub.run_due_jobs()
    with tenant_scope(hub.tenant.id):
        chain = Chain.objects.get()
        Page.objects.filter(first_seq=1).update(chain=None, retired_at=hub.now)
    run_place_step(hub, chains=[str(chain.id)])
    with tenant_scope(hub.tenant.id):
        chain.refresh_from_db()
        assert chain.page_count == 2
        assert chain.summary != "So far."
