"""A job's progress, event by event. The clock is the test's: nothing sleeps."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from typing import Any, TypeVar

from jsonschema import Draft202012Validator  # type: ignore[import-untyped]  # it has no types
from rest_framework.test import APIClient

from api.v1.jobs import ALIVE, LONGEST, Progress, load_progress, stream_progress
from memoryhub.tenants.models import Tenant
from memoryhub.tenants.scope import tenant_scope
from tests.support.contract import build_description
from tests.support.event_loop import run_coroutine
from tests.support.factories import make_job, make_space, make_turns

T = TypeVar("T")


class Clock:
    """A job that is watched: each look takes the next of its states, after half a second; without
    one, time passes and nothing happens."""

    def __init__(self, *states: Progress | None) -> None:
        self.now = 0.0
        self.states = list(states)

    def __call__(self) -> float:
        return self.now

    async def wait_for_change(self, seen: Progress, seconds: float) -> Progress | None:
        if not self.states:
            self.now += seconds
            raise TimeoutError
        self.now += 0.5
        return self.states.pop(0)

    def listen(self, now: Progress | None) -> list[str]:
        return collect(stream_progress(now, self.wait_for_change, self))


def collect(told: AsyncIterator[T]) -> list[T]:
    async def gather() -> list[T]:
        return [each async for each in told]

    return run_coroutine(gather())


def parse_events(lines: Iterator[str]) -> list[tuple[str, dict[str, Any]]]:
    told = []
    for line in lines:
        if line.startswith("event: "):
            name, data = line.removesuffix("\n\n").split("\n")
            told.append((name.removeprefix("event: "), json.loads(data.removeprefix("data: "))))
    return told


def test_each_change_is_told_once_and_the_end_closes_it() -> None:
    clock = Clock({"state": "running"}, {"state": "done"}, {"state": "queued"})
    assert parse_events(iter(clock.listen({"state": "queued"}))) == [
        ("progress", {"state": "queued"}),
        ("progress", {"state": "running"}),
        ("end", {"state": "done"}),
    ]


def test_a_silent_stream_is_kept_alive_and_given_up() -> None:
    clock = Clock()
    lines = clock.listen({"state": "queued"})
    assert lines[0].startswith("event: progress")
    assert lines.count(": still here\n\n") == LONGEST / ALIVE
    assert lines[-1].startswith("event: timeout")
    assert clock.now == LONGEST


def test_a_job_that_is_erased_meanwhile_ends_the_stream() -> None:
    lines = Clock(None).listen({"state": "queued"})
    assert parse_events(iter(lines))[1:] == [("end", {"state": "gone"})]
    assert parse_events(iter(Clock().listen(None))) == [("end", {"state": "gone"})]


def test_an_ended_job_is_streamed_with_its_decisions(api: APIClient, tenant: Tenant) -> None:
    with tenant_scope(tenant.id):
        space = make_space(tenant, "ana")
        job = make_job(space, "done", result={"decisions": [{"op": "add"}]})
    answer: Any = api.get(
        f"/api/v1/jobs/{job.id}/progress", headers={"Accept": "text/event-stream"}
    )
    assert answer.status_code == 200
    assert answer["Content-Type"] == "text/event-stream"
    chunks = collect(answer.streaming_content)
    ((name, shown),) = parse_events(chunk.decode() for chunk in chunks)
    assert (name, shown["state"], shown["decisions"]) == ("end", "done", [{"op": "add"}])


def test_the_description_has_the_shape_of_an_event() -> None:
    described = build_description()
    path = described["paths"]["/api/v1/jobs/{row_id}/progress"]["get"]
    event = path["responses"]["200"]["content"]["text/event-stream"]["schema"]
    shapes = {"components": described["components"]}
    lines = Clock().listen({"state": "done", "unread": 0})
    ((name, data),) = parse_events(iter(lines))
    sent = {"event": name, "data": json.dumps(data)}
    validator = Draft202012Validator(event | shapes)
    assert list(validator.iter_errors(sent)) == []
    assert list(validator.iter_errors({**sent, "event": "gone"}))
    inner = Draft202012Validator(event["properties"]["data"]["contentSchema"] | shapes)
    assert list(inner.iter_errors(data)) == []
    assert list(inner.iter_errors({"state": 7}))


def test_unread_turns_of_the_job_are_counted(tenant: Tenant) -> None:
    with tenant_scope(tenant.id):
        space = make_space(tenant, "ana")
        turns = make_turns(space, "one", "two", "three")
        job = make_job(space, first_seq=turns[0].seq, last_seq=turns[1].seq)
        other = make_job(space, first_seq=turns[2].seq, last_seq=turns[2].seq)
    found = load_progress(tenant.id, [job.id, other.id, space.id])
    assert {job_id: each["unread"] for job_id, each in found.items()} == {job.id: 2, other.id: 1}
