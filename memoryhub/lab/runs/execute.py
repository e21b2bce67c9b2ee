"""Systems side by side: each dialogue derived once a write policy, each question asked once.

What is done is written down at once, so a run that ends early is gone on with where it stood.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any

from django.utils import timezone

from memoryhub.errors import Conflict, EngineError, InvalidInput
from memoryhub.inference import selection
from memoryhub.inference.ledger import open_ledger
from memoryhub.inference.models import ModelCall
from memoryhub.lab.datasets.types import Dataset, Dialogue
from memoryhub.lab.locks import LOCKS
from memoryhub.lab.measurements.derivation import count_space_rows, list_errors
from memoryhub.lab.models import LabDerivation, LabRun
from memoryhub.lab.readers.base import ReaderInputs
from memoryhub.lab.runs import services
from memoryhub.lab.runs.ask import ask_question, sum_measured_calls
from memoryhub.lab.runs.plan import (
    RunOptions,
    RunPlan,
    describe_dataset,
    describe_environment,
    plan_run,
)
from memoryhub.lab.systems import System
from memoryhub.lab.throwaway.replay import compute_asking_time, replay_dialogue
from memoryhub.lab.throwaway.tenants import (
    delete_abandoned_tenants,
    delete_tenant_rows,
    open_kept_tenant,
)
from memoryhub.policies.services import set_policy
from memoryhub.tenants.models import Space, Tenant
from memoryhub.tenants.scope import tenant_scope

Progress = Callable[[str], None]
# After so many failures in a row whoever answers is taken to be gone.
MOST_FAILURES_IN_A_ROW = 3


def start_run(owner: Tenant, options: RunOptions, dataset: Dataset, progress: Progress) -> LabRun:
    """A new run, to its end. Raises what `planned` does before anything is written."""
    plan = plan_run(options, dataset)
    services.mark_dead_runs(owner)
    _report_deleted_tenants(delete_abandoned_tenants(), progress)
    run = create_planned_run(owner, plan, dataset)
    progress(f"run {run.id}: {plan.total} answers wanted")
    selection.get_current_embedder().embed(["loaded before anything is timed"])
    return _execute_run(run, plan, progress)


def create_planned_run(owner: Tenant, plan: RunPlan, dataset: Dataset, **more: Any) -> LabRun:
    """The run's row, with everything that is known before the first question."""
    now = timezone.now()
    run = LabRun(
        tenant=owner,
        settings=asdict(plan.options),
        dataset=describe_dataset(dataset, plan),
        systems=[system.to_dict() for system in plan.systems],
        environment=describe_environment(plan),
        total=plan.total,
        created_at=now,
        updated_at=now,
        **more,
    )
    with tenant_scope(owner.id):
        run.save(force_insert=True)
    return run


def resume_run(
    owner: Tenant, run_id: str, dataset: Dataset, progress: Progress, *, anew: bool = True
) -> LabRun:
    """Go on with a run of the same data; `anew`: also when somebody had stopped it.

    Raises NotFound, Conflict for one that is going on, and InvalidInput for other data.
    """
    run = services.get_run(owner, run_id)
    if dataset.sha256 != run.dataset["sha256"]:
        raise InvalidInput("that run was of another file: its SHA-256 differs", field="data")
    if run.state == LabRun.State.DONE:
        return run
    plan = plan_run(RunOptions.from_settings(run.settings), dataset)
    if anew:
        services.update_run(run, stopping=False)
    gone = delete_abandoned_tenants(keep=services.list_tenant_slugs(run))
    _report_deleted_tenants(gone, progress)
    progress(f"run {run.id}: {run.done} of {run.total} answers are there")
    return _execute_run(run, plan, progress)


def _report_deleted_tenants(slugs: Sequence[str], progress: Progress) -> None:
    if slugs:
        progress(f"swept away what {len(slugs)} broken-off measurements left")


def _execute_run(run: LabRun, plan: RunPlan, progress: Progress) -> LabRun:
    with LOCKS.hold(services.build_lock_name(run.id)) as free:
        if not free:
            raise Conflict(f"run {run.id} is going on in another process")
        try:
            services.mark_run_running(run)
            missing = _ask_missing_questions(run, plan, progress)
        except KeyboardInterrupt:
            services.interrupt_run(run, LabRun.State.INTERRUPTED, "interrupted")
            raise
        except services.RunPostponed:
            services.update_run(run, state=LabRun.State.QUEUED, stage="")
            return run
        except services.RunStopped as asked:
            services.interrupt_run(run, LabRun.State.INTERRUPTED, asked.message)
            return run
        except Exception as error:
            # Whatever went wrong is kept on the run and shown; the caller hears of it as well.
            services.interrupt_run(run, LabRun.State.FAILED, f"{type(error).__name__}: {error}")
            raise
        if missing:
            said = f"{missing} questions could not be asked"
            services.interrupt_run(run, LabRun.State.INTERRUPTED, said)
        else:
            services.finish_run(run)
    return run


def _ask_missing_questions(run: LabRun, plan: RunPlan, progress: Progress) -> int:
    """Returns how many questions are still without an answer."""
    have = services.load_answered_keys(run)
    run.done = len(have)
    groups: dict[str, list[System]] = {}
    for system in plan.systems:
        groups.setdefault(system.signature, []).append(system)
    missing = 0
    for dialogue in plan.dialogues:
        numbers = plan.question_numbers[dialogue.name]
        for signature, systems in groups.items():
            left = {
                system.name: [n for n in numbers if (system.name, dialogue.name, n) not in have]
                for system in systems
            }
            if any(left.values()):
                group = _SystemGroup(run, plan, dialogue, signature, progress)
                missing += group.ask_questions(systems, left)
    return missing


class _SystemGroup:
    """Systems that write alike, on one dialogue: derived once, read by each in its own way."""

    def __init__(
        self, run: LabRun, plan: RunPlan, dialogue: Dialogue, signature: str, progress: Progress
    ) -> None:
        self._run, self._plan, self._dialogue = run, plan, dialogue
        self._signature, self._progress = signature, progress

    def ask_questions(self, systems: Sequence[System], left: Mapping[str, Sequence[int]]) -> int:
        """Returns how many questions could not be asked. The tenant goes when all were."""
        row = services.get_or_create_derivation(self._run, self._signature, self._dialogue.name)
        missing = 0
        with open_kept_tenant(row.slug) as tenant:
            space = self._derive_dialogue(tenant, row, systems[0])
            for system in systems:
                missing += self._ask_system(tenant, space, system, left[system.name])
            if not missing:
                delete_tenant_rows(tenant.id)
        return missing

    def _derive_dialogue(self, tenant: Tenant, row: LabDerivation, system: System) -> Space:
        with tenant_scope(tenant.id):
            there = Space.objects.filter(tenant=tenant).exists()
            Tenant.objects.filter(id=tenant.id).update(engine=self._plan.options.engine)
        if not there:
            services.update_derivation(row, sessions=0, finished=False, seconds=0.0)
        if not row.finished:
            _set_policy(tenant, system)
        doing = f"{self._dialogue.name}: deriving as {system.name} does"
        self._report_stage(doing)
        every = len(self._dialogue.conversation.sessions)
        began, before = time.perf_counter(), row.seconds

        def report_sessions(sessions: int) -> None:
            seconds = before + time.perf_counter() - began
            services.update_derivation(row, sessions=sessions, seconds=round(seconds, 2))
            services.update_run(self._run, stage=f"{doing}, {sessions} of {every} sessions"[:200])
            services.check_not_stopped(self._run)

        def write_more(space: Space, now: datetime) -> None:
            with open_ledger(tenant.id, space_id=space.id, at=now):
                system.write_session(space, self._plan.writer, now)

        space = replay_dialogue(
            tenant, self._dialogue, done=row.sessions, told=report_sessions, write=write_more
        )
        if not row.finished:
            with tenant_scope(tenant.id):
                counts = {
                    name: number for name, number in count_space_rows(space).items() if number
                }
                asked = ModelCall.objects.filter(space=space).order_by("id")
                calls = sum_measured_calls((call, call.cost) for call in asked)
                found = {"counts": counts, "calls": calls, "errors": list_errors(space)[:100]}
            turns = self._dialogue.turn_count
            services.update_derivation(row, finished=True, turns=turns, **found)
        return space

    def _ask_system(
        self, tenant: Tenant, space: Space, system: System, numbers: Sequence[int]
    ) -> int:
        """Returns how many questions failed. Raises EngineError when they keep failing."""
        if not numbers:
            return 0
        _set_policy(tenant, system)
        with tenant_scope(tenant.id):
            Tenant.objects.filter(id=tenant.id).update(engine=self._plan.options.reader)
        self._report_stage(f"{self._dialogue.name}: {len(numbers)} questions to {system.name}")
        place = ReaderInputs(
            space,
            self._plan.engine,
            selection.get_current_embedder(),
            self._plan.options.budget_tokens,
            compute_asking_time(self._dialogue),
            system.options,
        )
        reader = system.build_reader(place)
        failed = in_a_row = 0
        for number in numbers:
            question = self._dialogue.questions[number]
            services.check_not_stopped(self._run)
            try:
                outcome = ask_question(place, reader, question, self._plan.judge)
            except EngineError as error:
                failed, in_a_row = failed + 1, in_a_row + 1
                self._progress(f"{system.name}: {error.message}")
                if in_a_row >= MOST_FAILURES_IN_A_ROW:
                    raise
                continue
            in_a_row = 0
            services.save_outcome(self._run, outcome, system.name, self._dialogue.name, number)
        return failed

    def _report_stage(self, stage: str) -> None:
        services.update_run(self._run, stage=stage[:200])
        self._progress(f"{self._run.done}/{self._run.total} {stage}")


def _set_policy(tenant: Tenant, system: System) -> None:
    set_policy(tenant.id, actor="lab", preset=system.preset, overrides=dict(system.overrides))
