"""Where everything comes from, after a conversation went through every step (spec X12)."""

from __future__ import annotations

from collections import Counter, defaultdict
from datetime import timedelta
from pathlib import Path

import pytest
from django.conf import settings

from memoryhub.dialogues.formats import read_dialogues
from memoryhub.dialogues.models import Turn
from memoryhub.pipeline.ingest.services import IngestRequest, ingest_messages
from memoryhub.pipeline.jobs.runner import drain_space
from memoryhub.pipeline.models import Job
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope
from memoryhub.tenants.services import create_tenant
from notes.history import row_kinds
from notes.models import Derivation, Derived, EvolutionEvent, Page, Revision

pytestmark = pytest.mark.django_db

DEMO = Path(settings.BASE_DIR) / "memoryhub/demo/dialogues/ana.jsonl"
LEAST = 50


@pytest.fixture
def space() -> Space:
    """At least 50 turns of the demo, session by session, read by the local engine."""
    tenant = create_tenant("One", "one")
    said = 0
    (conversation,) = read_dialogues(DEMO, "jsonl")
    for session in conversation.sessions:
        now = max(m.timestamp for m in session.messages if m.timestamp)
        request = IngestRequest(conversation.subject, session.messages, session.name)
        space = ingest_messages(tenant.id, request, now).space
        drain_space(tenant.id, space.id, now + timedelta(days=1))
        said += len(session.messages)
        if said >= LEAST:
            break
    return space


def list_kinds() -> list[type[Derived]]:
    return [kind.model for kind in row_kinds.list_row_kinds() if issubclass(kind.model, Derived)]


def test_X12_every_row_of_a_mixed_run_has_its_turns_and_its_events(space: Space) -> None:
    with tenant_scope(space.tenant_id):
        assert Turn.objects.filter(space=space, state=Turn.State.PROCESSED).count() >= LEAST
        assert not Job.objects.filter(space=space).exclude(error="").exists()
        made = {model: list(model.objects.filter(space=space)) for model in list_kinds()}
        derivations = Derivation.objects.filter(space=space, role=Derivation.Role.SUPPORT)
        supported = set(derivations.values_list("child_type", "child_id"))
        versions: dict[tuple[str, object], list[int]] = defaultdict(list)
        revisions = Revision.objects.filter(space=space).order_by("version_after")
        for kind, row_id, version in revisions.values_list("row_type", "row_id", "version_after"):
            versions[kind, row_id].append(version)
    found = {model._meta.model_name for model, rows in made.items() if rows}
    assert found >= {
        "fact", "entity", "relation", "note", "link", "chain", "page", "segment", "episode"
    }  # fmt: skip
    for model, rows in made.items():
        for row in rows:
            key = (str(model._meta.model_name), row.pk)
            if model is Page and key not in versions:
                assert row.version == 1  # as ingestion formed it: nothing has been derived yet
                continue
            assert key in supported, row
            # One revision a version, from the first to the one that stands (I6, I7).
            assert versions[key][-1] == row.version, row
            first = versions[key][0]
            assert versions[key] == list(range(first, row.version + 1)), row
            assert first == 1 or model is Page, row


def test_every_event_of_the_pipeline_says_under_which_policy(space: Space) -> None:
    with tenant_scope(space.tenant_id):
        events = EvolutionEvent.objects.filter(space=space)
        stamped = Counter(events.values_list("kind", "trigger", "policy_version"))
    assert len({kind for kind, *_ in stamped}) > 4
    assert {version for *_, version in stamped} == {"t0.s0"}, stamped
