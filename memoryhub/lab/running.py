"""Systems side by side: each dialogue derived once a write policy, each question asked once.

What is done is written down at once, so a run that ends early is gone on with where it stood.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any

from django.utils.translation import gettext as _

from memoryhub import models_in_use
from memoryhub.engines.types import Engine
from memoryhub.errors import Conflict, EngineError, InvalidInput
from memoryhub.inference.models import ModelCall
from memoryhub.lab import runs
from memoryhub.lab.asking import outcome_of
from memoryhub.lab.choosing import chosen
from memoryhub.lab.datasets import Dataset, Dialogue, counts
from memoryhub.lab.deriving import counts_of, errors_of
from memoryhub.lab.environment import environment
from memoryhub.lab.locks import LOCKS
from memoryhub.lab.measuring import grouped, summed
from memoryhub.lab.models import LabDerivation, LabRun
from memoryhub.lab.readers.base import Place
from memoryhub.lab.replaying import asking_time, cut, replay
from memoryhub.lab.systems import System, systems_named
from memoryhub.lab.throwaway import delete, kept_tenant, sweep
from memoryhub.policies.services import set_policy
from memoryhub.tenants.models import Space, Tenant
from memoryhub.tenants.scope import tenant_scope

Progress = Callable[[str], None]
# After so many failures in a row whoever answers is taken to be gone.
PATIENCE = 3


@dataclass(frozen=True, slots=True)
class Options:
    """What a run is told. `questions` None: all; `categories` empty: all; `answers` empty: the
    engine that derives reads and answers too."""

    presets: tuple[str, ...]
    questions: int | None = None
    categories: tuple[int, ...] = ()
    seed: int = 0
    engine: str = "local"
    answers: str = ""
    judge: str = "off"
    budget_tokens: int = 2000
    limit_conversations: int | None = None
    turns: int | None = None

    @property
    def reader(self) -> str:
        """The engine that reads and answers."""
        return self.answers or self.engine

    @classmethod
    def of(cls, settings: Mapping[str, Any]) -> Options:
        """As a run keeps them."""
        lists = {name: tuple(settings[name]) for name in ("presets", "categories")}
        return cls(**{**settings, **lists})


@dataclass(frozen=True, slots=True)
class Plan:
    """Everything that is decided before the first question."""

    options: Options
    systems: Sequence[System]
    dialogues: Sequence[Dialogue]
    asked: Mapping[str, Sequence[int]]  # by dialogue, numbers of questions
    writer: Engine
    engine: Engine  # reads and answers
    judge: Engine | None

    @property
    def total(self) -> int:
        return len(self.systems) * sum(map(len, self.asked.values()))


def planned(options: Options, dataset: Dataset) -> Plan:
    """Raises InvalidInput for unknown presets or no questions, EngineError without an endpoint."""
    systems = systems_named(options.presets)
    writer = models_in_use.engine_named(options.engine)
    engine = models_in_use.engine_named(options.reader)
    judge = models_in_use.engine_named("llm") if options.judge == "llm" else None
    dialogues = [cut(d, options.turns) for d in dataset.dialogues[: options.limit_conversations]]
    if len({dialogue.name for dialogue in dialogues}) < len(dialogues):
        raise InvalidInput(_("two conversations have the same name"), field="data")
    pairs = chosen(dialogues, options.questions, categories=options.categories, seed=options.seed)
    if not pairs:
        raise InvalidInput(_("there are no questions to ask"), field="questions")
    asked = {name: [at for _, at in rows] for name, rows in grouped(pairs, _dialogue).items()}
    wanted = [dialogue for dialogue in dialogues if dialogue.name in asked]
    return Plan(options, systems, wanted, asked, writer, engine, judge)


def _dialogue(pair: tuple[str, int]) -> str:
    return pair[0]


def start(owner: Tenant, options: Options, dataset: Dataset, progress: Progress) -> LabRun:
    """A new run, to its end. Raises what `planned` does before anything is written."""
    plan = planned(options, dataset)
    runs.note_dead(owner)
    _swept(sweep(), progress)
    run = begun(owner, plan, dataset)
    progress(f"run {run.id}: {plan.total} answers wanted")
    models_in_use.embedder().embed(["loaded before anything is timed"])
    return _carried_out(run, plan, progress)


def begun(owner: Tenant, plan: Plan, dataset: Dataset, **more: Any) -> LabRun:
    """The run's row, with everything that is known before the first question."""
    return runs.begin(
        owner,
        settings=asdict(plan.options),
        dataset=described(dataset, plan),
        systems=[system.as_dict() for system in plan.systems],
        environment=environment(plan.writer, plan.engine, models_in_use.embedder(), plan.judge),
        total=plan.total,
        **more,
    )


def go_on(
    owner: Tenant, run_id: str, dataset: Dataset, progress: Progress, *, anew: bool = True
) -> LabRun:
    """Go on with a run of the same data; `anew`: also when somebody had stopped it.

    Raises NotFound, Conflict for one that is going on, and InvalidInput for other data.
    """
    run = runs.found(owner, run_id)
    if dataset.sha256 != run.dataset["sha256"]:
        raise InvalidInput("that run was of another file: its SHA-256 differs", field="data")
    if run.state == LabRun.State.DONE:
        return run
    plan = planned(Options.of(run.settings), dataset)
    if anew:
        runs.unstop(run)
    _swept(sweep(keep=runs.slugs(run)), progress)
    progress(f"run {run.id}: {run.done} of {run.total} answers are there")
    return _carried_out(run, plan, progress)


def _swept(slugs: Sequence[str], progress: Progress) -> None:
    if slugs:
        progress(f"swept away what {len(slugs)} broken-off measurements left")


def described(dataset: Dataset, plan: Plan) -> dict[str, Any]:
    """The report's part about the data: what there is, and what of it is used."""
    asked = [d.questions[at] for d in plan.dialogues for at in plan.asked[d.name]]
    return {
        "name": dataset.name,
        "format": dataset.form,
        "sha256": dataset.sha256,
        "categories": [category.as_dict() for category in dataset.categories],
        "whole": {
            "conversations": len(dataset.dialogues),
            "turns": sum(d.turn_count for d in dataset.dialogues),
            "questions": _counted(counts(q for d in dataset.dialogues for q in d.questions)),
        },
        "used": {
            "conversations": [d.name for d in plan.dialogues],
            "turns": sum(d.turn_count for d in plan.dialogues),
            "questions": _counted(counts(asked)),
            "with_evidence": sum(bool(q.evidence) for q in asked),
            "with_answers": sum(bool(q.expected) for q in asked),
        },
    }


def _counted(by_category: Mapping[int, int]) -> dict[str, int]:
    return {str(number): count for number, count in by_category.items()}


def _carried_out(run: LabRun, plan: Plan, progress: Progress) -> LabRun:
    with _only_one(run):
        try:
            runs.resume(run)
            missing = _all(run, plan, progress)
        except KeyboardInterrupt:
            runs.stop(run, LabRun.State.INTERRUPTED, "interrupted")
            raise
        except runs.PutOff:
            runs.put_off(run)
            return run
        except runs.Stopped as asked:
            runs.stop(run, LabRun.State.INTERRUPTED, asked.message)
            return run
        except Exception as error:
            # Whatever went wrong is kept on the run and shown; the caller hears of it as well.
            runs.stop(run, LabRun.State.FAILED, f"{type(error).__name__}: {error}")
            raise
        if missing:
            runs.stop(run, LabRun.State.INTERRUPTED, f"{missing} questions could not be asked")
        else:
            runs.finish(run)
    return run


@contextmanager
def _only_one(run: LabRun) -> Iterator[None]:
    name = runs.lock_of(run.id)
    if not LOCKS.take(name):
        raise Conflict(f"run {run.id} is going on in another process")
    try:
        yield
    finally:
        LOCKS.give(name)


def _all(run: LabRun, plan: Plan, progress: Progress) -> int:
    """Returns how many questions are still without an answer."""
    have = runs.answered(run)
    run.done = len(have)
    groups = _by_signature(plan.systems)
    missing = 0
    for dialogue in plan.dialogues:
        for signature, systems in groups.items():
            left = {
                system.name: [
                    at
                    for at in plan.asked[dialogue.name]
                    if (system.name, dialogue.name, at) not in have
                ]
                for system in systems
            }
            if any(left.values()):
                missing += _Group(run, plan, dialogue, signature, progress).asked(systems, left)
    return missing


def _by_signature(systems: Sequence[System]) -> dict[str, list[System]]:
    """Those that write alike together, in the order they were named."""
    groups: dict[str, list[System]] = {}
    for system in systems:
        groups.setdefault(system.signature, []).append(system)
    return groups


class _Group:
    """Systems that write alike, on one dialogue: derived once, read by each in its own way."""

    def __init__(
        self, run: LabRun, plan: Plan, dialogue: Dialogue, signature: str, progress: Progress
    ) -> None:
        self._run, self._plan, self._dialogue = run, plan, dialogue
        self._signature, self._progress = signature, progress

    def asked(self, systems: Sequence[System], left: Mapping[str, Sequence[int]]) -> int:
        """Returns how many questions could not be asked. The tenant goes when all were."""
        row = runs.derivation(self._run, self._signature, self._dialogue.name)
        missing = 0
        with kept_tenant(row.slug) as tenant:
            space = self._derived(tenant, row, systems[0])
            for system in systems:
                missing += self._ask(tenant, space, system, left[system.name])
            if not missing:
                delete(tenant.id)
        return missing

    def _derived(self, tenant: Tenant, row: LabDerivation, system: System) -> Space:
        with tenant_scope(tenant.id):
            there = Space.objects.filter(tenant=tenant).exists()
            Tenant.objects.filter(id=tenant.id).update(engine=self._plan.options.engine)
        if not there:
            runs.derived(row, sessions=0, finished=False, seconds=0.0)
        if not row.finished:
            set_policy(
                tenant.id, actor="lab", preset=system.preset, overrides=dict(system.overrides)
            )
        doing = f"{self._dialogue.name}: deriving as {system.name} does"
        self._say(doing)
        every = len(self._dialogue.conversation.sessions)
        began, before = time.perf_counter(), row.seconds

        def told(sessions: int) -> None:
            seconds = before + time.perf_counter() - began
            runs.derived(row, sessions=sessions, seconds=round(seconds, 2))
            runs.at(self._run, f"{doing}, {sessions} of {every} sessions")
            runs.wanted(self._run)

        space = replay(tenant, self._dialogue, done=row.sessions, told=told)
        if not row.finished:
            self._count(tenant, space, row)
        return space

    def _count(self, tenant: Tenant, space: Space, row: LabDerivation) -> None:
        with tenant_scope(tenant.id):
            found = {name: number for name, number in counts_of(space).items() if number}
            calls, errors = _written(space), errors_of(space)
        runs.derived(
            row,
            finished=True,
            turns=self._dialogue.turn_count,
            counts=found,
            calls=calls,
            errors=errors[:100],
        )

    def _ask(self, tenant: Tenant, space: Space, system: System, numbers: Sequence[int]) -> int:
        """Returns how many questions failed. Raises EngineError when they keep failing."""
        if not numbers:
            return 0
        set_policy(tenant.id, actor="lab", preset=system.preset, overrides=dict(system.overrides))
        with tenant_scope(tenant.id):
            Tenant.objects.filter(id=tenant.id).update(engine=self._plan.options.reader)
        self._say(f"{self._dialogue.name}: {len(numbers)} questions to {system.name}")
        place = Place(
            space,
            self._plan.engine,
            models_in_use.embedder(),
            self._plan.options.budget_tokens,
            asking_time(self._dialogue),
            system.options,
        )
        reader = system.reading(place)
        failed = in_a_row = 0
        for number in numbers:
            question = self._dialogue.questions[number]
            runs.wanted(self._run)
            try:
                outcome = outcome_of(place, reader, question, self._plan.judge)
            except EngineError as error:
                failed, in_a_row = failed + 1, in_a_row + 1
                self._progress(f"{system.name}: {error.message}")
                if in_a_row >= PATIENCE:
                    raise
                continue
            in_a_row = 0
            runs.keep(self._run, outcome, system.name, self._dialogue.name, number)
        return failed

    def _say(self, stage: str) -> None:
        runs.at(self._run, stage)
        self._progress(f"{self._run.done}/{self._run.total} {stage}")


def _written(space: Space) -> dict[str, dict[str, float]]:
    """What models were asked while the dialogue was derived, by purpose."""
    rows = ModelCall.objects.filter(space=space).order_by("id")
    return summed({call.purpose: _figures(call)} for call in rows)


def _figures(call: ModelCall) -> dict[str, float]:
    return {
        "calls": 1,
        "failed": int(call.status == ModelCall.Status.FAILED),
        "prompt_tokens": call.prompt_tokens,
        "completion_tokens": call.completion_tokens,
        "milliseconds": round(call.milliseconds, 1),
        "money": float(call.cost),
    }
