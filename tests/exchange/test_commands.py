"""`export_spaces` and `import_spaces`."""

from __future__ import annotations

import io
import stat
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from memoryhub.tenants.models import Space, Tenant
from memoryhub.tenants.scope import tenant_scope
from tests.support.export_files import parse_lines
from tests.support.factories import make_space, make_tenant, make_turns


@pytest.fixture
def source(db: None) -> Tenant:
    tenant = make_tenant("Source")
    with tenant_scope(tenant.id):
        make_turns(make_space(tenant, "rui"), "I play chess.")
        make_turns(make_space(tenant, "eva"), "I play go.")
    return tenant


def run_command(name: str, *given: Any) -> str:
    out = io.StringIO()
    call_command(name, *map(str, given), stdout=out)
    return out.getvalue()


@pytest.mark.parametrize("name", ["all.jsonl", "all.jsonl.gz"])
def test_a_tenant_moves_by_two_commands(
    source: Tenant, elsewhere: Tenant, tmp_path: Path, name: str
) -> None:
    file = tmp_path / name
    assert "2 subjects" in run_command("export_spaces", file, "--tenant", source.slug)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    to = ("--tenant", elsewhere.slug)
    assert "2 subjects would come in" in run_command("import_spaces", file, *to, "--dry-run")
    assert "2 subjects came in" in run_command("import_spaces", file, *to)
    with tenant_scope(elsewhere.id):
        assert set(Space.objects.values_list("subject", flat=True)) == {"rui", "eva"}


def test_one_subject_under_another_name(source: Tenant, tmp_path: Path) -> None:
    file = tmp_path / "rui.jsonl"
    run_command("export_spaces", file, "--tenant", source.slug, "--subject", "rui")
    assert [each["row"] for each in parse_lines(file.read_bytes())[1:3]] == ["space", "session"]
    said = run_command("import_spaces", file, "--tenant", source.slug, "--subject", "rui again")
    assert "ids new: rui again" in said


def test_what_can_not_be_written_leaves_nothing(source: Tenant, tmp_path: Path) -> None:
    file = tmp_path / "rui.jsonl"
    file.write_text("mine")
    with pytest.raises(CommandError, match="is there already"):
        run_command("export_spaces", file, "--tenant", source.slug)
    assert file.read_text() == "mine"
    with pytest.raises(CommandError, match="no subject"):
        run_command("export_spaces", tmp_path / "x", "--tenant", source.slug, "--subject", "nobody")
    with pytest.raises(CommandError, match="can't be written"):
        run_command("export_spaces", tmp_path / "no" / "x", "--tenant", source.slug)
    with pytest.raises(CommandError, match="no tenant"):
        run_command("export_spaces", tmp_path / "x", "--tenant", "nobody")
    assert [each.name for each in tmp_path.iterdir()] == ["rui.jsonl"]


@pytest.mark.parametrize("name", ["x.jsonl", "x.jsonl.gz"])
@pytest.mark.parametrize("data", [b"", b"hello", b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03xx"])
def test_what_can_not_be_read_is_said(
    elsewhere: Tenant, tmp_path: Path, name: str, data: bytes
) -> None:
    file = tmp_path / name
    file.write_bytes(data)
    with pytest.raises(CommandError):
        run_command("import_spaces", file, "--tenant", elsewhere.slug)
    with pytest.raises(CommandError, match="can't be read"):
        run_command("import_spaces", tmp_path / "missing", "--tenant", elsewhere.slug)
