"""Rolling a space back after a conversation went through every step (spec §11.8)."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path

import pytest
from django.conf import settings

from memoryhub.dialogues.formats import read_dialogues
from memoryhub.pipeline import corrections
from memoryhub.pipeline.ingest.services import IngestRequest, ingest_messages
from memoryhub.pipeline.jobs.runner import drain_space
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope
from memoryhub.tenants.services import create_tenant
from notes.history import timeline
from notes.history.undo import plan_roll_back
from personas import blocks, profile, traits
from personas.blocks import BlockWriter

pytestmark = pytest.mark.django_db

DEMO = Path(settings.BASE_DIR) / "memoryhub/demo/dialogues/ana.jsonl"


@pytest.fixture
def lived() -> tuple[Space, datetime, datetime]:
    """Three sessions of the demo, a block, a trait and a word of the profile; halfway and now."""
    tenant = create_tenant("One", "one")
    (conversation,) = read_dialogues(DEMO, "jsonl")
    middle = None
    for number, session in enumerate(conversation.sessions[:3]):
        now = max(m.timestamp for m in session.messages if m.timestamp) + timedelta(days=1)
        request = IngestRequest(conversation.subject, session.messages, session.name)
        space = ingest_messages(tenant.id, request, now).space
        drain_space(tenant.id, space.id, now)
        with tenant_scope(tenant.id):
            writer = BlockWriter("helper", "agent", now, space)
            if number == 0:
                block = blocks.create_block(
                    writer, "plans", "Sail.", tenant_id=tenant.id, space=space
                )
            else:
                blocks.append_to_block(writer, block.id, f"Plan {number}.")
            traits.correct_trait(space, "music", ("low", "medium", "high")[number], "ida", now)
            profile.write_attribute(space, "hobby", f"hobby {number}", "ida", now)
        middle = middle or now + timedelta(minutes=1)
    assert middle is not None
    return space, middle, now + timedelta(hours=1)


def summarise_changes(changes: list[timeline.RowChange]) -> set[tuple[str, str, str, str]]:
    """Which rows, how, and what of them."""
    return {(c.kind, str(c.row_id), c.how, str(sorted(c.fields, key=str))) for c in changes}


def test_what_was_shown_first_is_what_rolling_back_does(
    lived: tuple[Space, datetime, datetime],
) -> None:
    space, middle, now = lived
    with tenant_scope(space.tenant_id):
        then, before = timeline.load_state_at(space, middle), timeline.load_state_at(space, now)
        planned = plan_roll_back(space, middle, "eva", now)
        shown, events = (
            summarise_changes(timeline.preview_changes(planned)),
            len(planned.undone_events),
        )
    found = {kind for kind, *_ in shown}
    assert found >= {
        "fact", "note", "page", "chain", "trait", "coreblock", "profileattribute",
        "entity", "relation", "episode",
    }  # fmt: skip
    made = corrections.roll_back_space(space, middle, "eva", now).events
    assert len(made) == events
    with tenant_scope(space.tenant_id):
        after = timeline.load_state_at(space, now)
        assert summarise_changes(timeline.compute_row_changes(before, after)) == shown
        # Pages are formed as turns come in, without an event: those of later turns stay, unread.
        left = timeline.compute_row_changes(then, after)
        assert {(change.kind, change.how) for change in left} == {("page", "added")}
        assert {change.after["chain_id"] for change in left if change.after} == {None}
