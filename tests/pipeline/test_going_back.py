"""Rolling a space back after a conversation went through every step (spec §11.8)."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path

import pytest
from django.conf import settings

from memoryhub.dialogues.formats import read_dialogues
from memoryhub.pipeline import restoring
from memoryhub.pipeline.runner import drain
from memoryhub.pipeline.services import IngestRequest, ingest
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope
from memoryhub.tenants.services import create_tenant
from notes import timeline
from personas import blocks, profiles, traits
from personas.blocks import Writer

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
        space = ingest(tenant.id, request, now).space
        drain(tenant.id, space.id, now)
        with tenant_scope(tenant.id):
            writer = Writer("helper", "agent", now, space)
            if number == 0:
                block = blocks.create(writer, "plans", "Sail.", tenant_id=tenant.id, space=space)
            else:
                blocks.append(writer, block.id, f"Plan {number}.")
            traits.correct(space, "music", ("low", "medium", "high")[number], "ida", now)
            profiles.write(space, "hobby", f"hobby {number}", "ida", now)
        middle = middle or now + timedelta(minutes=1)
    assert middle is not None
    return space, middle, now + timedelta(hours=1)


def told(changes: list[timeline.RowChange]) -> set[tuple[str, str, str, str]]:
    """Which rows, how, and what of them."""
    return {(c.kind, str(c.row_id), c.how, str(sorted(c.fields, key=str))) for c in changes}


def test_what_was_shown_first_is_what_rolling_back_does(
    lived: tuple[Space, datetime, datetime],
) -> None:
    space, middle, now = lived
    with tenant_scope(space.tenant_id):
        then, before = timeline.as_of(space, middle), timeline.as_of(space, now)
        planned = timeline.plan_roll_back(space, middle, "eva", now)
        shown, events = told(timeline.preview(planned)), len(planned.undone)
    found = {kind for kind, *_ in shown}
    assert found >= {
        "fact", "note", "page", "chain", "trait", "coreblock", "profileattribute",
        "entity", "relation", "episode",
    }  # fmt: skip
    made = restoring.roll_back(space, middle, "eva", now)
    assert len(made) == events
    with tenant_scope(space.tenant_id):
        after = timeline.as_of(space, now)
        assert told(timeline.difference(before, after)) == shown
        # Pages are formed as turns come in, without an event: those of later turns stay, unread.
        left = timeline.difference(then, after)
        assert {(change.kind, change.how) for change in left} == {("page", "added")}
        assert {change.after["chain_id"] for change in left if change.after} == {None}
