"""An operator's own prompts: which files are one, and that the model is asked by them."""

from __future__ import annotations

from pathlib import Path

import pytest

from memoryhub.engines.llm.engine import LLMEngine
from memoryhub.engines.llm.own_prompts import (
    MAX_PROMPT_BYTES,
    PURPOSES,
    PromptSet,
    diff_prompt,
    find_prompt_faults,
    list_own_prompts,
    list_required_words,
)
from memoryhub.engines.llm.packaged_prompts import Purpose, read_template
from memoryhub.engines.types import JudgeEntry
from memoryhub.errors import EngineError
from tests.support.hub import ScriptedModel

NOTHING = {"relevant": [], "conflicts": [], "enough": False}


def write_prompt(folder: Path, name: str, text: str = "") -> None:
    (folder / name).write_text(text or f"{read_template('judge')}Be strict.\n", encoding="utf-8")


def judge_with_prompts(folder: Path) -> ScriptedModel:
    model = ScriptedModel()
    model.script("judge", NOTHING)
    LLMEngine(model, prompts=PromptSet(folder, {"judge": "strict"})).judge_entries(
        "Why?", [JudgeEntry("m1", "x")]
    )
    return model


def test_the_model_is_asked_by_the_prompt_that_is_named(tmp_path: Path) -> None:
    write_prompt(tmp_path, "judge.strict.md")
    (asked,) = judge_with_prompts(tmp_path).requests
    assert asked.messages[0]["content"].endswith("Be strict.\n")
    assert find_prompt_faults(tmp_path) == {}
    assert list_own_prompts(tmp_path) == {"judge": ["strict"]}


def test_other_purposes_keep_the_packaged_one(tmp_path: Path) -> None:
    prompts = PromptSet(tmp_path, {"judge": "strict", "route": ""})
    assert prompts.get_text("route") == read_template("route")
    assert (prompts.get_version("route"), prompts.get_version("judge")) == (
        "route.v1",
        "judge.strict",
    )


def test_a_file_that_is_gone_is_an_error_that_names_it_until_it_is_back(tmp_path: Path) -> None:
    with pytest.raises(
        EngineError, match=r"judge\.strict\.md can't be used: No such file"
    ) as raised:
        judge_with_prompts(tmp_path)
    assert (raised.value.code, raised.value.permanent) == ("prompt_unusable", True)
    write_prompt(tmp_path, "judge.strict.md")
    assert judge_with_prompts(tmp_path).requests


@pytest.mark.parametrize("purpose", PURPOSES)
def test_every_packaged_prompt_would_be_accepted(tmp_path: Path, purpose: Purpose) -> None:
    write_prompt(tmp_path, f"{purpose}.own.md", read_template(purpose))
    assert find_prompt_faults(tmp_path) == {}
    assert len(list_required_words(purpose)) > 1


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("judgement.strict.md", "", "no purpose 'judgement'; there are: construct"),
        ("repair.strict.md", "", "no purpose 'repair'"),
        ("README.md", "", "no purpose 'README'"),
        ("judge.md", "", "<purpose>.<name>.md"),
        ("judge.v2.md", "", "no version"),
        ("judge.Strict.md", "", "a-z"),
        ("judge.a.b.md", "", "<purpose>.<name>.md"),
        (f"judge.{'a' * 25}.md", "", "up to 24"),
        ("judge.long.md", "x" * (MAX_PROMPT_BYTES + 1), "more than 32 KiB"),
        ("judge.bare.md", "Reply in JSON with `relevant`.", "conflicts, enough"),
        ("judge.near.md", "JSON: relevance, conflicts, enough", "from the reply: relevant"),
        ("judge.mute.md", read_template("judge").replace("JSON", "YAML"), "from the reply: JSON"),
    ],
)
def test_what_is_no_prompt_is_named_with_the_reason(
    tmp_path: Path, name: str, text: str, said: str
) -> None:
    write_prompt(tmp_path, name, text)
    assert said in find_prompt_faults(tmp_path)[name]
    assert list_own_prompts(tmp_path) == {}


def test_bytes_that_are_no_text_and_folders_are_named_too(tmp_path: Path) -> None:
    (tmp_path / "judge.bytes.md").write_bytes(b"\xff\xfe")
    (tmp_path / "judge.folder.md").mkdir()
    assert find_prompt_faults(tmp_path) == {
        "judge.bytes.md": "it is not UTF-8",
        "judge.folder.md": "Is a directory",
    }


def test_a_folder_that_is_not_there_holds_none(tmp_path: Path) -> None:
    assert (list_own_prompts(tmp_path / "none"), find_prompt_faults(tmp_path / "none")) == ({}, {})


def test_the_difference_is_the_lines_that_differ(tmp_path: Path) -> None:
    write_prompt(tmp_path, "judge.strict.md")
    assert diff_prompt(tmp_path, "judge", "strict").splitlines()[-1] == "+Be strict."


def test_a_stamp_fits_its_column_and_keeps_the_prompt() -> None:
    prompts = PromptSet(names={"construct": "a" * 24})
    engine = LLMEngine(ScriptedModel(model="m" * 100), prompts=prompts)
    stamp = f"{engine.name}/{engine.version}"
    assert len(stamp) == 60
    assert stamp.endswith(f"m/construct.{'a' * 24}")
