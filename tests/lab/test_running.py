"""A run asks each question of each system once, however often it is broken off."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from memoryhub.engines import registry
from memoryhub.engines.llm.engine import LLMEngine
from memoryhub.engines.llm.packaged_prompts import read_template
from memoryhub.engines.local.engine import LocalEngine
from memoryhub.errors import Conflict, EngineError, NotFound
from memoryhub.lab.datasets.read import count_by_category, read_dataset
from memoryhub.lab.datasets.types import Dataset
from memoryhub.lab.locks import LOCKS, ProcessLocks
from memoryhub.lab.models import LabDerivation, LabOutcome, LabRun
from memoryhub.lab.runs import execute, services
from memoryhub.lab.runs.ask import ask_question
from memoryhub.lab.runs.execute import resume_run, start_run
from memoryhub.lab.runs.plan import RunOptions
from memoryhub.lab.throwaway.tenants import build_tenant_slug, delete_abandoned_tenants
from memoryhub.tenants.models import Tenant
from memoryhub.tenants.scope import tenant_scope
from memoryhub.tenants.services import create_tenant, ensure_space, find_tenant
from tests.lab.test_datasets import LOCOMO, write_data_file
from tests.support.hub import ScriptedHub

pytestmark = pytest.mark.django_db

DATA = Path(os.environ.get("MEMORYHUB_EVAL_DATA", "../shared/data")) / "locomo-dev.json"
TALK: list[dict[str, Any]] = [
    {
        **LOCOMO[0],
        "qa": [
            {"question": "Who bought a boat?", "category": 4, "evidence": ["D2:1"],
             "answer": "boat"},
            {"question": "What of the mast broke?", "category": 1, "evidence": ["D10:1"],
             "answer": "the mast"},
            {"question": "Which boat did Ben buy?", "category": 5, "evidence": ["D2:1"],
             "adversarial_answer": "a boat"},
        ],
    }
]  # fmt: skip
MODEL: dict[str, Any] = {
    "answer": {"known": True, "answer": "A boat.", "used": ["m1"]},
    "grade": {"correct": True},
}


@pytest.fixture
def data(tmp_path: Path) -> Dataset:
    return read_dataset(write_data_file(tmp_path, "l.json", TALK))


@pytest.fixture
def owner(db: None) -> Tenant:
    return create_tenant("Owner", "owner")


def ignore_progress(line: str) -> None:
    """Nobody watches."""


def list_outcomes(owner: Tenant) -> list[LabOutcome]:
    with tenant_scope(owner.id):
        return list(LabOutcome.objects.order_by("system", "number"))


def list_lab_tenants() -> list[str]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT slug FROM memoryhub_lab_tenants()")
        return [slug for (slug,) in cursor.fetchall()]


def test_every_system_is_asked_every_question_and_nothing_stays(
    owner: Tenant, data: Dataset
) -> None:
    run = start_run(owner, RunOptions(("rag_turns", "rag-500x1", "mem0")), data, ignore_progress)
    assert (run.state, run.done, run.total) == ("done", 9, 9)
    assert run.report is not None
    turns, chunks, mem0 = run.report["systems"]
    assert turns["overall"]["recall"] == chunks["overall"]["recall"] == 1.0
    assert turns["writing"]["shared_with"] == ["rag-500x1"]
    assert mem0["writing"]["counts"]["turn processed"] == 3
    assert chunks["overall"]["context_tokens"] > 0
    assert list_lab_tenants() == []


def test_BL4_evidence_is_found_by_the_ids_of_the_turns(owner: Tenant, data: Dataset) -> None:
    start_run(owner, RunOptions(("rag_turns",)), data, ignore_progress)
    boat, mast, _ = list_outcomes(owner)
    assert (boat.evidence, list(boat.places)) == (["D2:1"], ["D2:1"])
    place, tokens = mast.places["D10:1"]
    assert place >= 1
    assert 0 < tokens <= mast.tokens


def test_adversarial_questions_are_scored_as_refusals(owner: Tenant, data: Dataset) -> None:
    run = start_run(owner, RunOptions(("rag_turns",), categories=(5,)), data, ignore_progress)
    (row,) = list_outcomes(owner)
    assert row.unanswerable
    assert set(row.scores) == {"refusal"}
    assert run.report is not None
    (system,) = run.report["systems"]
    assert system["overall"]["questions"] == 0
    assert system["by_category"]["5"]["refusal"] == row.scores["refusal"]


def test_the_report_names_what_made_it_and_no_place(owner: Tenant, data: Dataset) -> None:
    run = start_run(owner, RunOptions(("mem0",), questions=2, seed=7), data, ignore_progress)
    report = run.report
    assert report is not None
    assert report["settings"]["seed"] == 7
    assert report["environment"]["memoryhub"]
    assert report["environment"]["engine"]["name"] == "local"
    assert report["environment"]["prompts"]["construct"].startswith("construct.v")
    assert report["environment"]["judge"] is None
    assert report["dataset"]["sha256"] == data.sha256
    assert report["dataset"]["whole"]["questions"] == {"1": 1, "4": 1, "5": 1}
    assert sum(report["dataset"]["used"]["questions"].values()) == 2
    names = {c["number"]: c["others"] for c in report["dataset"]["categories"]}
    assert names[1] == {"A-Mem, MemoryOS": "single-hop", "Mem0": "single-hop"}
    (system,) = report["systems"]
    assert system["policy"]["facts.neighbours"] == 10
    assert str(Path.cwd()) not in json.dumps(report)


class Stopped(BaseException):
    """As if the process were killed."""


def _kill_after(monkeypatch: pytest.MonkeyPatch, asked: int) -> list[str]:
    """The asking dies after so many questions. Returns the questions that were asked."""
    seen: list[str] = []

    def dying(place: Any, reader: Any, question: Any, judge: Any) -> Any:
        if len(seen) == asked:
            raise Stopped
        seen.append(question.text)
        return ask_question(place, reader, question, judge)

    monkeypatch.setattr(execute, "ask_question", dying)
    return seen


def test_a_killed_run_is_gone_on_with_and_asks_nothing_twice(
    owner: Tenant, data: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = _kill_after(monkeypatch, 4)
    with pytest.raises(Stopped):
        start_run(owner, RunOptions(("mem0", "rag_turns")), data, ignore_progress)
    with tenant_scope(owner.id):
        run = LabRun.objects.get()
    assert (run.state, run.done) == ("running", 4)
    assert len(list_lab_tenants()) == 1
    seen_again = _kill_after(monkeypatch, 99)
    done = resume_run(owner, str(run.id)[:13], data, ignore_progress)
    assert (done.state, done.done) == ("done", 6)
    assert len(seen) + len(seen_again) == 6
    assert len(list_outcomes(owner)) == 6
    assert list_lab_tenants() == []


def test_what_was_derived_before_the_kill_is_not_derived_again(
    owner: Tenant, data: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    _kill_after(monkeypatch, 0)
    with pytest.raises(Stopped):
        start_run(owner, RunOptions(("mem0",)), data, ignore_progress)
    lived: list[str] = []
    monkeypatch.setattr(
        "memoryhub.lab.throwaway.replay._replay_session", lambda *a: lived.append(a[-1].name)
    )
    _kill_after(monkeypatch, 99)
    with tenant_scope(owner.id):
        (run,) = LabRun.objects.all()
    assert resume_run(owner, str(run.id), data, ignore_progress).state == "done"
    assert lived == []


def test_what_was_swept_meanwhile_is_derived_again(
    owner: Tenant, data: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    _kill_after(monkeypatch, 1)
    with pytest.raises(Stopped):
        start_run(owner, RunOptions(("mem0",)), data, ignore_progress)
    assert len(delete_abandoned_tenants()) == 1
    _kill_after(monkeypatch, 99)
    with tenant_scope(owner.id):
        (run,) = LabRun.objects.all()
    done = resume_run(owner, str(run.id), data, ignore_progress)
    assert done.report is not None
    assert done.report["systems"][0]["writing"]["counts"]["turn processed"] == 3
    assert done.report["systems"][0]["overall"]["recall"] > 0
    assert len(list_outcomes(owner)) == 3


def test_the_next_run_says_that_a_killed_one_is_dead_and_sweeps_its_tenants(
    owner: Tenant, data: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    _kill_after(monkeypatch, 1)
    with pytest.raises(Stopped):
        start_run(owner, RunOptions(("mem0",)), data, ignore_progress)
    _kill_after(monkeypatch, 99)
    said: list[str] = []
    start_run(owner, RunOptions(("rag_turns",)), data, said.append)
    assert "swept away" in said[0]
    with tenant_scope(owner.id):
        states = set(LabRun.objects.values_list("state", flat=True))
    assert states == {"done", "interrupted"}
    assert list_lab_tenants() == []


def test_ctrl_c_leaves_a_run_that_says_so(
    owner: Tenant, data: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*args: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(execute, "ask_question", interrupted)
    with pytest.raises(KeyboardInterrupt):
        start_run(owner, RunOptions(("mem0",)), data, ignore_progress)
    with tenant_scope(owner.id):
        run = LabRun.objects.get()
    assert (run.state, run.error) == ("interrupted", "interrupted")


def test_a_sweep_leaves_alone_what_another_process_uses_and_what_people_made(
    owner: Tenant,
) -> None:
    used, dead, named = build_tenant_slug(), build_tenant_slug(), "lab--000000000000"
    create_tenant(used, used)
    create_tenant(dead, dead)
    create_tenant("Our lab", named)
    other = ProcessLocks()
    assert other.acquire(used)
    try:
        assert delete_abandoned_tenants() == [dead]
        with pytest.raises(Conflict, match="another process"):
            _use_tenant(used)
    finally:
        other.release(used)
    assert all(find_tenant(slug) for slug in (used, named, owner.slug))
    assert delete_abandoned_tenants() == [used]


def _use_tenant(slug: str) -> None:
    from memoryhub.lab.throwaway.tenants import open_kept_tenant

    with open_kept_tenant(slug):
        raise AssertionError("it was not refused")


def test_a_run_that_is_going_on_can_not_be_gone_on_with(
    owner: Tenant, data: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    _kill_after(monkeypatch, 1)
    with pytest.raises(Stopped):
        start_run(owner, RunOptions(("mem0",)), data, ignore_progress)
    with tenant_scope(owner.id):
        run = LabRun.objects.get()
    other = ProcessLocks()
    assert other.acquire(services.build_lock_name(run.id))
    try:
        with pytest.raises(Conflict, match="another process"):
            resume_run(owner, str(run.id), data, ignore_progress)
        services.mark_dead_runs(owner)
        with tenant_scope(owner.id):
            run.refresh_from_db()
    finally:
        other.release(services.build_lock_name(run.id))
    assert run.state == "running"
    assert LOCKS.acquire(services.build_lock_name(run.id))
    LOCKS.release(services.build_lock_name(run.id))
    delete_abandoned_tenants()


def test_another_tenant_s_run_is_unknown(owner: Tenant, data: Dataset) -> None:
    run = start_run(owner, RunOptions(("rag_turns",), questions=1), data, ignore_progress)
    with pytest.raises(NotFound):
        resume_run(create_tenant("Other", "other"), str(run.id), data, ignore_progress)
    with pytest.raises(NotFound):
        resume_run(owner, "", data, ignore_progress)


def test_a_model_answers_and_judges_and_its_calls_are_counted_apart(
    hub: ScriptedHub, owner: Tenant, data: Dataset
) -> None:
    hub.model.allow(**MODEL)
    run = start_run(
        owner, RunOptions(("rag_turns",), engine="llm", judge="llm"), data, ignore_progress
    )
    assert run.report is not None
    (system,) = run.report["systems"]
    assert system["calls"]["answer"]["calls"] == 3
    assert system["calls"]["answer"]["prompt_tokens"] > 0
    assert system["judge_calls"]["grade"]["calls"] == 2  # not of the adversarial one
    assert system["overall"]["judge"] == 1.0
    assert run.report["environment"]["judge"]["prompt"] == read_template("grade")
    first = list_outcomes(owner)[0]
    assert (first.answer, first.scores["f1"]) == ("A boat.", 1.0)
    assert [call["expected"] for call in hub.model.list_calls("grade")] == ["boat", "the mast"]


def test_what_a_system_writes_by_itself_is_counted_with_what_writing_cost(
    hub: ScriptedHub, owner: Tenant, data: Dataset
) -> None:
    hub.model.allow(**MODEL, keep_memories={"tool": "", "arguments": None, "text": "done"})
    saved = {"tool": "save_memory", "arguments": {"text": "Ben bought a boat."}, "text": ""}
    hub.model.script("keep_memories", saved)
    options = RunOptions(("openai_memory",), engine="llm", categories=(4,))
    run = start_run(owner, options, data, ignore_progress)
    assert run.report is not None
    (system,) = run.report["systems"]
    steps = len(hub.model.list_calls("keep_memories"))
    assert system["writing"]["calls"]["keep_memories"]["calls"] == steps
    assert set(system["calls"]) == {"answer"}
    (outcome,) = list_outcomes(owner)
    assert [item["text"] for item in outcome.shown] == ["Ben bought a boat."]
    assert set(outcome.scores) == {"f1", "bleu1", "rouge_2", "rouge_l", "meteor", "sbert"}


def test_every_baseline_runs_by_rules(owner: Tenant, data: Dataset) -> None:
    names = (
        *("readagent", "readagent_in_turn", "tim", "observations", "nemori", "zep"),
        *("langmem", "langmem_background", "openai_memory"),
    )
    run = start_run(owner, RunOptions(names, questions=2), data, ignore_progress)
    assert run.report is not None
    assert (run.state, run.done) == ("done", 2 * len(names))
    assert [system["writing"]["errors"] for system in run.report["systems"]] == [[]] * len(names)


def test_a_model_answers_from_what_the_local_engine_derived(
    hub: ScriptedHub, owner: Tenant, data: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    engines = {"local": LocalEngine(), "llm": LLMEngine(hub.model)}
    monkeypatch.setattr(registry, "get_engine", lambda name, settings: engines[name])
    hub.model.allow(answer=MODEL["answer"])  # any other purpose would fail
    run = start_run(
        owner, RunOptions(("mem0",), engine="local", answers="llm"), data, ignore_progress
    )
    assert run.report is not None
    (system,) = run.report["systems"]
    assert system["writing"]["calls"] == {}
    assert system["calls"]["answer"]["calls"] == 2  # nothing was found for the third
    made = run.report["environment"]
    assert (made["engine"]["name"], made["answers"]["name"]) == ("local", "llm")


def test_a_failed_call_is_no_answer_and_the_question_is_asked_again(
    hub: ScriptedHub, owner: Tenant, data: Dataset
) -> None:
    hub.model.allow(**MODEL)
    hub.model.script("answer", EngineError("gone", permanent=True))
    run = start_run(owner, RunOptions(("rag_turns",), engine="llm"), data, ignore_progress)
    assert (run.state, run.done) == ("interrupted", 2)
    assert run.error == "1 questions could not be asked"
    run = resume_run(owner, str(run.id), data, ignore_progress)
    assert (run.state, run.done) == ("done", 3)
    assert len(hub.model.list_calls("answer")) == 4


def test_a_model_that_is_gone_ends_the_run_before_every_question_has_failed(
    hub: ScriptedHub, owner: Tenant, data: Dataset
) -> None:
    hub.model.allow(answer=EngineError("gone", permanent=True))
    with pytest.raises(EngineError, match="gone"):
        start_run(owner, RunOptions(("rag_turns", "rag"), engine="llm"), data, ignore_progress)
    with tenant_scope(owner.id):
        run = LabRun.objects.get()
    assert run.state == "failed"
    assert "gone" in run.error
    assert len(hub.model.list_calls("answer")) == execute.MOST_FAILURES_IN_A_ROW


def test_a_cut_conversation_is_asked_only_what_its_turns_can_answer(
    owner: Tenant, data: Dataset
) -> None:
    run = start_run(owner, RunOptions(("rag_turns",), turns=2), data, ignore_progress)
    assert run.dataset["used"]["turns"] == 2
    assert [row.question for row in list_outcomes(owner)] == [
        "Who bought a boat?",
        "Which boat did Ben buy?",
    ]


def test_deleting_a_run_takes_its_outcomes_along(owner: Tenant, data: Dataset) -> None:
    run = start_run(owner, RunOptions(("rag_turns",)), data, ignore_progress)
    services.delete_run(run)
    with tenant_scope(owner.id):
        tables = (LabRun, LabDerivation, LabOutcome)
        assert [table.objects.count() for table in tables] == [0, 0, 0]


def run_command(*options: str) -> str:
    out = StringIO()
    call_command("lab", "run", *options, stdout=out, stderr=StringIO())
    return out.getvalue()


def test_the_command_prints_tables_with_every_name_of_a_category(tmp_path: Path) -> None:
    path, report = write_data_file(tmp_path, "l.json", TALK), tmp_path / "r.json"
    table = run_command("--data", str(path), "--presets", "mem0,rag", "--json", str(report))
    assert "1 conversations, 3 turns, 3 questions, 3 with evidence" in table
    assert "category 1, multi-hop" in table
    assert "A-Mem, MemoryOS: single-hop" in table
    assert "category 5, adversarial" in table
    assert json.loads(report.read_text(encoding="utf-8"))["format"] == "memoryhub.lab/1"
    assert find_tenant("lab") is not None  # made: there was no demo to own it


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--presets", "mem1"), "there is no preset 'mem1'"),
        (("--presets", " , "), "at least one preset"),
        (("--categories", "9"), "no questions to ask"),
        (("--engine", "llm"), "OPENAI_BASE_URL"),
        (("--judge", "llm"), "OPENAI_BASE_URL"),
        (("--resume", "0000"), "there is no run '0000'"),
        (("--tenant", "nobody"), "no tenant nobody"),
        (("--questions", "0"), "questions"),
        (("--questions", "many"), "questions"),
    ],
)
def test_what_can_not_be_run_is_said_plainly(
    tmp_path: Path, options: tuple[str, ...], said: str
) -> None:
    path = write_data_file(tmp_path, "l.json", TALK)
    with pytest.raises(CommandError, match=said):
        run_command("--data", str(path), *options)
    assert list_lab_tenants() == []


def test_an_unreadable_file_is_said_plainly(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="can't be read"):
        run_command("--data", str(tmp_path / "absent.json"))


def test_other_data_than_the_run_s_is_refused(tmp_path: Path, owner: Tenant, data: Dataset) -> None:
    run = start_run(owner, RunOptions(("rag_turns",)), data, ignore_progress)
    other = write_data_file(tmp_path, "other.json", LOCOMO)
    with pytest.raises(CommandError, match="SHA-256 differs"):
        run_command("--data", str(other), "--resume", str(run.id), "--tenant", "owner")


def test_the_sweep_can_be_asked_for() -> None:
    slug = build_tenant_slug()
    tenant = create_tenant(slug, slug)
    with tenant_scope(tenant.id):
        ensure_space(tenant.id, "ana")
    out = StringIO()
    call_command("lab", "sweep", stdout=out)
    assert "1 swept away" in out.getvalue()


@pytest.mark.skipif(not DATA.exists(), reason=f"no evaluation data at {DATA}")
def test_BL3_the_published_questions_are_counted_by_number() -> None:
    dataset = read_dataset(DATA)
    found = count_by_category(q for dialogue in dataset.dialogues for q in dialogue.questions)
    published = {1: 282, 2: 321, 3: 96, 4: 841, 5: 446}
    first_half = {1: 142, 2: 156, 3: 46, 4: 418, 5: 237}
    assert found == (published if len(dataset.dialogues) == 10 else first_half)


def test_BL3_numbers_are_kept_whatever_the_categories_are_called(tmp_path: Path) -> None:
    rows = [dict(qa, category=n) for qa in TALK[0]["qa"][:1] for n in (3, 1, 3, 2, 5, 4)]
    data = read_dataset(write_data_file(tmp_path, "l.json", [{**TALK[0], "qa": rows}]))
    questions = data.dialogues[0].questions
    assert count_by_category(questions) == {1: 1, 2: 1, 3: 2, 4: 1, 5: 1}
    assert [q.unanswerable for q in questions] == [False, False, False, False, True, False]


@pytest.fixture(autouse=True)
def no_lock_is_left() -> Iterator[None]:
    yield
    assert LOCKS._held == {}
