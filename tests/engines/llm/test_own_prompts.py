"""An operator's own prompts: which files are one, and that the model is asked by them."""

from __future__ import annotations

from pathlib import Path

import pytest

from memoryhub.engines.llm.engine import LLMEngine
from memoryhub.engines.llm.own_prompts import (
    MOST_BYTES,
    PURPOSES,
    Prompts,
    difference,
    faults,
    known,
    needed,
)
from memoryhub.engines.llm.prompting import Purpose, template
from memoryhub.engines.types import Entry
from memoryhub.errors import EngineError
from tests.support.hub import ScriptedModel

NOTHING = {"relevant": [], "conflicts": [], "enough": False}


def write(folder: Path, name: str, text: str = "") -> None:
    (folder / name).write_text(text or f"{template('judge')}Be strict.\n", encoding="utf-8")


def judged(folder: Path) -> ScriptedModel:
    model = ScriptedModel()
    model.script("judge", NOTHING)
    LLMEngine(model, prompts=Prompts(folder, {"judge": "strict"})).judge("Why?", [Entry("m1", "x")])
    return model


def test_the_model_is_asked_by_the_prompt_that_is_named(tmp_path: Path) -> None:
    write(tmp_path, "judge.strict.md")
    (asked,) = judged(tmp_path).asked
    assert asked.messages[0]["content"].endswith("Be strict.\n")
    assert faults(tmp_path) == {}
    assert known(tmp_path) == {"judge": ["strict"]}


def test_other_purposes_keep_the_packaged_one(tmp_path: Path) -> None:
    prompts = Prompts(tmp_path, {"judge": "strict", "route": ""})
    assert prompts.text("route") == template("route")
    assert (prompts.version("route"), prompts.version("judge")) == ("route.v1", "judge.strict")


def test_a_file_that_is_gone_is_an_error_that_names_it_until_it_is_back(tmp_path: Path) -> None:
    with pytest.raises(
        EngineError, match=r"judge\.strict\.md can't be used: No such file"
    ) as raised:
        judged(tmp_path)
    assert (raised.value.code, raised.value.permanent) == ("prompt_unusable", True)
    write(tmp_path, "judge.strict.md")
    assert judged(tmp_path).asked


@pytest.mark.parametrize("purpose", PURPOSES)
def test_every_packaged_prompt_would_be_accepted(tmp_path: Path, purpose: Purpose) -> None:
    write(tmp_path, f"{purpose}.own.md", template(purpose))
    assert faults(tmp_path) == {}
    assert len(needed(purpose)) > 1


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
        ("judge.long.md", "x" * (MOST_BYTES + 1), "more than 32 KiB"),
        ("judge.bare.md", "Reply in JSON with `relevant`.", "conflicts, enough"),
        ("judge.near.md", "JSON: relevance, conflicts, enough", "from the reply: relevant"),
        ("judge.mute.md", template("judge").replace("JSON", "YAML"), "from the reply: JSON"),
    ],
)
def test_what_is_no_prompt_is_named_with_the_reason(
    tmp_path: Path, name: str, text: str, said: str
) -> None:
    write(tmp_path, name, text)
    assert said in faults(tmp_path)[name]
    assert known(tmp_path) == {}


def test_bytes_that_are_no_text_and_folders_are_named_too(tmp_path: Path) -> None:
    (tmp_path / "judge.bytes.md").write_bytes(b"\xff\xfe")
    (tmp_path / "judge.folder.md").mkdir()
    assert faults(tmp_path) == {
        "judge.bytes.md": "it is not UTF-8",
        "judge.folder.md": "Is a directory",
    }


def test_a_folder_that_is_not_there_holds_none(tmp_path: Path) -> None:
    assert (known(tmp_path / "none"), faults(tmp_path / "none")) == ({}, {})


def test_the_difference_is_the_lines_that_differ(tmp_path: Path) -> None:
    write(tmp_path, "judge.strict.md")
    assert difference(tmp_path, "judge", "strict").splitlines()[-1] == "+Be strict."


def test_a_stamp_fits_its_column_and_keeps_the_prompt() -> None:
    prompts = Prompts(names={"construct": "a" * 24})
    engine = LLMEngine(ScriptedModel(model="m" * 100), prompts=prompts)
    stamp = f"{engine.name}/{engine.version}"
    assert len(stamp) == 60
    assert stamp.endswith(f"m/construct.{'a' * 24}")
