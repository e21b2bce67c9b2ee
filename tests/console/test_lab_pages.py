"""Runs of the lab in the console: begun, watched, read, stopped, and shown from a file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from django.contrib.staticfiles import finders
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse
from pytest_django import DjangoAssertNumQueries, Settings

from memoryhub.console.pages.lab import report_plots, report_table
from memoryhub.lab.models import LabOutcome, LabRun
from memoryhub.lab.reports import files
from memoryhub.lab.reports.build import load_report
from memoryhub.lab.reports.files import LARGEST_REPORT, parse_report
from memoryhub.lab.runs import background
from memoryhub.tenants.models import User
from memoryhub.tenants.scope import tenant_scope
from tests.console.conftest import ConsoleWorld, make_world
from tests.lab.test_datasets import write_data_file
from tests.lab.test_running import TALK
from tests.support.factories import make_lab_run, make_outcome

FRAME = 13  # as in test_pages


@pytest.fixture
def folder(tmp_path: Path, settings: Settings) -> Path:
    settings.LAB_DATA = tmp_path
    return write_data_file(tmp_path, "boats.json", TALK).parent


@pytest.fixture
def operator(browser: Client, world: ConsoleWorld) -> Client:
    User.objects.filter(id=world.admin.id).update(is_superuser=True)
    return browser


def get_page(browser: Client, name: str, *args: object, **query: Any) -> str:
    answer = browser.get(reverse(name, args=args), query)
    assert answer.status_code == 200
    return str(answer.content.decode())


def list_runs(world: ConsoleWorld) -> list[LabRun]:
    with tenant_scope(world.tenant.id):
        return list(LabRun.objects.exclude(id=world.lab.id).order_by("created_at"))


def make_report(world: ConsoleWorld) -> dict[str, Any]:
    """A report as another hub might have written it."""
    with tenant_scope(world.tenant.id):
        told = load_report(world.lab)
    copied: dict[str, Any] = json.loads(json.dumps(told))
    return copied | {"run": told["run"] | {"id": "elsewhere"}}


def upload_report(browser: Client, raw: bytes) -> str:
    form = {"report": SimpleUploadedFile("report.json", raw)}
    return browser.post(reverse("lab-import"), form, follow=True).content.decode()


def test_the_list_is_searched_filtered_and_paged(browser: Client, world: ConsoleWorld) -> None:
    with tenant_scope(world.tenant.id):
        make_lab_run(world.tenant, "amem", word="letters", state="failed", error="no model")
        for _ in range(25):
            make_lab_run(world.tenant, "tim", word="letters", imported=True)
    page = get_page(browser, "lab")
    assert "27 runs" in page
    assert "1 to 25 of 27" in page
    assert "no model" in get_page(browser, "lab", q="amem")
    assert "26 runs" in get_page(browser, "lab", q="letters")
    assert "1 run<" in get_page(browser, "lab", state="failed")
    assert "25 runs" in get_page(browser, "lab", whence="imported")
    assert "Nothing matches" in get_page(browser, "lab", q="zebra")


def test_an_empty_list_says_what_would_appear(operator: Client, world: ConsoleWorld) -> None:
    with tenant_scope(world.tenant.id):
        LabRun.objects.all().delete()
    assert "Start a run" in get_page(operator, "lab")


def test_a_run_lays_systems_side_by_side(browser: Client, world: ConsoleWorld) -> None:
    page = get_page(browser, "lab-run", world.lab.id)
    assert "<b>100.0 %</b>" in page  # mem0 found it, rag did not
    assert "0.0 %" in page
    assert "Grade boats" in page  # the judge's prompt
    assert "Compare with papers by number, never by name" in page
    assert "A paper: boats printed" in page
    assert page.count("data-plot=") == 3


def test_the_table_is_sorted_and_narrowed_by_the_address(
    browser: Client, world: ConsoleWorld
) -> None:
    def order(**query: str) -> list[int]:
        table = get_page(browser, "lab-run", world.lab.id, **query).split("<tbody>")[1]
        return [table.index(f">{name}<") for name in ("mem0", "rag")]

    first, second = order(sort="-recall")
    assert first < second
    first, second = order(sort="recall")
    assert first > second
    narrowed = get_page(browser, "lab-run", world.lab.id, category="4", sort="nonsense")
    assert "Find ms" not in narrowed  # latency is not told by category
    assert "Recall at 10" in narrowed


def test_a_column_sorts_by_its_better_end_first() -> None:
    systems = [make_system("a", 0.5, 900), make_system("b", 0.9, 100), make_system("c", None, None)]
    table = report_table.build_table(systems, sort="-recall")
    assert [row.system["name"] for row in table.rows] == ["b", "a", "c"]
    heads = {m.name: (to, said) for m, to, said in table.heads}
    assert heads["recall"] == ("recall", "descending")
    assert heads["context_tokens"] == ("context_tokens", "none")
    best = [cell.text for row in table.rows for cell in row.cells if cell.best]
    assert best == ["90.0 %", "100"]


def test_whose_turn_has_not_come_has_no_best_figures() -> None:
    asked, waiting = make_system("a", 0.5, 900), make_system("b", None, None)
    waiting["overall"] = {"questions": 0}
    waiting["latency_ms"] = {"recall": {"p50": 0.0}, "answer": {"p50": 0.0}}
    table = report_table.build_table([asked, waiting])
    last = next(row for row in table.rows if row.system["name"] == "b")
    assert {cell.text for cell in last.cells} == {"–"}
    assert not any(cell.best for cell in last.cells)


def make_system(name: str, recall: float | None, tokens: float | None) -> dict[str, Any]:
    times = {"p50": 1.0, "p95": 2.0}
    return {
        "name": name,
        "overall": {"recall": recall, "context_tokens": tokens, "questions": 1},
        "unanswerable": {},
        "by_category": {"4": {"recall": recall}},
        "curve": [{"tokens": 50, "recall": recall}],
        "calls": {},
        "latency_ms": {"recall": times, "answer": times},
        "money": {"writing": 0, "asking": 0},
    }


def test_plots_leave_out_what_is_not_known() -> None:
    systems = [make_system("a", 0.5, 900), make_system("b", None, None)]
    curves = report_plots.plot_recall_against_tokens(systems)["data"]
    assert [(trace["name"], trace["mode"]) for trace in curves] == [
        ("a", "lines"),
        ("a", "markers"),
    ]
    squares = report_plots.plot_by_category(systems, "recall", {"4": "4 single-hop"})["data"][0]
    assert (squares["x"], squares["y"], squares["z"]) == (
        ["4 single-hop"],
        ["b", "a"],
        [[None], [0.5]],
    )
    assert report_plots.plot_latency(systems)["data"][0]["customdata"] == [2.0, 2.0]


def test_plotly_comes_out_of_the_package_and_nothing_else_of_it() -> None:
    found = finders.find("plotly/plotly.min.js")
    assert isinstance(found, str)
    assert Path(found).stat().st_size > 1_000_000
    assert finders.find("plotly/widgetbundle.js") is None
    assert finders.find("plotly/../__init__.py") is None


def test_a_question_shows_what_each_system_made_of_it(browser: Client, world: ConsoleWorld) -> None:
    page = get_page(browser, "lab-question", world.lab.id, world.outcome.id)
    assert "What of boats?" in page
    assert "boats, it seems" in page
    assert "100 % of the evidence" in page
    assert "missed" in page  # rag
    assert "boats was said" in page


def test_questions_are_listed_by_who_found_their_evidence(
    browser: Client, world: ConsoleWorld
) -> None:
    with tenant_scope(world.tenant.id):
        for name in ("mem0", "rag"):
            make_outcome(world.lab, name, number=1, question="And the mast?", places={})
    page = get_page(browser, "lab-questions", world.lab.id)
    assert "2 questions" in page
    assert "1 of 2" in page
    none = get_page(browser, "lab-questions", world.lab.id, found="none")
    assert "And the mast?" in none
    assert "What of boats?" not in none
    assert "What of boats?" in get_page(browser, "lab-questions", world.lab.id, found="some")
    assert "Nothing matches" in get_page(browser, "lab-questions", world.lab.id, found="every")
    assert "1 question<" in get_page(browser, "lab-questions", world.lab.id, q="mast", category="4")


def test_one_under_way_polls_and_shows_what_there_is(browser: Client, world: ConsoleWorld) -> None:
    with tenant_scope(world.tenant.id):
        run = make_lab_run(world.tenant, state="running", stage="boats: deriving", total=9)
    page = get_page(browser, "lab-run", run.id)
    assert "boats: deriving" in page
    assert "2 of 9 answers" in page
    assert "Comparison so far" in page
    where = reverse("lab-run", args=[run.id])
    part = browser.get(where, headers={"HX-Request": "true"})
    assert "HX-Refresh" not in part
    assert b"<h1>" not in part.content
    assert b'id="state" hx-swap-oob="true"><span class="badge">Running<' in part.content
    with tenant_scope(world.tenant.id):
        LabRun.objects.filter(id=run.id).update(state="done")
    assert browser.get(where, headers={"HX-Request": "true"})["HX-Refresh"] == "true"


def test_a_run_is_begun_with_what_the_form_says(
    operator: Client, world: ConsoleWorld, folder: Path
) -> None:
    form = {"file": "boats.json", "presets": ["rag_turns", "mem0"], "questions": "2"}
    form |= {"seed": "7", "budget_tokens": "900", "engine": "local", "judge": "off"}
    answer = operator.post(reverse("lab-new"), form | {"categories": "1, 4"})
    (run,) = list_runs(world)
    assert answer["Location"] == reverse("lab-run", args=[run.id])
    assert (run.state, run.file, run.actor) == ("queued", "boats.json", world.admin.username)
    told = {"presets": ["rag_turns", "mem0"], "categories": [1, 4], "seed": 7, "questions": 2}
    assert run.settings.items() >= told.items()
    assert "Waiting for a worker" in get_page(operator, "lab-run", run.id)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"file": "../secret.json"}, "Select a valid choice"),
        ({"presets": ["nonsense"]}, "Select a valid choice"),
        ({"presets": []}, "This field is required"),
        ({"categories": "one"}, "Numbers, separated by commas"),
        ({"categories": "9"}, "there are no questions to ask"),
        ({"questions": "0"}, "greater than or equal to 1"),
        ({"questions": "9" * 400}, "less than or equal"),
        ({"judge": "llm"}, "not set"),
    ],
)
def test_what_can_not_be_run_is_said_in_the_form(
    operator: Client, world: ConsoleWorld, folder: Path, wrong: dict[str, Any], said: str
) -> None:
    form = {"file": "boats.json", "presets": ["rag_turns"], "seed": "0", "budget_tokens": "900"}
    answer = operator.post(reverse("lab-new"), form | {"engine": "local", "judge": "off"} | wrong)
    assert answer.status_code == 422
    assert said in answer.content.decode()
    assert list_runs(world) == []


def upload(operator: Client, name: str, content: bytes) -> str:
    sent = {"data": SimpleUploadedFile(name, content)}
    return operator.post(reverse("lab-upload"), sent, follow=True).content.decode()


def test_a_dialogue_set_is_uploaded_once_it_was_read(operator: Client, folder: Path) -> None:
    content = (folder / "boats.json").read_bytes()
    assert "Imported: 1 dialogue" in upload(operator, "ships.json", content)
    assert (folder / "ships.json").read_bytes() == content
    assert "ships.json" in get_page(operator, "lab-new")
    assert "there is a file of this name already" in upload(operator, "boats.json", b"[]")
    assert (folder / "boats.json").read_bytes() == content


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("odd.json", b"{", "can&#x27;t be read as JSON"),
        ("odd.json", b'{"a": 1}', "is neither LoCoMo"),
        ("odd.json", b" " * 2_000, "at most"),
        ("odd.txt", b"[]", "with .json at its end"),
        (".hidden.json", b"[]", "with .json at its end"),
        ("a b.json", b"[]", "with .json at its end"),
    ],
)
def test_what_is_no_dialogue_set_stays_out(
    operator: Client,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    content: bytes,
    said: str,
) -> None:
    monkeypatch.setattr("memoryhub.lab.datasets.folder.LARGEST_UPLOAD", 1_000)
    before = sorted(folder.iterdir())
    assert said in upload(operator, name, content)
    assert sorted(folder.iterdir()) == before


def test_without_data_the_form_says_where_to_put_it(
    operator: Client, tmp_path: Path, settings: Settings
) -> None:
    settings.LAB_DATA = tmp_path
    assert str(tmp_path) in get_page(operator, "lab-new")


def test_it_is_stopped_and_gone_on_with(
    operator: Client, world: ConsoleWorld, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(background, "ring_worker", lambda *ids: None)
    with tenant_scope(world.tenant.id):
        run = make_lab_run(world.tenant, state="queued")
    operator.post(reverse("lab-stop", args=[run.id]))
    assert "Resume" in get_page(operator, "lab-run", run.id)
    again = operator.post(reverse("lab-stop", args=[run.id]), follow=True)
    assert b"this run is over" in again.content
    operator.post(reverse("lab-resume", args=[run.id]))
    assert "Waiting for a worker" in get_page(operator, "lab-run", run.id)
    kept = operator.post(reverse("lab-delete", args=[run.id]), follow=True)
    assert b"stop it first" in kept.content


def test_a_run_is_deleted_with_its_answers(browser: Client, world: ConsoleWorld) -> None:
    browser.post(reverse("lab-delete", args=[world.lab.id]))
    with tenant_scope(world.tenant.id):
        assert not LabRun.objects.exists()
        assert not LabOutcome.objects.exists()


def test_one_of_the_command_line_says_how_to_go_on(browser: Client, world: ConsoleWorld) -> None:
    with tenant_scope(world.tenant.id):
        run = make_lab_run(world.tenant, state="interrupted", file="")
    assert f"--resume {run.id}" in get_page(browser, "lab-run", run.id)


def test_the_report_is_downloaded_and_shown_elsewhere(browser: Client, world: ConsoleWorld) -> None:
    answer = browser.get(reverse("lab-report", args=[world.lab.id]))
    assert "attachment" in answer["Content-Disposition"]
    other = make_world("Other")
    browser.force_login(other.admin)
    page = upload_report(browser, answer.content)
    assert "Imported." in page
    assert "2 systems on boats" in page
    assert page.count("data-plot=") == 3
    (run,) = list_runs(other)
    assert run.imported
    assert run.report is not None
    assert run.report["systems"] == json.loads(answer.content)["systems"]
    assert "A report has no answers" in get_page(browser, "lab-questions", run.id)


def test_a_report_is_taken_in_once(browser: Client, world: ConsoleWorld) -> None:
    own = browser.get(reverse("lab-report", args=[world.lab.id])).content
    assert "here already" in upload_report(browser, own)
    raw = json.dumps(make_report(world)).encode()
    assert "Imported." in upload_report(browser, raw)
    assert "here already" in upload_report(browser, raw)
    assert len(list_runs(world)) == 1


def change_report(told: dict[str, Any], *path: str | int, value: Any) -> bytes:
    place: Any = told
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    return json.dumps(told).encode()


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        (("format",), "memoryhub.lab/9", "format"),
        (("systems",), [], "systems"),
        (("systems", 0, "overall"), None, "overall"),
        (("systems", 0, "overall", "f1"), "much", "f1"),
        (("systems", 0, "overall", "f1"), float("nan"), "f1"),
        (("systems", 0, "by_category"), {"<b>": {}}, "by_category"),
        (("systems", 0, "name"), "x" * 41, "name"),
        (("dataset", "sha256"), "abc", "sha256"),
        (("run", "started_at"), "yesterday", "started_at"),
        (("settings", "presets"), "mem0", "presets"),
        (("environment", "judge"), {"prompt": 3}, "judge"),
        (("dataset", "name"), "a\0b", "NUL"),
    ],
)
def test_what_is_no_report_is_refused_with_what_is_wrong(
    browser: Client, world: ConsoleWorld, path: tuple[str | int, ...], value: Any, said: str
) -> None:
    page = upload_report(browser, change_report(make_report(world), *path, value=value))
    assert "Not imported" in page
    assert said in page
    assert list_runs(world) == []


@pytest.mark.parametrize("raw", [b"", b"\xff\xfe", b"[]", b"null", b"[" * 100_000, b"\0"])
def test_other_files_are_refused(browser: Client, world: ConsoleWorld, raw: bytes) -> None:
    assert "Not imported" in upload_report(browser, raw) or raw == b""
    assert list_runs(world) == []


def test_a_report_has_a_limit(
    browser: Client, world: ConsoleWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "LARGEST_REPORT", 100)
    assert "at most" in upload_report(browser, json.dumps(make_report(world)).encode())
    assert LARGEST_REPORT > 1_000_000


def test_nothing_sent_is_said(browser: Client) -> None:
    answer = browser.post(reverse("lab-import"), follow=True)
    assert b"No report file selected" in answer.content


def test_a_report_of_this_version_is_one(world: ConsoleWorld) -> None:
    """Whatever the lab writes, the page takes in."""
    with tenant_scope(world.tenant.id):
        raw = json.dumps(load_report(world.lab)).encode()
    assert len(parse_report(raw).systems) == 2


@pytest.mark.parametrize(
    ("name", "most"), [("lab", 3), ("lab-run", 1), ("lab-questions", 3), ("lab-question", 5)]
)
def test_statements_do_not_grow_with_the_rows(
    browser: Client,
    world: ConsoleWorld,
    name: str,
    most: int,
    django_assert_max_num_queries: DjangoAssertNumQueries,
) -> None:
    with tenant_scope(world.tenant.id):
        for number in range(1, 20):
            make_lab_run(world.tenant)
            for named in ("mem0", "rag"):
                make_outcome(world.lab, named, number=number)
    ids = [] if name == "lab" else [world.lab.id]
    ids += [world.outcome.id] if name == "lab-question" else []
    with django_assert_max_num_queries(most + FRAME):
        assert browser.get(reverse(name, args=ids)).status_code == 200
