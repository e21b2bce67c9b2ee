from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from memoryhub import bootstrap
from memoryhub.dialogues.models import Session, Turn
from memoryhub.pipeline.ingest.services import ingest_messages
from memoryhub.pipeline.models import Job
from memoryhub.tenants.models import ApiKey, Membership, Space, User
from memoryhub.tenants.scope import tenant_scope
from memoryhub.tenants.services import create_tenant, find_tenant
from notes.models import Fact

pytestmark = pytest.mark.django_db

LINES = [
    {"subject": "ana", "session": "a", "speaker": "Ana", "content": "I live in Porto.",
     "timestamp": "2026-01-01T10:00:00Z", "external_id": "1"},
    {"subject": "ana", "session": "a", "role": "assistant", "speaker": "Hub",
     "content": "How nice.", "timestamp": 1767261660, "external_id": "2"},
    {"subject": "ana", "session": "b", "speaker": "Ana", "content": "I moved to Braga.",
     "timestamp": "2026-03-01T10:00:00Z", "external_id": "3"},
]  # fmt: skip

LOCOMO = [
    {
        "sample_id": "talk-1",
        "qa": [],
        "conversation": {
            "speaker_a": "Ana",
            "speaker_b": "Rui",
            "session_2_date_time": "9:05 am on 2 March, 2026",
            "session_2": [{"speaker": "Rui", "dia_id": "D2:1", "text": "I bought a boat."}],
            "session_1_date_time": "1:56 pm on 8 January, 2026",
            "session_1": [
                {"speaker": "Ana", "dia_id": "D1:1", "text": "I live in Porto."},
                {"speaker": "Rui", "dia_id": "D1:2", "text": "Look!", "blip_caption": "a cat"},
            ],
            "session_3_date_time": "9:05 am on 3 March, 2026",
        },
    }
]
MEMORYBANK = {
    "Eva": {
        "name": "Eva",
        "history": {
            "2026-02-02": [{"query": "I have a cat.", "response": "Lovely."}],
            "2026-02-01": [{"query": "Hello, I am Eva.", "response": ""}],
        },
    }
}


def write_file(folder: Path, form: str, data: Any) -> Path:
    file = folder / f"talk.{form}"
    lines = form == "jsonl"
    file.write_text("\n".join(map(json.dumps, data)) if lines else json.dumps(data))
    return file


def import_file(file: Path, form: str) -> str:
    out = io.StringIO()
    call_command("import_dialogues", file, format=form, tenant="one", stdout=out)
    return out.getvalue()


@pytest.fixture
def one() -> Any:
    return create_tenant("One", "one")


def test_json_lines_become_sessions_turns_and_facts(one: Any, tmp_path: Path) -> None:
    assert "3 turns, 3 of them new" in import_file(write_file(tmp_path, "jsonl", LINES), "jsonl")
    with tenant_scope(one.id):
        assert list(Session.objects.values_list("external_id", flat=True)) == ["a", "b"]
        assert Turn.objects.filter(state="processed").count() == 3
        assert Fact.objects.get(status="active", predicate_key="lives_in").object == "Braga"
        assert Space.objects.get().name == "Ana"


def test_importing_again_changes_nothing(one: Any, tmp_path: Path) -> None:
    file = write_file(tmp_path, "jsonl", LINES)
    import_file(file, "jsonl")
    with tenant_scope(one.id):
        before = Job.objects.count()
        assert Job.objects.filter(step=Job.Step.DERIVE).count() == 2
    assert "0 of them new" in import_file(file, "jsonl")
    with tenant_scope(one.id):
        assert Job.objects.count() == before


def test_an_import_that_broke_off_goes_on(
    one: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = write_file(tmp_path, "jsonl", LINES)
    calls = iter([True, False])

    def once(*args: Any) -> Any:
        if next(calls):
            return ingest_messages(*args)
        raise KeyboardInterrupt

    monkeypatch.setattr(bootstrap, "ingest_messages", once)
    with pytest.raises(KeyboardInterrupt):
        import_file(file, "jsonl")
    monkeypatch.setattr(bootstrap, "ingest_messages", ingest_messages)
    assert "3 turns, 1 of them new" in import_file(file, "jsonl")


def test_locomo_keeps_sessions_in_order_ids_and_pictures(one: Any, tmp_path: Path) -> None:
    import_file(write_file(tmp_path, "locomo", LOCOMO), "locomo")
    with tenant_scope(one.id):
        turns = list(Turn.objects.select_related("session"))
    assert [turn.external_id for turn in turns] == ["D1:1", "D1:2", "D2:1"]
    assert turns[0].occurred_at.isoformat() == "2026-01-08T13:56:00+00:00"
    assert "a cat" in turns[1].text
    assert turns[2].session.ordinal == 2


def test_memorybank_has_a_session_a_day_in_order(one: Any, tmp_path: Path) -> None:
    import_file(write_file(tmp_path, "memorybank", MEMORYBANK), "memorybank")
    with tenant_scope(one.id):
        assert list(Session.objects.values_list("external_id", flat=True)) == [
            "2026-02-01",
            "2026-02-02",
        ]
        assert [t.role for t in Turn.objects.all()] == ["user", "user", "assistant"]


@pytest.mark.parametrize(
    ("form", "text"),
    [("jsonl", "{"), ("jsonl", "[]"), ("jsonl", '{"subject": "x"}'), ("locomo", "{}"),
     ("locomo", '[{"qa": []}]'), ("memorybank", "[]")],
)  # fmt: skip
def test_a_file_of_another_form_is_refused(one: Any, tmp_path: Path, form: str, text: str) -> None:
    file = tmp_path / "bad"
    file.write_text(text)
    if form == "locomo" and text == "{}":
        assert "0 turns" in import_file(file, form)
        return
    with pytest.raises(CommandError, match="path"):
        import_file(file, form)


def test_a_missing_file_or_tenant_is_named(one: Any, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="can't be read"):
        import_file(tmp_path / "none", "jsonl")
    with pytest.raises(CommandError, match="no tenant nobody"):
        call_command("import_dialogues", tmp_path, format="jsonl", tenant="nobody")


def test_the_first_start_makes_an_operator_a_tenant_and_a_key_once() -> None:
    out = io.StringIO()
    bootstrap.bootstrap_hub(out)
    assert "Password  " in out.getvalue()
    assert "mh_" in out.getvalue()
    again = io.StringIO()
    bootstrap.bootstrap_hub(again)
    assert again.getvalue() == ""
    tenant = find_tenant("demo")
    assert tenant is not None
    assert User.objects.get().is_superuser
    with tenant_scope(tenant.id):
        assert ApiKey.objects.count() == 1


def test_secrets_from_the_environment_are_not_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    key = f"mh_{'a' * 12}_{'b' * 40}"
    monkeypatch.setenv("MEMORYHUB_OPERATOR_PASSWORD", "correct horse battery")
    monkeypatch.setenv("MEMORYHUB_DEMO_KEY", key)
    out = io.StringIO()
    bootstrap.bootstrap_hub(out)
    assert key not in out.getvalue()
    assert "correct horse" not in out.getvalue()
    assert User.objects.get().check_password("correct horse battery")


def test_the_demo_is_loaded_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bootstrap, "DEMO_DIALOGUES", tmp_path)
    write_file(tmp_path, "jsonl", LINES)
    bootstrap.bootstrap_hub(io.StringIO())
    seen: list[tuple[int, int]] = []
    loaded = bootstrap.seed_demo(lambda at, total: seen.append((at, total)))
    assert loaded == bootstrap.IngestSummary(turns=3, new=3, failed=0)
    assert seen[-1] == (3, 3)
    assert bootstrap.seed_demo(lambda at, total: None) is None


def test_a_tenant_is_made_with_an_admin_and_a_key() -> None:
    out = io.StringIO()
    call_command("create_tenant", "Two Rivers", admin="eva", stdout=out)
    tenant = find_tenant("two-rivers")
    assert tenant is not None
    assert "mh_" in out.getvalue()
    assert "Password  " in out.getvalue()
    with tenant_scope(tenant.id):
        assert Membership.objects.get().user.username == "eva"
    assert not User.objects.get(username="eva").is_superuser


def test_whom_nobody_names_the_operator_stands_in_for() -> None:
    with pytest.raises(CommandError, match="no operator yet"):
        call_command("create_tenant", "Two Rivers", stdout=io.StringIO())
    call_command("account", "operator", "ada", stdout=io.StringIO())
    call_command("create_tenant", "Two Rivers", stdout=io.StringIO())
    tenant = find_tenant("two-rivers")
    assert tenant is not None
    with tenant_scope(tenant.id):
        assert Membership.objects.get().user.username == "ada"


def test_operators_are_made_and_dismissed_by_name() -> None:
    for name in ("ada", "eva"):
        call_command("account", "operator", name, stdout=io.StringIO())
    call_command("account", "dismiss", "ada", stdout=io.StringIO())
    assert not User.objects.get(username="ada").is_superuser
    with pytest.raises(CommandError, match="last operator"):
        call_command("account", "dismiss", "eva", stdout=io.StringIO())


def test_an_account_is_let_into_a_tenant_by_command() -> None:
    tenant = create_tenant("Two Rivers", "two-rivers")
    call_command("account", "member", "ida", "two-rivers", "viewer", stdout=io.StringIO())
    with tenant_scope(tenant.id):
        assert Membership.objects.get().role == "viewer"
    with pytest.raises(CommandError, match="no tenant"):
        call_command("account", "member", "ida", "nowhere", "viewer", stdout=io.StringIO())


def test_a_tenant_is_not_made_twice_and_needs_a_slug() -> None:
    call_command("create_tenant", "Two", admin="eva", stdout=io.StringIO())
    with pytest.raises(CommandError, match="already"):
        call_command("create_tenant", "Two", admin="eva", stdout=io.StringIO())
    with pytest.raises(CommandError, match="--slug"):
        call_command("create_tenant", "二", admin="eva", stdout=io.StringIO())
