"""Talk that is placed in chains and segments by a scripted model (spec §8)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from memoryhub.pipeline.jobs import queue
from memoryhub.pipeline.models import Job
from memoryhub.tenants.scope import tenant_scope
from notes.models import (
    IndexEntry,
    Page,
    Segment,
)
from tests.support.hub import ScriptedHub

Reply = dict[str, Any]


def reply_chain(*flags: bool, summary: str = "So far.") -> Callable[[Reply], Reply]:
    """Says for the pages asked about, in order, whether they go on; without flags all do."""

    def answer_chain(data: Reply) -> Reply:
        said = flags or (True,) * len(data["pages"])
        return {
            "pages": [
                {"handle": page["handle"], "continues": goes_on, "summary": summary}
                for page, goes_on in zip(data["pages"], said, strict=True)
            ]
        }

    return answer_chain


def reply_themes(text: str = "What they said.", *keywords: str) -> Callable[[Reply], Reply]:
    """One theme of all the pages asked about."""

    def answer_themes(data: Reply) -> Reply:
        pages = [page["handle"] for page in data["pages"]]
        return {"themes": [make_theme(text, list(keywords) or ["word"], pages)]}

    return answer_themes


def make_theme(text: str, keywords: Sequence[str], pages: Sequence[str]) -> Reply:
    return {"name": text, "keywords": list(keywords), "text": text, "pages": list(pages)}


def say_exchanges(hub: ScriptedHub, count: int, *, session: str = "s1") -> None:
    for _ in range(count):
        hub.say_exchange(f"It is {hub.now:%d %H:%M} here.", "I hear you.", session=session)


def list_tiers(hub: ScriptedHub) -> list[str]:
    with tenant_scope(hub.tenant.id):
        return list(Page.objects.order_by("first_seq").values_list("tier", flat=True))


def run_place_step(hub: ScriptedHub, key: str = "by hand", **payload: Any) -> Job:
    """Run the step, whether it is due or not."""
    with tenant_scope(hub.tenant.id):
        queue.plan_step(hub.space, Job.Step.PLACE, key, hub.now, payload=payload)
        job = Job.objects.get(space=hub.space, dedupe_key=f"place:{key}")
    hub.run_due_jobs()
    with tenant_scope(hub.tenant.id):
        job.refresh_from_db()
    return job


def make_indexed_segment(
    hub: ScriptedHub, summary: str, vector: Sequence[float], *keywords: str, **values: Any
) -> Segment:
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
