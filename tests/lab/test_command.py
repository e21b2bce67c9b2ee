from __future__ import annotations

import json
import os
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from memoryhub.lab.datasets.read import read_dataset_dialogues
from memoryhub.lab.measurements.derivation import measure_derivation
from memoryhub.lab.measurements.retrieval import measure_retrieval
from memoryhub.lab.throwaway.tenants import open_throwaway_tenant
from memoryhub.tenants.models import Space, Tenant
from memoryhub.tenants.scope import tenant_scope
from memoryhub.tenants.services import ensure_space
from tests.lab.test_datasets import LOCOMO, MEMORYBANK, write_data_file
from tests.support.hub import ScriptedHub
from tests.support.openai_server import OpenAIServer

pytestmark = pytest.mark.django_db

DATA = Path(os.environ.get("MEMORYHUB_EVAL_DATA", "../shared/data")) / "locomo-dev.json"


def run_command(path: Path, *options: str) -> str:
    out = StringIO()
    call_command("lab", "recall", str(path), *options, stdout=out, stderr=StringIO())
    return out.getvalue()


def test_turns_only_prints_a_table_and_writes_json(tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    table = run_command(
        write_data_file(tmp_path, "l.json", LOCOMO), "--turns-only", "--json", str(report)
    )
    assert "3 turns loaded" in table
    assert "2 questions without evidence not judged" in table
    assert "turns: 2 questions with evidence" in table
    figures: dict[str, Any] = json.loads(report.read_text(encoding="utf-8"))
    (turns,) = figures["runs"]
    assert turns["overall"]["recall@10"] == 1.0
    assert set(turns["by_category"]) == {"1", "4"}
    assert turns["search_ms"]["p50"] > 0


def test_the_pipeline_s_facts_count_by_the_turns_they_come_from(tmp_path: Path) -> None:
    report = measure_retrieval(
        read_dataset_dialogues(write_data_file(tmp_path, "l.json", LOCOMO)),
        derive=True,
        progress=lambda line: None,
    ).to_dict()
    turns, everything = report["runs"]
    assert everything["name"] == "all kinds"
    assert everything["overall"]["recall@10"] == turns["overall"]["recall@10"] == 1.0


def test_a_reranker_is_measured_beside_the_search_without_it(tmp_path: Path, settings: Any) -> None:
    path = write_data_file(tmp_path, "l.json", LOCOMO)
    with OpenAIServer() as server:
        settings.RERANKER, settings.RERANKER_URL = "endpoint", server.url
        report = tmp_path / "report.json"
        table = run_command(path, "--turns-only", "--rerank", "model", "--json", str(report))
        asked = len(server.requests)
    assert "turns, model:" in table
    assert "without the reranker" not in table
    plain, reranked = json.loads(report.read_text())["runs"]
    assert asked == reranked["questions"] == plain["questions"]
    assert (plain["degraded_answers"], reranked["degraded_answers"]) == (0, 0)


def test_a_reranker_that_could_not_be_asked_is_told(tmp_path: Path, settings: Any) -> None:
    settings.RERANKER = "off"
    path = write_data_file(tmp_path, "l.json", LOCOMO)
    assert "without the reranker" in run_command(path, "--turns-only", "--rerank", "model")


def test_a_set_without_evidence_still_gives_times(tmp_path: Path) -> None:
    (tmp_path / "probing_questions_cn.jsonl").write_text('{"Mei": ["我喜欢喝什么？"]}', "utf-8")
    table = run_command(
        write_data_file(tmp_path, "memory_bank_cn.json", MEMORYBANK), "--turns-only"
    )
    assert "1 questions without evidence not judged" in table
    assert "turns: 0 questions" in table
    assert "recall@10" not in table


def test_conversations_can_be_limited(tmp_path: Path) -> None:
    path = write_data_file(tmp_path, "l.json", [*LOCOMO, {**LOCOMO[0], "sample_id": "second"}])
    table = run_command(path, "--turns-only", "--limit-conversations", "1")
    assert "3 turns loaded" in table
    assert "second" not in table


def test_a_bad_file_is_a_plain_error(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="neither"):
        run_command(write_data_file(tmp_path, "x.json", {"a": 1}))


@pytest.mark.django_db(transaction=True)
def test_the_tenant_and_its_rows_are_gone_afterwards() -> None:
    with open_throwaway_tenant() as tenant, tenant_scope(tenant.id):
        ensure_space(tenant.id, "ana")
    with tenant_scope(tenant.id):
        assert not Tenant.objects.filter(id=tenant.id).exists()
        assert not Space.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_it_is_gone_after_an_error_too() -> None:
    made: list[Tenant] = []
    with pytest.raises(RuntimeError):
        _fail_within(made)
    with tenant_scope(made[0].id):
        assert not Tenant.objects.exists()


def _fail_within(made: list[Tenant]) -> None:
    with open_throwaway_tenant() as tenant:
        made.append(tenant)
        raise RuntimeError


@pytest.mark.skipif(not DATA.exists(), reason=f"no evaluation data at {DATA}")
def test_the_first_conversation_s_evidence_is_found(tmp_path: Path) -> None:
    (run_,) = measure_retrieval(
        read_dataset_dialogues(DATA)[:1], derive=False, progress=lambda line: None
    ).to_dict()["runs"]
    assert run_["overall"]["recall@10"] >= 0.78


def test_deriving_counts_what_became_of_a_dialogue_and_leaves_nothing(tmp_path: Path) -> None:
    out, report = StringIO(), tmp_path / "report.json"
    path = write_data_file(tmp_path, "l.json", LOCOMO)
    call_command(
        "lab", "derive", str(path), "--turns", "2", "--json", str(report), stdout=out,
        stderr=StringIO(),
    )  # fmt: skip
    assert "2 turns in" in out.getvalue()
    figures: dict[str, Any] = json.loads(report.read_text(encoding="utf-8"))
    assert figures["counts"]["turn processed"] == figures["turns"] == 2
    assert figures["counts"]["facts without support"] == 0
    assert figures["calls"] == {}
    assert not Tenant.objects.filter(slug__startswith="lab-").exists()


def test_deriving_with_a_model_tells_what_it_was_asked(hub: ScriptedHub, tmp_path: Path) -> None:
    hub.model.allow("resolve", extract_facts={"facts": []})
    path = write_data_file(tmp_path, "l.json", LOCOMO)
    report = measure_derivation(
        read_dataset_dialogues(path),
        engine="llm",
        preset="mem0",
        most_turns=2,
        progress=lambda line: None,
    ).to_dict()
    assert report["calls"]["extract_facts"]["calls"] >= 1
    assert report["calls"]["extract_facts"]["prompt_tokens"] > 0
    assert report["counts"]["turn processed"] == 2
