"""What docs/reference/lab.md has in its blocks, carried out on a small dialogue of each format."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import chdir
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from memoryhub.engines import registry
from memoryhub.engines.registry import EngineSettings
from memoryhub.lab.models import LabRun
from memoryhub.recall.ranking import weights
from memoryhub.tenants.scope import tenant_scope
from memoryhub.tenants.services import find_tenant
from tests.docs.page_runner import parse_manage_commands
from tests.docs.pages import ROOT, list_marked_blocks
from tests.lab.test_datasets import LOCOMO, MEMORYBANK, write_data_file
from tests.support.hub import EMPTY_REPLIES, ScriptedHub

pytestmark = pytest.mark.django_db

RUNS, RECALLS, TRAINING, DERIVING, TRUTH = map(
    parse_manage_commands,
    (block.text for block in list_marked_blocks(ROOT / "docs/reference/lab.md") if block.runner),
)
MODEL: dict[str, Any] = {
    "construct": {"changes": []},
    "extract_facts": {"facts": []},
    "answer": {"known": True, "answer": "A boat.", "used": ["m1"]},
    "grade": {"correct": True},
}


@pytest.fixture
def folder(hub: ScriptedHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """With data where the page has it, and the engine that each command names."""
    scripted, local = registry.get_engine, _local

    def engine(name: str, settings: EngineSettings) -> Any:
        return (scripted if name == "llm" else local)(name, settings)

    monkeypatch.setattr(registry, "get_engine", engine)
    hub.model.allow(*EMPTY_REPLIES, **MODEL)
    data = tmp_path / "path/to"
    data.mkdir(parents=True)
    (tmp_path / "memoryhub/recall/ranking").mkdir(parents=True)
    (tmp_path / "benchmarks").symlink_to(ROOT / "benchmarks")
    names = ("conv-26", "conv-30")
    write_data_file(data, "locomo.json", [{**LOCOMO[0], "sample_id": name} for name in names])
    write_data_file(data, "memory_bank_en.json", MEMORYBANK)
    with chdir(tmp_path):
        yield tmp_path


_local = registry.get_engine


def run_command(words: list[str]) -> str:
    out = StringIO()
    call_command(*words, stdout=out, stderr=StringIO())
    return out.getvalue()


def test_presets_are_laid_side_by_side(folder: Path) -> None:
    told = run_command(RUNS[0])
    assert all(name in told for name in ("balanced", "mem0", "rag", "full_context"))


def test_a_model_derives_answers_and_judges(folder: Path, hub: ScriptedHub) -> None:
    run_command(RUNS[1])
    report = json.loads((folder / "report.json").read_text("utf-8"))
    assert [each["name"] for each in report["systems"]] == ["mem0", "rag"]
    assert {"extract_facts", "answer", "grade"} <= {asked.purpose for asked in hub.model.requests}


def test_a_run_that_broke_off_is_gone_on_with(folder: Path, hub: ScriptedHub) -> None:
    hub.model.allow(answer=KeyboardInterrupt())
    with pytest.raises(CommandError, match="--resume"):
        run_command(RUNS[1])
    hub.model.allow(**MODEL)
    owner = find_tenant("lab")
    assert owner
    with tenant_scope(owner.id):
        run = LabRun.objects.get()
    *words, shown = RUNS[2]
    assert shown == "01a1fe20"
    told = run_command([*words, str(run.id)[: len(shown)]])
    assert "mem0" in told


def test_recall_is_measured_with_and_without_deriving(folder: Path) -> None:
    both, turns = (run_command(words) for words in RECALLS)
    assert "turns: 4 questions with evidence" in both
    assert "all kinds: 4 questions with evidence" in both
    assert "3 turns loaded" in turns


def test_weights_are_learned_and_written_where_the_hub_reads_them(folder: Path) -> None:
    run_command(TRAINING[0])
    made = weights.read_weights(folder / "memoryhub/recall/ranking/weights.json")
    assert made.trained.conversations == ("conv-26", "conv-30")


def test_what_becomes_of_a_dialogue_is_counted(folder: Path, hub: ScriptedHub) -> None:
    local, model = (run_command(words) for words in DERIVING)
    assert "6 turns in" in local
    assert "3 turns in" in model
    assert hub.model.list_calls("construct")


def test_dialogues_with_updates_are_read_held_and_asked_about(folder: Path) -> None:
    reading, held, asked = (run_command(words) for words in TRUTH)
    assert "unasserted" in reading
    assert "settled" in held
    assert "refused" in asked
