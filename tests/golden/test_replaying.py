"""A changed setting beside the one in force, on golden questions, without a trace."""

from __future__ import annotations

from typing import Any

import pytest

from memoryhub.errors import Conflict, EngineError, InvalidInput
from memoryhub.golden import replay_runs, services
from memoryhub.golden.candidates import CandidateSetting, list_ineffective_switches
from memoryhub.golden.expectations import compare_outcomes
from memoryhub.golden.models import GoldenQuestion, ReplayAnswer, ReplayRun
from memoryhub.inference.models import ModelCall
from memoryhub.pipeline.jobs import runner
from memoryhub.pipeline.models import Job
from memoryhub.policies.models import PolicyVersion
from memoryhub.policies.services import load_effective_policy
from memoryhub.recall.log import reinforcement
from memoryhub.tenants.models import Tenant
from memoryhub.tenants.scope import tenant_scope
from notes.models import EvolutionEvent, Fact, Note
from tests.recall.scene import RecallScene

# One round: in a second one a judge that is not content looks elsewhere.
FACTS_ONLY = CandidateSetting(overrides={"recall.channels": ["facts"], "recall.rounds": 1})


@pytest.fixture
def asked(scene: RecallScene) -> list[GoldenQuestion]:
    """Three questions: for a fact, a note, and a turn."""
    turns = scene.say("my kayak leaks", "the tent is dry", "a rope of hemp")
    fact = scene.add_fact("Ana owns a kayak", turns[0])
    note = scene.add_note("a tent in the rain", turns[1])
    scene.hub.run_due_jobs()
    named: list[tuple[str, services.MemoryReference]] = [
        ("kayak", ("fact", fact.id)),
        ("tent rain", ("note", note.id)),
        ("hemp rope", ("turn", turns[2].id)),
    ]
    return [
        services.save_question(scene.space, text, [each], "ida", scene.hub.now, tags=["boats"]).row
        for text, each in named
    ]


def start_replay(scene: RecallScene, candidate: CandidateSetting, **options: Any) -> ReplayRun:
    return replay_runs.start_replay(scene.hub.tenant, candidate, "ida", scene.hub.now, **options)


def get_verdicts(scene: RecallScene, run: ReplayRun) -> dict[str, str]:
    """The verdict of each question by its text."""
    with tenant_scope(scene.hub.tenant.id):
        texts = dict(GoldenQuestion.objects.values_list("id", "text"))
        run.refresh_from_db()
        return {
            texts[q]: compare_outcomes(sides["current"], sides["candidate"])
            for q, sides in replay_runs.load_outcomes(run).items()
        }


def test_it_says_what_got_worse_and_what_did_not(
    scene: RecallScene, asked: list[GoldenQuestion]
) -> None:
    run = start_replay(scene, FACTS_ONLY)
    scene.hub.run_due_jobs()
    assert get_verdicts(scene, run) == {"kayak": "same", "tent rain": "worse", "hemp rope": "worse"}
    assert (run.state, run.finished_at) == ("done", scene.hub.now)
    assert run.current["switches"]["recall.channels"] != ["facts"]
    assert run.candidate["switches"] == {"recall.channels": ["facts"], "recall.rounds": 1}
    with tenant_scope(scene.hub.tenant.id):
        assert replay_runs.count_answers(run) == (6, 6)


def test_it_leaves_no_trace_but_its_answers(
    scene: RecallScene, asked: list[GoldenQuestion]
) -> None:
    def state() -> list[Any]:
        with tenant_scope(scene.hub.tenant.id):
            counters = [
                list(m.objects.order_by("id").values_list("strength", "recall_count", "version"))
                for m in (Fact, Note)
            ]
            counts = [m.objects.count() for m in (EvolutionEvent, ModelCall, PolicyVersion)]
        reinforcement.flush_recalls()
        return [counters, counts]

    before = state()
    start_replay(scene, FACTS_ONLY)
    scene.hub.run_due_jobs()
    assert state() == before
    with tenant_scope(scene.hub.tenant.id):
        assert load_effective_policy(scene.space).policy.recall.channels != ("facts",)


def test_calls_and_tokens_of_a_model_are_counted_by_question_and_side(
    scene: RecallScene, asked: list[GoldenQuestion]
) -> None:
    scene.hub.model.allow(judge=lambda data: {"relevant": [], "enough": True, "conflicts": []})
    scene.hub.set_policy()
    run = start_replay(
        scene, CandidateSetting(overrides={"judge.mode": "llm", "recall.rounds": 1}, base=1)
    )
    scene.hub.run_due_jobs()
    with tenant_scope(scene.hub.tenant.id):
        sides = replay_runs.load_outcomes(run)
        assert {s["current"].calls for s in sides.values()} == {0}
        assert {s["candidate"].calls for s in sides.values()} == {1}
        assert all(s["candidate"].tokens > 0 for s in sides.values())
        # What was spent is on the account: that is no trace to be avoided.
        assert ModelCall.objects.filter(purpose="judge").count() == len(asked)


def test_a_judge_that_is_down_is_named_and_no_failure(
    scene: RecallScene, asked: list[GoldenQuestion]
) -> None:
    scene.hub.model.allow(judge=EngineError("away", code="unreachable"))
    run = start_replay(scene, CandidateSetting(overrides={"judge.mode": "llm"}))
    scene.hub.run_due_jobs()
    with tenant_scope(scene.hub.tenant.id):
        run.refresh_from_db()
        assert run.state == "done"
        degraded = {s["candidate"].degraded for s in replay_runs.load_outcomes(run).values()}
    assert degraded == {("judge",)}


def test_in_several_jobs_it_goes_on_where_it_was_and_asks_nothing_twice(
    scene: RecallScene, asked: list[GoldenQuestion], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replay_runs, "SECONDS_PER_JOB", 0.0)
    run = start_replay(scene, FACTS_ONLY)
    counts = []
    while runner.run_next_job(scene.hub.tenant.id, scene.space.id, scene.hub.now):
        with tenant_scope(scene.hub.tenant.id):
            counts.append(replay_runs.count_answers(run)[0])
    assert counts == [2, 4, 6]


def test_a_worker_that_dies_loses_its_own_seconds_only(
    scene: RecallScene, asked: list[GoldenQuestion], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replay_runs, "SECONDS_PER_JOB", 0.0)
    run = start_replay(scene, FACTS_ONLY)
    assert runner.run_next_job(scene.hub.tenant.id, scene.space.id, scene.hub.now)
    with monkeypatch.context() as dying:
        dying.setattr("memoryhub.golden.replay_runs.search_memories", lambda *a, **k: 1 / 0)
        assert runner.run_next_job(scene.hub.tenant.id, scene.space.id, scene.hub.now)
    with tenant_scope(scene.hub.tenant.id):
        assert replay_runs.count_answers(run) == (2, 6)
    scene.hub.run_due_jobs()
    assert len(get_verdicts(scene, run)) == 3
    assert run.state == "done"


def test_a_question_taken_away_meanwhile_does_not_stand_in_the_way(
    scene: RecallScene, asked: list[GoldenQuestion], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replay_runs, "SECONDS_PER_JOB", 0.0)
    run = start_replay(scene, FACTS_ONLY)
    runner.run_next_job(scene.hub.tenant.id, scene.space.id, scene.hub.now)
    services.remove_question(scene.space, asked[1].id, "ida", scene.hub.now)
    with tenant_scope(scene.hub.tenant.id):
        asked[2].delete()
    scene.hub.run_due_jobs()
    assert list(get_verdicts(scene, run)) == ["kayak"]
    assert run.state == "done"


def test_called_off_it_asks_no_more(scene: RecallScene, asked: list[GoldenQuestion]) -> None:
    run = start_replay(scene, FACTS_ONLY)
    with tenant_scope(scene.hub.tenant.id):
        replay_runs.cancel_replay(run, scene.hub.now)
        with pytest.raises(Conflict):
            replay_runs.cancel_replay(run, scene.hub.now)
    scene.hub.run_due_jobs()
    with tenant_scope(scene.hub.tenant.id):
        assert ReplayAnswer.objects.count() == 0
        assert not Job.objects.filter(step="replay").exclude(state="done").exists()


def test_made_live_it_is_the_policy_and_says_why(
    scene: RecallScene, asked: list[GoldenQuestion]
) -> None:
    run = start_replay(scene, FACTS_ONLY, space=scene.space)
    with pytest.raises(Conflict, match="not done"):
        replay_runs.put_candidate_live(run, "ida", scene.hub.now)
    scene.hub.run_due_jobs()
    replay_runs.put_candidate_live(run, "ida", scene.hub.now)
    with tenant_scope(scene.hub.tenant.id):
        assert load_effective_policy(scene.space).policy.recall.channels == ("facts",)
        assert PolicyVersion.objects.get(space=scene.space).reason == "tried on 3 test questions"
    with pytest.raises(Conflict, match="decided by ida"):
        replay_runs.drop_candidate(run, "bob", scene.hub.now)


def test_a_policy_changed_meanwhile_is_not_overwritten(
    scene: RecallScene, asked: list[GoldenQuestion]
) -> None:
    run = start_replay(scene, FACTS_ONLY)
    scene.hub.run_due_jobs()
    scene.hub.set_policy("mem0")
    with pytest.raises(Conflict, match="changed since"):
        replay_runs.put_candidate_live(run, "ida", scene.hub.now)
    with tenant_scope(scene.hub.tenant.id):
        run.refresh_from_db()
    assert run.decision == ""
    replay_runs.drop_candidate(run, "ida", scene.hub.now)


def test_an_engine_is_tried_and_made_live(scene: RecallScene, asked: list[GoldenQuestion]) -> None:
    scene.hub.set_policy(judge__mode="llm", recall__rounds=1)
    scene.hub.model.allow(judge=lambda data: {"relevant": [], "enough": False, "conflicts": []})
    run = start_replay(scene, CandidateSetting(engine="llm"))
    scene.hub.run_due_jobs()
    with tenant_scope(scene.hub.tenant.id):
        run.refresh_from_db()
    assert (run.current["engine"], run.candidate["engine"]) == ("local", "llm")
    replay_runs.put_candidate_live(run, "ida", scene.hub.now)
    with tenant_scope(scene.hub.tenant.id):
        assert Tenant.objects.get(id=scene.hub.tenant.id).engine == "llm"


def test_the_tenants_candidate_reaches_a_space_through_its_own_word(
    scene: RecallScene, asked: list[GoldenQuestion]
) -> None:
    """What a space says itself is not changed by its tenant, so nor by the replay."""
    from memoryhub.policies.services import set_policy

    set_policy(
        scene.hub.tenant.id,
        actor="ida",
        overrides={"recall.channels": ["raw", "notes", "facts"], "recall.rounds": 2},
        space=scene.space,
    )
    run = start_replay(scene, FACTS_ONLY)
    scene.hub.run_due_jobs()
    assert set(get_verdicts(scene, run).values()) == {"same"}


def test_switches_of_the_write_side_are_named_as_unseen(
    scene: RecallScene, asked: list[GoldenQuestion]
) -> None:
    run = start_replay(scene, CandidateSetting(overrides={"stm.pages": 9, "recall.k_min": 3}))
    assert list_ineffective_switches(run) == ["stm.pages"]
    with tenant_scope(scene.hub.tenant.id):
        replay_runs.cancel_replay(run, scene.hub.now)


@pytest.mark.parametrize(
    ("candidate", "field"),
    [
        (CandidateSetting(overrides={"recall.k_min": 0}), "recall.k_min"),
        (CandidateSetting(overrides={"no.such": 1}), "no.such"),
        (CandidateSetting(preset="unheard-of", overrides={}), "preset"),
        (CandidateSetting(engine="oracle"), "engine"),
    ],
)
def test_what_is_out_of_bounds_is_refused_before_anything_is_asked(
    scene: RecallScene, asked: list[GoldenQuestion], candidate: CandidateSetting, field: str
) -> None:
    with pytest.raises(InvalidInput) as refused:
        start_replay(scene, candidate)
    assert refused.value.field == field
    with tenant_scope(scene.hub.tenant.id):
        assert ReplayRun.objects.count() == 0


def test_without_questions_or_without_a_change_there_is_nothing_to_try(
    scene: RecallScene, asked: list[GoldenQuestion]
) -> None:
    with pytest.raises(InvalidInput, match="no test questions"):
        start_replay(scene, FACTS_ONLY, tag="hens")
    with pytest.raises(Conflict, match="in force already"):
        start_replay(scene, CandidateSetting(overrides={}))
