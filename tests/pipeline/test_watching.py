"""Many wait for jobs, one thread looks."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from uuid import UUID, uuid4

from memoryhub.pipeline.jobs.watch import JobWatcher

PATIENCE = 20.0


class Jobs:
    """Their states, and which looks were taken at them."""

    def __init__(self, *ids: UUID) -> None:
        self.states = dict.fromkeys(ids, "queued")
        self.looks: list[set[UUID]] = []
        self.fails = 0

    def look(self, tenant_id: UUID, job_ids: Collection[UUID]) -> Mapping[UUID, str]:
        self.looks.append(set(job_ids))
        if self.fails:
            self.fails -= 1
            raise OSError("away")
        return {each: self.states[each] for each in job_ids if each in self.states}


def test_all_who_wait_share_a_look() -> None:
    tenant, first, second = uuid4(), uuid4(), uuid4()
    jobs = Jobs(first, second)
    watcher = JobWatcher(jobs.look, 0.01)
    waiting = [watcher.wait_for_change(tenant, first, "queued") for _ in range(50)]
    other = watcher.wait_for_change(tenant, second, "queued")
    jobs.states[second] = "running"
    assert other.result(PATIENCE) == "running"
    assert not any(each.done() for each in waiting)
    jobs.states[first] = "done"
    assert [each.result(PATIENCE) for each in waiting] == ["done"] * 50
    assert {first, second} in jobs.looks


def test_a_change_that_came_before_and_a_job_that_is_gone_are_told() -> None:
    tenant, job = uuid4(), uuid4()
    watcher = JobWatcher(Jobs(job).look, 0.01)
    assert watcher.wait_for_change(tenant, job, "running").result(PATIENCE) == "queued"
    assert watcher.wait_for_change(tenant, uuid4(), "queued").result(PATIENCE) is None


def test_a_look_that_fails_is_taken_again() -> None:
    tenant, job = uuid4(), uuid4()
    jobs = Jobs(job)
    jobs.fails = 2
    watcher = JobWatcher(jobs.look, 0.01)
    assert watcher.wait_for_change(tenant, job, "").result(PATIENCE) == "queued"


def test_who_waits_no_longer_is_not_looked_for() -> None:
    tenant, left, kept = uuid4(), uuid4(), uuid4()
    jobs = Jobs(left, kept)
    watcher = JobWatcher(jobs.look, 0.01)
    assert watcher.wait_for_change(tenant, left, "queued").cancel()
    jobs.looks.clear()
    for _ in range(3):
        assert watcher.wait_for_change(tenant, kept, "").result(PATIENCE) == "queued"
    assert left not in jobs.looks[-1]
