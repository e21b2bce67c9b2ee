"""The history in words: kind, text before and after, reason and actor; no id and no JSON."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from memoryhub.console.frame.text import history_rows
from memoryhub.dialogues.models import Turn
from memoryhub.pipeline.erasure import erase_targets
from memoryhub.pipeline.erasure.erase_targets import ErasureTarget
from memoryhub.tenants.scope import tenant_scope
from notes.history.change_set import ChangeSet, serialize_row
from notes.models import Chain, EvolutionEvent, Page, Segment, SegmentPage
from personas import blocks
from personas.blocks import BlockWriter
from tests.console.conftest import ConsoleWorld
from tests.support.factories import MAY, make_turns

UUID = re.compile(r">[^<]*[0-9a-f]{8}-[0-9a-f]{4}-[^<]*<")

NAMES = {"1": "Ana sails", "2": "Ana has a boat", "3": "Sea", "4": "Ana", "5": "Porto"}


@pytest.mark.parametrize(
    ("kind", "values", "said"),
    [
        ("fact", {"text": "Ana sails."}, "Ana sails."),
        ("note", {"content": "I sail."}, "I sail."),
        ("page", {"id": "1"}, "Ana sails"),
        ("page", {"id": "9"}, "an exchange whose text was erased"),
        ("chain", {"summary": "", "page_count": 2}, "2 exchanges in a row"),
        ("segment", {"summary": "", "keywords": ["sea", "boat"]}, "sea, boat"),
        ("segmentpage", {"page_id": "1", "segment_id": "3"}, "“Ana sails” in “Sea”"),
        (
            "link",
            {"a_id": "1", "b_id": "2", "kind": "causes", "reason": "it is why"},
            "“Ana sails” caused “Ana has a boat”: it is why",
        ),
        (
            "link",
            {"a_id": "1", "b_id": "9"},
            "“Ana sails” is related to “something that has since been erased”",
        ),
        ("relation", {"src_id": "4", "label": "lives_in", "dst_id": "5"}, "Ana lives in Porto"),
        ("trait", {"key": "honesty", "level": "high"}, "wants it said outright"),
        ("trait", {"key": "honesty", "level": "low"}, "wants it said kindly"),
        ("trait", {"key": "self_discipline", "level": "high"}, "self discipline: high"),
        ("profileattribute", {"key": "lives_in", "value": "Porto"}, "Lives in: Porto"),
        ("coreblock", {"label": "human", "value": "Ana."}, "human: Ana."),
        ("coreblock", {"label": "human", "value": ""}, "human: empty"),
        ("episode", {"title": "May", "text": "They sailed."}, "May: They sailed."),
        ("episode", {}, "no text yet"),
    ],
)
def test_a_row_is_told_by_what_it_says(kind: str, values: dict[str, object], said: str) -> None:
    assert history_rows.describe_row(kind, values, NAMES) == said


@pytest.mark.parametrize(
    ("kind", "before", "after", "told"),
    [
        (
            "page",
            {"id": "1", "version": 1, "tier": "stm", "chain_id": None},
            {"id": "1", "version": 2, "tier": "mtm", "chain_id": "3"},
            {"stored in": ("short term", "mid term"), "conversation": (None, "Sea")},
        ),
        ("chain", {"open": True}, {"open": False}, {"still open": ("yes", "no")}),
        (
            "episode",
            {"details": {}},
            {"details": {"reply_strategy": "short", "points": ["sea", "boat"]}},
            {"more": ("", "reply strategy: short; points: sea, boat")},
        ),
        (
            "fact",
            {"metadata": {}, "recorded_at": "2026-05-12T09:00:00Z"},
            {"metadata": {"team": "red"}, "recorded_at": "2026-05-13T09:00:00Z"},
            {"metadata": ("", "team: red")},
        ),
    ],
)
def test_changes_have_labels_and_values_that_can_be_read(
    kind: str, before: dict[str, Any], after: dict[str, Any], told: dict[str, Any]
) -> None:
    changes = history_rows.list_field_changes(kind, before, after, NAMES)
    assert {c.name: (c.before, c.after) for c in changes} == told


@pytest.fixture
def changed(world: ConsoleWorld) -> ConsoleWorld:
    """One event of everything that has ids for its words, and an edit of a block."""
    space = world.space
    with tenant_scope(space.tenant_id):
        (turn,) = make_turns(space, "I sailed to Braga.")
        page = Page.objects.filter(session=turn.session_id, first_seq=turn.seq).first()
        keys: dict[str, Any] = {"tenant_id": space.tenant_id, "space": space}
        page = page or Page.objects.create(
            session=turn.session, first_seq=turn.seq, last_seq=turn.seq, **keys
        )
        chain = Chain.objects.create(summary="About sailing.", page_count=1, **keys)
        segment = Segment.objects.create(
            summary="Sea and boats.", started_at=MAY, ended_at=MAY, last_visited_at=MAY, **keys
        )
        changes = ChangeSet(space, EvolutionEvent.Kind.PLACE, "pipeline", MAY, "put in its place")
        place = SegmentPage.objects.create(page=page, segment=segment, added_at=MAY, **keys)
        for row in (chain, segment, place):
            changes.record_creation(row, [])
        was = serialize_row(page)
        page.chain, page.tier, page.version = chain, Page.Tier.MID, page.version + 1
        page.save()
        changes.record_change(page, was)
        changes.save()
        writer = BlockWriter(
            "helper", "agent", MAY + timedelta(days=1), space, reason="by its own tool"
        )
        blocks.append_to_block(writer, world.block.id, "Sails.")
    return world


def test_the_history_and_its_events_show_no_id_and_no_json(
    changed: ConsoleWorld, browser: Client
) -> None:
    space = changed.space
    with tenant_scope(space.tenant_id):
        events = list(EvolutionEvent.objects.filter(space=space))
    pages = [reverse("space-history", args=[space.id])]
    pages += [reverse("space-event", args=[space.id, event.id]) for event in events]
    shown = [browser.get(page).content.decode() for page in pages]
    assert "“I sailed to Braga.” in “Sea and boats.”" in shown[0]
    assert "About sailing." in shown[0]
    assert "by helper" in shown[0]
    assert "by its own tool" in shown[0]
    assert "mid term" in shown[0]
    for html in shown:
        assert not UUID.search(html), UUID.search(html)
        assert "{&quot;" not in html
        assert "[&quot;" not in html


def test_an_erasure_is_told_without_words(changed: ConsoleWorld, browser: Client) -> None:
    space = changed.space
    with tenant_scope(space.tenant_id):
        turn = Turn.objects.get(text__contains="Braga")
    erase_targets.execute_erasure(
        space, ErasureTarget("turns", (turn.id,)), "eva", MAY + timedelta(days=2)
    )
    html = browser.get(reverse("space-history", args=[space.id])).content.decode()
    assert "erased" in html
    assert "Braga" not in html
