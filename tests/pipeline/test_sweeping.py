"""Sweeps: what fades by the clock, and that idle spaces cost nothing (spec §11.6, §12.1)."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from memoryhub.pipeline.models import Job
from memoryhub.pipeline.steps.maintenance import sweep
from memoryhub.tenants.scope import tenant_scope
from notes.models import EvolutionEvent, Page
from notes.retention import decay
from tests.support.hub import ScriptedHub

pytestmark = pytest.mark.django_db
SILENT: dict[str, Any] = {"changes": []}


@pytest.fixture
def fading(hub: ScriptedHub) -> ScriptedHub:
    hub.set_policy("rag", forget__mode="sample")
    hub.model.allow(construct=SILENT)
    return hub


def get_page(hub: ScriptedHub) -> Page:
    with tenant_scope(hub.tenant.id):
        return Page.objects.get()


def count_sweeps(hub: ScriptedHub, **state: str) -> int:
    with tenant_scope(hub.tenant.id):
        return Job.objects.filter(step="sweep", **state).count()


def test_MB3_a_page_fades_at_its_date_and_not_before(fading: ScriptedHub) -> None:
    fading.say("I planted a fig tree.")
    fading.run_due_jobs(minutes=1)
    date = get_page(fading).forget_at
    assert date is not None
    fading.now = date - timedelta(seconds=1)
    fading.run_due_jobs(seconds=0)
    assert get_page(fading).visibility == "active"
    fading.now = date + timedelta(hours=1)
    fading.run_due_jobs(seconds=0)
    assert get_page(fading).visibility == "dormant"
    with tenant_scope(fading.tenant.id):
        event = EvolutionEvent.objects.get(kind="forget")
        assert (event.trigger, event.revisions.count()) == ("sweep", 1)


def test_what_was_recalled_meanwhile_stays(fading: ScriptedHub) -> None:
    fading.say("I planted a fig tree.")
    fading.run_due_jobs(minutes=1)
    row = get_page(fading)
    assert row.forget_at is not None
    at = row.forget_at - timedelta(minutes=1)
    with tenant_scope(fading.tenant.id):
        decay.strengthen_recalled(fading.space, [decay.RecalledContext([("page", row.id)], at)])
        later = get_page(fading).forget_at
    assert later is not None
    assert later > at
    fading.now = later - timedelta(seconds=1)
    fading.run_due_jobs(seconds=0)
    assert get_page(fading).visibility == "active"


def test_an_idle_space_is_swept_when_something_fades_and_then_no_more(fading: ScriptedHub) -> None:
    fading.say("I planted a fig tree.")
    fading.run_due_jobs(minutes=1)
    fading.run_due_jobs(days=365)
    assert get_page(fading).visibility == "dormant"
    assert count_sweeps(fading, state="queued") == 0
    done = count_sweeps(fading, state="done")
    assert done <= 2
    fading.run_due_jobs(days=365)
    assert count_sweeps(fading) == done


@pytest.mark.parametrize("mode", ["off", "rank"])
def test_a_policy_that_hides_nothing_is_never_swept(fading: ScriptedHub, mode: str) -> None:
    fading.set_policy("rag", forget__mode=mode)
    fading.say("I planted a fig tree.")
    fading.run_due_jobs(days=30)
    assert count_sweeps(fading) == 0
    assert get_page(fading).forget_at is None


def test_a_changed_curve_moves_every_date(fading: ScriptedHub) -> None:
    fading.say("I planted a fig tree.")
    fading.run_due_jobs(minutes=1)
    fading.run_due_jobs(hours=1)
    before = get_page(fading).forget_at
    fading.set_policy("rag", forget__mode="sample", forget__unit_days=100)
    fading.say("Hello again.")
    fading.run_due_jobs(minutes=1)
    fading.run_due_jobs(hours=1)
    with tenant_scope(fading.tenant.id):
        after = Page.objects.order_by("first_seq")[0].forget_at
    assert before is not None
    assert after is not None
    assert after > before + timedelta(minutes=1)


def test_tasks_run_with_nothing_open_and_may_wish_for_the_next_sweep(
    fading: ScriptedHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran = []

    def task(space: Any, policy: Any, now: Any) -> Any:
        ran.append(now)
        return now + timedelta(days=3) if len(ran) == 1 else None

    monkeypatch.setattr(sweep, "list_space_sweeps", lambda: [task])
    fading.set_policy("rag", retention__max_age_days=30)
    fading.say("I planted a fig tree.")
    fading.run_due_jobs(minutes=1)
    fading.run_due_jobs(hours=1)
    assert len(ran) == 1
    fading.run_due_jobs(days=4)
    assert len(ran) == 2
    fading.run_due_jobs(days=40)
    assert len(ran) == 2
