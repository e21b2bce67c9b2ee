"""No exchange is ever in neither the short-term memory nor a segment (MemoryOS, spec §8.2)."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from memoryhub.pipeline.jobs import runner
from memoryhub.recall.context import build_context
from memoryhub.tenants.scope import tenant_scope
from notes.models import Page, SegmentPage
from tests.support.hub import ScriptedHub
from tests.support.segments import reply_chain, reply_themes

EXCHANGES = 30
BY_BATCHES: dict[str, Any] = {
    "segments__enabled": True,
    "chain__enabled": True,
    "recall__channels": ["stm", "pages"],
}


def list_pages_out_of_reach(hub: ScriptedHub) -> list[str]:
    """First words of exchanges that are neither among the latest that a reader is given nor in a
    segment."""
    made = build_context(
        hub.space, "unrelated", budget_tokens=100_000, now=hub.now, reinforce=False
    )
    shown = {item.id for item in made.items("stm")}
    with tenant_scope(hub.tenant.id):
        placed = set(SegmentPage.objects.values_list("page_id", flat=True))
        pages = Page.objects.exclude(id__in=placed).select_related("session")
        turns = [
            page.session.turns.filter(seq__range=(page.first_seq, page.last_seq)) for page in pages
        ]
        return [turn.text for said in turns for turn in said if turn.id not in shown]


@pytest.mark.parametrize(
    ("preset", "switches"), [("memoryos", {}), ("rag", BY_BATCHES)], ids=["singly", "by batches"]
)
def test_every_exchange_is_among_the_latest_or_in_a_segment_after_every_step(
    hub: ScriptedHub, preset: str, switches: dict[str, Any]
) -> None:
    hub.set_policy(preset, **switches)
    hub.model.allow(
        construct={"facts": []},
        chain=reply_chain(),
        themes=reply_themes(),
        segment_refresh={"text": "All of it.", "keywords": ["word"]},
        kb_extract={"user": [], "agent": []},
        trait_update={"traits": []},
    )
    waited = 0
    for number in range(EXCHANGES):
        hub.say_exchange(f"Word {number} of mine.", f"Reply {number}.")
        assert list_pages_out_of_reach(hub) == []
        hub.now += timedelta(minutes=2)
        while runner.run_next_job(hub.tenant.id, hub.space.id, hub.now):
            assert list_pages_out_of_reach(hub) == []
        with tenant_scope(hub.tenant.id):
            queue = Page.objects.filter(tier=Page.Tier.SHORT).count()
        waited = max(waited, queue - 7)
    with tenant_scope(hub.tenant.id):
        assert SegmentPage.objects.count() >= EXCHANGES - 7 - 4
    # Where a model is asked for several together, some did wait over the length of the queue.
    assert waited == (4 if switches else 0)
