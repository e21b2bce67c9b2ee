"""Another prompt, chosen by the policy: tried on golden questions, then in force."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from memoryhub.engines.llm.prompting import template
from memoryhub.errors import InvalidInput
from memoryhub.golden import deciding, replaying, services
from memoryhub.golden.candidates import Candidate, unseen
from memoryhub.golden.expecting import verdict
from memoryhub.golden.models import GoldenQuestion, ReplayRun
from memoryhub.inference.models import ModelCall
from memoryhub.policies.services import policy_of, set_policy
from memoryhub.recall.services import search
from memoryhub.tenants.scope import tenant_scope
from tests.recall.scene import Scene

JUDGED: dict[str, Any] = {"judge.mode": "llm", "recall.rounds": 1}
BY_CAREFUL = {**JUDGED, "llm.prompt.judge": "careful"}


@pytest.fixture
def folder(settings: Any, tmp_path: Path) -> Path:
    settings.PROMPTS = tmp_path
    (tmp_path / "judge.careful.md").write_text(f"{template('judge')}Keep boats.\n")
    return tmp_path


@pytest.fixture
def questions(scene: Scene, folder: Path) -> list[GoldenQuestion]:
    """A question for a kayak, and one for a tent; the model keeps what its prompt speaks of."""
    kayak = scene.fact("Ana owns a kayak", *scene.say("my kayak leaks"))
    tent = scene.fact("Ana owns a tent", *scene.say("the tent is dry"))
    scene.hub.drain()
    scene.hub.model.allow(judge=lambda data: judgement(scene, data))
    scene.hub.policy(**{name.replace(".", "__"): value for name, value in JUDGED.items()})
    named: list[tuple[str, services.Named]] = [
        ("Ana kayak", ("fact", kayak.id)),
        ("Ana tent", ("fact", tent.id)),
    ]
    return [
        services.save_question(scene.space, text, [n], "ida", scene.hub.now) for text, n in named
    ]


def judgement(scene: Scene, data: dict[str, Any]) -> dict[str, Any]:
    word = "kayak" if "Keep boats" in told(scene) else "tent"
    kept = [each["handle"] for each in data["entries"] if word in each["text"]]
    return {"relevant": kept, "enough": True, "conflicts": []}


def told(scene: Scene) -> str:
    return scene.hub.model.asked[-1].messages[0]["content"]


def start(scene: Scene, **overrides: Any) -> ReplayRun:
    candidate = Candidate(overrides=BY_CAREFUL | overrides, base=1)
    return replaying.start(scene.hub.tenant, candidate, "ida", scene.hub.now)


def test_a_replay_shows_what_another_prompt_makes_better_and_worse(
    scene: Scene, questions: list[GoldenQuestion]
) -> None:
    run = start(scene)
    scene.hub.drain()
    with tenant_scope(scene.hub.tenant.id):
        run.refresh_from_db()
        texts = dict(GoldenQuestion.objects.values_list("id", "text"))
        found = {
            texts[q]: verdict(sides["current"], sides["candidate"])
            for q, sides in replaying.outcomes(run).items()
        }
        stamps = set(ModelCall.objects.values_list("template", flat=True))
    assert found == {"Ana kayak": "better", "Ana tent": "worse"}
    assert stamps == {"judge.v1", "judge.careful"}
    assert run.candidate["switches"] == {"llm.prompt.judge": "careful"}
    sides = run.current["prompts"], run.candidate["prompts"]
    assert [side["judge"] for side in sides] == ["v1", "careful"]
    assert [side["route"] for side in sides] == ["v1", "v1"]
    assert unseen(run) == []


def test_made_live_it_is_what_the_model_is_asked_by(
    scene: Scene, questions: list[GoldenQuestion]
) -> None:
    run = start(scene)
    scene.hub.drain()
    search(scene.space, "Ana kayak", now=scene.hub.now)
    assert "Keep boats" not in told(scene)
    deciding.make_live(run, "ida", scene.hub.now)
    search(scene.space, "Ana kayak", now=scene.hub.now)
    assert "Keep boats" in told(scene)


def test_a_space_returns_to_the_packaged_prompt(
    scene: Scene, questions: list[GoldenQuestion]
) -> None:
    set_policy(scene.hub.tenant.id, actor="ida", overrides=BY_CAREFUL)
    set_policy(
        scene.hub.tenant.id, actor="ida", overrides={"llm.prompt.judge": ""}, space=scene.space
    )
    search(scene.space, "Ana kayak", now=scene.hub.now)
    assert told(scene) == template("judge")


def test_a_prompt_for_what_is_written_is_named_as_unseen(
    scene: Scene, questions: list[GoldenQuestion], folder: Path
) -> None:
    (folder / "construct.own.md").write_text(template("construct"))
    assert unseen(start(scene, **{"llm.prompt.construct": "own"})) == ["llm.prompt.construct"]


def test_a_file_that_is_gone_degrades_a_search(
    scene: Scene, questions: list[GoldenQuestion], folder: Path
) -> None:
    (folder / "judge.gone.md").write_text(template("judge"))
    set_policy(scene.hub.tenant.id, actor="ida", overrides=JUDGED | {"llm.prompt.judge": "gone"})
    (folder / "judge.gone.md").unlink()
    asked = len(scene.hub.model.asked)
    assert search(scene.space, "Ana kayak", now=scene.hub.now).degraded == ["judge"]
    assert len(scene.hub.model.asked) == asked


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
    scene: Scene, questions: list[GoldenQuestion], switch: str, value: Any, said: str
) -> None:
    with pytest.raises(InvalidInput, match=said) as refused:
        set_policy(scene.hub.tenant.id, actor="ida", overrides={switch: value})
    assert refused.value.field == switch
    with pytest.raises(InvalidInput) as refused:
        start(scene, **{switch: value})
    assert refused.value.field == switch
    with tenant_scope(scene.hub.tenant.id):
        assert policy_of(scene.space).version == "t1.s0"
        assert ReplayRun.objects.count() == 0
