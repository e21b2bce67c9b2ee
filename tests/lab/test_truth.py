"""Dialogues with updates: what is measured of them, and that a hub that errs is told so."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from memoryhub.lab.throwaway.tenants import open_throwaway_tenant
from memoryhub.lab.truth.dialogues import HALVES, is_matching, load_dialogues, read_dialogue
from memoryhub.lab.truth.everyday import ask_dialogue
from memoryhub.lab.truth.measure import TruthScore, measure_dialogue
from memoryhub.lab.truth.run import tell_dialogue
from memoryhub.tenants.models import Tenant
from tests.support.truth import build_truth_dialogue

DIALOGUE = build_truth_dialogue(
    "en-a-01-ferry",
    "Nora",
    [
        {
            "t1": ("2025-01-06T10:00:00Z", "I live in Bergen."),
            "t2": ("2025-01-06T10:01:00Z", "I have a dog called Kip."),
        },
        {
            "t3": ("2025-03-06T10:00:00Z", "I live in Oslo now."),
            "t4": ("2025-03-06T10:01:00Z", "Maybe I should buy a boat."),
        },
    ],
    {
        "t1": [{"do": "add", "id": "c1", "text": "Nora lives in Bergen.", "match": [["bergen"]]}],
        "t2": [{"do": "add", "id": "c2", "text": "Nora has a dog, Kip.", "match": [["kip"]]}],
        "t3": [
            {
                "do": "replace",
                "targets": ["c1"],
                "id": "c3",
                "text": "Nora lives in Oslo.",
                "match": [["oslo"]],
            }
        ],
    },
    current=["c2", "c3"],
    past=["c1"],
    not_asserted=[{"ref": "t4", "kind": "wish", "match": [["boat"]]}],
    as_of=[{"at": "2025-02-01T00:00:00Z", "holds": ["c1"], "not": ["c3"]}],
    questions=[
        {
            "ask": "where do i live",
            "kind": "current",
            "right": [["oslo"]],
            "outdated": [["bergen"]],
        },
        {"ask": "what's my blood type", "kind": "unknown", "right": [], "outdated": []},
    ],
)


def build_dialogue(**changed: Any) -> Any:
    return read_dialogue(DIALOGUE | changed)


def tell_and_measure(tenant: Tenant, dialogue: Any) -> TruthScore:
    space, now = tell_dialogue(tenant, dialogue)
    return measure_dialogue(space, dialogue, now)


@pytest.fixture
def tenant(db: None) -> Iterator[Tenant]:
    with open_throwaway_tenant() as made:
        yield made


def test_a_hub_that_follows_a_move_has_all_checks_right(tenant: Tenant) -> None:
    score = tell_and_measure(tenant, build_dialogue())
    assert score.failures == []
    assert {check: score.asked[check] for check in score.asked} == {
        "closed": 1,
        "settled": 1,
        "current": 2,
        "kept": 2,
        "asserted": 1,
        "as_of": 1,
    }


def test_what_is_still_held_or_closed_wrongly_is_told(tenant: Tenant) -> None:
    ended = {"t4": [{"do": "end", "targets": ["c2"]}]}  # which nothing in the words says
    truth = DIALOGUE["truth"] | {"current": ["c1", "c3"], "past": ["c2"], "not_asserted": []}
    score = tell_and_measure(
        tenant, build_dialogue(reading=DIALOGUE["reading"] | ended, truth=truth)
    )
    assert (score.rate("closed"), score.rate("kept"), score.rate("current")) == (0, 0.5, 0.5)
    assert score.causes == {"not decided": 1}
    assert any("Nora lives in Bergen" in failure for failure in score.failures)


def test_what_was_to_be_forgotten_is_looked_for_in_facts_and_turns(tenant: Tenant) -> None:
    truth = DIALOGUE["truth"] | {"current": ["c3"], "gone": ["c2"]}
    score = tell_and_measure(tenant, build_dialogue(truth=truth))
    assert (score.rate("forgotten"), score.rate("erased"), score.rate("spared")) == (0, 0, 1)


def test_everyday_questions_are_asked_of_search_and_answer(tenant: Tenant) -> None:
    dialogue = build_dialogue()
    space, now = tell_dialogue(tenant, dialogue)
    score = ask_dialogue(space, dialogue, now)
    assert score.asked == {"first": 1, "right": 1, "not wrong": 1, "refused": 1}
    assert (score.rate("first"), score.rate("right"), score.rate("refused")) == (1, 1, 1)
    outdated = [{**DIALOGUE["questions"][0], "right": [["bergen"]], "outdated": [["oslo"]]}]
    score = ask_dialogue(space, build_dialogue(questions=outdated), now)
    assert (score.rate("first"), score.rate("right"), score.rate("not wrong")) == (0, 0, 0)
    assert score.causes == {"outdated": 1}


@pytest.mark.parametrize("action", ["reading", "truth", "everyday"])
@pytest.mark.django_db
def test_the_command_prints_a_table_by_author_and_writes_json(tmp_path: Path, action: str) -> None:
    (tmp_path / "en-a-01-ferry.json").write_text(json.dumps(DIALOGUE), encoding="utf-8")
    out, report = StringIO(), tmp_path / "out" / "report.json"
    report.parent.mkdir()
    call_command(
        "lab",
        action,
        str(tmp_path),
        "--failures",
        "--json",
        str(report),
        stdout=out,
        stderr=StringIO(),
    )
    assert "1 dialogues" in out.getvalue()
    assert "en-a" in out.getvalue()
    assert set(json.loads(report.read_text(encoding="utf-8"))["scores"]) == {"en-a", "en"}


@pytest.mark.django_db
def test_a_sample_to_be_read_keeps_the_verdicts_put_beside_it(tmp_path: Path) -> None:
    (tmp_path / "en-a-01-ferry.json").write_text(json.dumps(DIALOGUE), encoding="utf-8")
    out = tmp_path / "sample.tsv"

    def draw_again() -> str:
        told = StringIO()
        call_command("lab", "junk", str(tmp_path), "--out", str(out), stdout=told, stderr=told)
        return told.getvalue()

    assert "fact unread" in draw_again()
    first = out.read_text(encoding="utf-8")
    assert "\tNora: Nora has a dog" in first
    assert "I have a dog called Kip." in first
    out.write_text(first.replace("fact\t\t", "fact\tuseful\t"), encoding="utf-8")
    assert "fact useful" in draw_again()
    assert out.read_text(encoding="utf-8") == first.replace("fact\t\t", "fact\tuseful\t")


def test_no_author_is_in_both_halves_and_each_has_dialogues() -> None:
    folder = Path(__file__).parents[2] / "benchmarks" / "truth"
    development, test = (load_dialogues(folder, HALVES[half]) for half in ("development", "test"))
    assert not set(HALVES["development"]) & set(HALVES["test"])
    told = [*development, *test]
    assert sum(d.language == "en" for d in told) >= 250
    assert sum(d.language == "zh" for d in told) >= 150
    assert sum(len(d.questions) for d in told) >= 300
    assert len({d.id for d in told}) == len(told)
    for dialogue in told:
        for claim in dialogue.claims.values():
            assert is_matching(claim.match, claim.text), (dialogue.id, claim.id)


def test_plain_dialogues_are_there_in_both_halves() -> None:
    folder = Path(__file__).parents[2] / "benchmarks" / "plain"
    counted = {
        half: Counter(dialogue.language for dialogue in load_dialogues(folder, authors))
        for half, authors in HALVES.items()
    }
    assert counted == {"development": {"en": 30, "zh": 22}, "test": {"en": 18, "zh": 14}}
    for dialogue in load_dialogues(folder):
        assert sum(question.kind == "unknown" for question in dialogue.questions) == 2
        for claim in dialogue.claims.values():
            assert is_matching(claim.match, claim.text), (dialogue.id, claim.id)


def test_short_dialogues_are_there_in_both_halves_and_each_answer_was_told() -> None:
    folder = Path(__file__).parents[2] / "benchmarks" / "short"
    counted = {
        half: Counter(dialogue.language for dialogue in load_dialogues(folder, authors))
        for half, authors in HALVES.items()
    }
    assert counted == {"development": {"en": 370, "zh": 370}, "test": {"en": 30, "zh": 30}}
    for dialogue in load_dialogues(folder):
        told = [turn.text for turn in dialogue.turns]
        for question in dialogue.questions:
            known = any(is_matching(question.right, text) for text in told)
            assert known or question.kind == "unknown", (dialogue.id, question.text)
