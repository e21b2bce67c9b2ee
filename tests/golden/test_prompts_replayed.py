"""Another prompt, chosen by the policy: tried on golden questions, then in force."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from memoryhub.engines.llm.packaged_prompts import read_template
from memoryhub.errors import InvalidInput
from memoryhub.golden import replay_runs, services
from memoryhub.golden.candidates import CandidateSetting, list_ineffective_switches
from memoryhub.golden.expectations import compare_outcomes
from memoryhub.golden.models import GoldenQuestion, ReplayRun
from memoryhub.inference.models import ModelCall
from memoryhub.policies.services import load_effective_policy, set_policy
from memoryhub.recall.services import search_memories
from memoryhub.tenants.scope import tenant_scope
from tests.recall.scene import RecallScene

JUDGED: dict[str, Any] = {"judge.mode": "llm", "recall.rounds": 1}
BY_CAREFUL = {**JUDGED, "llm.prompt.judge": "careful"}


@pytest.fixture
def folder(settings: Any, tmp_path: Path) -> Path:
    settings.PROMPTS = tmp_path
    (tmp_path / "judge.careful.md").write_text(f"{read_template('judge')}Keep boats.\n")
    return tmp_path


@pytest.fixture
def questions(scene: RecallScene, folder: Path) -> list[GoldenQuestion]:
    """A question for a kayak, and one for a tent; the model keeps what its prompt speaks of."""
    kayak = scene.add_fact("Ana owns a kayak", *scene.say("my kayak leaks"))
    tent = scene.add_fact("Ana owns a tent", *scene.say("the tent is dry"))
    scene.hub.run_due_jobs()
    scene.hub.model.allow(judge=lambda data: make_judgement(scene, data))
    scene.hub.set_policy(**{name.replace(".", "__"): value for name, value in JUDGED.items()})
    named: list[tuple[str, services.MemoryReference]] = [
        ("Ana kayak", ("fact", kayak.id)),
        ("Ana tent", ("fact", tent.id)),
    ]
    return [
        services.save_question(scene.space, text, [n], "ida", scene.hub.now).row
        for text, n in named
    ]


def make_judgement(scene: RecallScene, data: dict[str, Any]) -> dict[str, Any]:
    word = "kayak" if "Keep boats" in get_last_system_prompt(scene) else "tent"
    kept = [each["handle"] for each in data["entries"] if word in each["text"]]
    return {"relevant": kept, "enough": True, "conflicts": []}


def get_last_system_prompt(scene: RecallScene) -> str:
    return scene.hub.model.requests[-1].messages[0]["content"]


def start_replay(scene: RecallScene, **overrides: Any) -> ReplayRun:
    candidate = CandidateSetting(overrides=BY_CAREFUL | overrides, base=1)
    return replay_runs.start_replay(scene.hub.tenant, candidate, "ida", scene.hub.now)


def test_a_replay_shows_what_another_prompt_makes_better_and_worse(
    scene: RecallScene, questions: list[GoldenQuestion]
) -> None:
    run = start_replay(scene)
    scene.hub.run_due_jobs()
    with tenant_scope(scene.hub.tenant.id):
        run.refresh_from_db()
        texts = dict(GoldenQuestion.objects.values_list("id", "text"))
        found = {
            texts[q]: compare_outcomes(sides["current"], sides["candidate"])
            for q, sides in replay_runs.load_outcomes(run).items()
        }
        stamps = set(ModelCall.objects.values_list("template", flat=True))
    assert found == {"Ana kayak": "better", "Ana tent": "worse"}
    assert stamps == {"judge.v1", "judge.careful"}
    assert run.candidate["switches"] == {"llm.prompt.judge": "careful"}
    sides = run.current["prompts"], run.candidate["prompts"]
    assert [side["judge"] for side in sides] == ["v1", "careful"]
    assert [side["route"] for side in sides] == ["v1", "v1"]
    assert list_ineffective_switches(run) == []


def test_made_live_it_is_what_the_model_is_asked_by(
    scene: RecallScene, questions: list[GoldenQuestion]
) -> None:
    run = start_replay(scene)
    scene.hub.run_due_jobs()
    search_memories(scene.space, "Ana kayak", now=scene.hub.now)
    assert "Keep boats" not in get_last_system_prompt(scene)
    replay_runs.put_candidate_live(run, "ida", scene.hub.now)
    search_memories(scene.space, "Ana kayak", now=scene.hub.now)
    assert "Keep boats" in get_last_system_prompt(scene)


def test_a_space_returns_to_the_packaged_prompt(
    scene: RecallScene, questions: list[GoldenQuestion]
) -> None:
    set_policy(scene.hub.tenant.id, actor="ida", overrides=BY_CAREFUL)
    set_policy(
        scene.hub.tenant.id, actor="ida", overrides={"llm.prompt.judge": ""}, space=scene.space
    )
    search_memories(scene.space, "Ana kayak", now=scene.hub.now)
    assert get_last_system_prompt(scene) == read_template("judge")


def test_a_prompt_for_what_is_written_is_named_as_unseen(
    scene: RecallScene, questions: list[GoldenQuestion], folder: Path
) -> None:
    (folder / "construct.own.md").write_text(read_template("construct"))
    assert list_ineffective_switches(start_replay(scene, **{"llm.prompt.construct": "own"})) == [
        "llm.prompt.construct"
    ]


def test_a_file_that_is_gone_degrades_a_search(
    scene: RecallScene, questions: list[GoldenQuestion], folder: Path
) -> None:
    (folder / "judge.gone.md").write_text(read_template("judge"))
    set_policy(scene.hub.tenant.id, actor="ida", overrides=JUDGED | {"llm.prompt.judge": "gone"})
    (folder / "judge.gone.md").unlink()
    asked = len(scene.hub.model.requests)
    assert search_memories(scene.space, "Ana kayak", now=scene.hub.now).degraded == ["judge"]
    assert len(scene.hub.model.requests) == asked


@pytest.mark.parametrize(
    ("switch", "value", "said"),
    [
        ("llm.prompt.judge", "careless", "no prompt 'careless'; there are: careful"),
        ("llm.prompt.route", "careful", "there are: none"),
        ("llm.prompt.judge", "../../judge.careful", "no prompt"),
        ("llm.prompt.judge", "x\0" * 5000, "no prompt"),
        ("llm.prompt.judge", 7, "llm.prompt.judge"),
        ("llm.prompt.repair", "careful", "there is no switch"),
        ("llm.prompt.judgement", "careful", "llm.prompt.judge"),
        ("llm.prompt", {"judge": "careful"}, "there is no switch"),
    ],
)
def test_a_name_without_its_file_is_refused_by_field(
    scene: RecallScene, questions: list[GoldenQuestion], switch: str, value: Any, said: str
) -> None:
    with pytest.raises(InvalidInput, match=said) as refused:
        set_policy(scene.hub.tenant.id, actor="ida", overrides={switch: value})
    assert refused.value.field == switch
    with pytest.raises(InvalidInput) as refused:
        start_replay(scene, **{switch: value})
    assert refused.value.field == switch
    with tenant_scope(scene.hub.tenant.id):
        assert load_effective_policy(scene.space).version == "t1.s0"
        assert ReplayRun.objects.count() == 0
