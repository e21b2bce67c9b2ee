"""A subject whose pages are warm enough to be promoted."""

from __future__ import annotations

from typing import Any

import pytest

from memoryhub.dialogues.messages import Message
from memoryhub.dialogues.services import append_turns
from memoryhub.pipeline.jobs import runner
from memoryhub.pipeline.models import Job
from memoryhub.pipeline.steps import promotion
from memoryhub.tenants.scope import tenant_scope
from memoryhub.tenants.services import ensure_space
from notes.models import Page, Segment, SegmentPage
from tests.support.hub import ScriptedHub


@pytest.fixture
def warm(hub: ScriptedHub) -> WarmMemory:
    # Only promotion is looked at here.
    hub.set_policy("memoryos")
    return WarmMemory(hub)


class WarmMemory:
    """Pages in segments, without the steps that would have put them there."""

    def __init__(self, hub: ScriptedHub) -> None:
        self.hub = hub

    def add_segment(
        self, *texts: str, subject: str = "", visits: int = 5, reply: str = ""
    ) -> Segment:
        """One page a text, of one segment. Five visits make it warm."""
        hub = self.hub
        with tenant_scope(hub.tenant.id):
            space = ensure_space(hub.tenant.id, subject or hub.subject)
            segment = Segment.objects.create(
                tenant_id=space.tenant_id,
                space=space,
                summary="A topic",
                started_at=hub.now,
                ended_at=hub.now,
                last_visited_at=hub.now,
                visits_total=visits,
                promo_visits=visits,
            )
            for text in texts:
                self.add_page(segment, text, reply)
            return segment

    def add_page(self, segment: Segment, text: str, reply: str = "") -> Page:
        space = segment.space
        with tenant_scope(space.tenant_id):
            said = [Message("user", text, space.subject, self.hub.now)]
            said += [Message("assistant", reply, "Hub", self.hub.now)] if reply else []
            session = f"page-{Page.objects.count()}"
            turns = append_turns(space, said, received=self.hub.now, session_id=session).turns
            keys = {"tenant_id": space.tenant_id, "space": space}
            first, last = turns[0], turns[-1]
            page = Page.objects.create(
                session=first.session, first_seq=first.seq, last_seq=last.seq, **keys
            )
            SegmentPage.objects.create(segment=segment, page=page, added_at=self.hub.now, **keys)
            for field in ("pages_total", "promo_pages"):
                setattr(segment, field, getattr(segment, field) + 1)
            segment.save()
            return page

    def run_promotion(self, subject: str = "") -> dict[str, Any]:
        """Run a promotion; returns the job's result, state and error."""
        hub = self.hub
        with tenant_scope(hub.tenant.id):
            space = ensure_space(hub.tenant.id, subject or hub.subject)
            promotion.plan_promotion(space, f"test:{hub.now}", hub.now)
        hub.pass_time(seconds=1)
        runner.drain_space(hub.tenant.id, space.id, hub.now)
        with tenant_scope(hub.tenant.id):
            job = Job.objects.filter(step=Job.Step.PROMOTE, space=space).latest("created_at")
            return dict(job.result) | {"state": job.state, "error": job.error}
