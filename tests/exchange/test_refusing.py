"""Files that can't come in: what is said of them, and that nothing of them is left."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from typing import Any
from uuid import UUID, uuid4

import pytest

from memoryhub.dialogues.models import Turn
from memoryhub.engines import registry
from memoryhub.errors import Conflict, EngineError, InvalidInput
from memoryhub.exchange import file_format
from memoryhub.exchange.tables import SPACE_TABLES
from memoryhub.pipeline.erasure import erase_targets
from memoryhub.pipeline.erasure.erase_targets import ErasureTarget
from memoryhub.pipeline.models import Job
from memoryhub.tenants.models import Space, Tenant
from memoryhub.tenants.scope import tenant_scope
from notes.models import Entity, Fact, IndexEntry
from tests.support.export_files import (
    JULY,
    build_export_file,
    change_export_file,
    import_export_file,
    make_export_file,
    parse_lines,
)
from tests.support.factories import make_fact, make_space, make_turns
from tests.support.hub import ScriptedHub


@pytest.fixture
def data(db: None, elsewhere: Tenant) -> bytes:
    """A small space of a tenant, which is gone by the time it is imported."""
    with tenant_scope(elsewhere.id):
        space = make_space(elsewhere, "rui")
        make_turns(space, "I play chess.", "I live in Porto.")
        made = make_export_file(elsewhere, "rui")
        space.delete()
    return made


def count_rows(tenant: Tenant) -> int:
    with tenant_scope(tenant.id):
        kept = [kind.model._default_manager.count() for kind in SPACE_TABLES.values()]
        return sum(kept) + Space.objects.count() + Job.objects.count() + IndexEntry.objects.count()


def import_refused(tenant: Tenant, data: bytes, **wanted: Any) -> InvalidInput:
    with pytest.raises(InvalidInput) as error:
        import_export_file(tenant, data, **wanted)
    assert count_rows(tenant) == 0
    return error.value


def change_first(kind: str, /, **values: Any) -> Callable[[bytes], bytes]:
    return lambda data: change_export_file(data, (kind, values))


def remove_field(kind: str, name: str) -> Callable[[bytes], bytes]:
    def edit(data: bytes) -> bytes:
        told = parse_lines(data)[:-1]
        at = next(n for n, line in enumerate(told) if line.get("row") == kind)
        del told[at][name]
        return build_export_file(told)

    return edit


def repeat_line(kind: str) -> Callable[[bytes], bytes]:
    def edit(data: bytes) -> bytes:
        told = parse_lines(data)[:-1]
        again = next(line for line in told if line.get("row") == kind)
        told[0]["counts"][kind] += 1
        return build_export_file([*told, again])

    return edit


def replace_line(number: int, line: bytes) -> Callable[[bytes], bytes]:
    def edit(data: bytes) -> bytes:
        told: list[Any] = parse_lines(data)[:-1]
        told[number - 1] = line
        return build_export_file(told)

    return edit


@pytest.mark.parametrize(
    ("edit", "line", "says"),
    [
        (lambda data: b"", 1, "empty"),
        (lambda data: b"\n", 1, "no JSON"),
        (lambda data: b"\x1f\x8b\x08\x00", 1, "compressed, unpack it first"),
        (lambda data: b"\xff\xfe", 1, "UTF-8"),
        (lambda data: b'{"results": []}\n', 1, "no header"),
        (lambda data: data.split(b"\n")[0] + b"\n", 1, "cut short"),
        (lambda data: data[: data.index(b"chess")], 4, "no JSON"),
        (lambda data: b"\n".join(data.split(b"\n")[:-2]) + b"\n", 5, "cut short"),
        (lambda data: data.replace(b"chess", b"chest"), 6, "checksum"),
        (change_first("", version="3.0"), 1, "version 3.0; this hub reads versions 1 and 2"),
        (change_first("", version=None), 1, "version"),
        (change_first("", scope="world"), 1, "scope"),
        (change_first("", counts={"turn": "2"}), 1, "counts"),
        (change_first("", counts={"turn": 3}), 1, "counts 3 of turn; there are 2"),
        (change_first("turn", row=None), 4, "row"),
        (change_first("turn", role="king"), 4, "turn: role is none of"),
        (change_first("turn", text=7), 4, "turn: text is not text"),
        (change_first("turn", text="a\0b"), 4, "NUL"),
        (change_first("turn", metadata={"a": "b\0"}), 4, "NUL"),
        (change_first("turn", speaker="x" * 121), 4, "speaker has more than 120 characters"),
        (change_first("turn", seq=True), 4, "seq is not a whole number"),
        (change_first("turn", seq=2**63), 4, "seq is not between"),
        (change_first("turn", occurred_at="yesterday"), 4, "occurred_at"),
        (change_first("turn", occurred_at="2026-05-01T10:00:00"), 4, "no time zone"),
        (change_first("turn", occurred_at="0001-01-01T00:00:00+00:00"), 4, "years"),
        (change_first("turn", id="7"), 4, "turn: id"),
        (change_first("turn", metadata=[]), 4, "metadata is not a dict"),
        (change_first("turn", lang=None), 4, "lang is null"),
        (
            change_first("turn", session_id=str(UUID(int=5))),
            4,
            "session_id names no session before it",
        ),
        (remove_field("turn", "text"), 4, "turn: text is missing"),
        (remove_field("turn", "id"), 4, "turn: id is missing"),
        (remove_field("space", "subject"), 2, "space: subject is missing"),
        (change_first("space", timezone="Moon/North"), 2, "timezone"),
        (change_first("space", timezone="../../etc"), 2, "timezone"),
        (change_first("space", next_seq=0), 2, "next_seq"),
        (change_first("space", row="planet"), 3, "session stands before any space"),
        (repeat_line("turn"), 6, "turn: its id was given before"),
        (repeat_line("space"), 6, "second space"),
        (replace_line(4, b"[" * 100_000), 4, "deeply"),
        (replace_line(4, b"[]"), 4, "no JSON object"),
        (replace_line(4, b'{"row": "turn", "seq": NaN}'), 4, "NaN"),
        (replace_line(4, b'{"row": "segment", "score": 1e999}'), 4, "too large"),
        (replace_line(4, b'{"row": "turn", "text": "\\ud800"}'), 4, "halves"),
        (replace_line(4, b'{"row": "vector"}'), 4, "vector"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(
    data: bytes, elsewhere: Tenant, edit: Callable[[bytes], bytes], line: int, says: str
) -> None:
    error = import_refused(elsewhere, edit(data))
    assert error.status == 422
    assert error.extra.get("line") == line
    assert f"line {line}: " in error.message
    assert says in error.message


@pytest.mark.parametrize(
    ("sent", "system"),
    [
        (b'[{"memory": "Rows"}]', "mem0"),
        (b'{"results": [{"memory": "Rows"}]}', "mem0"),
        (b'{"chat_messages": []}\n{}\n', "Claude"),
        (b'[{"memory": "Rows"}, {"mem', "mem0"),
    ],
)
def test_a_file_of_another_system_is_called_by_its_name(
    data: bytes, elsewhere: Tenant, sent: bytes, system: str
) -> None:
    error = import_refused(elsewhere, sent)
    assert (error.status, error.code) == (422, "bad_line")
    assert f"this is a file of {system}, not an export of MemoryHub" in error.message


def test_a_line_has_an_end(data: bytes, elsewhere: Tenant, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_format, "MOST_BYTES", 300)
    assert "longer than 300 bytes" in import_refused(elsewhere, data).message


def test_what_a_newer_hub_may_have_written_is_left_out_and_told(
    data: bytes, elsewhere: Tenant
) -> None:
    newer = change_export_file(
        data, ("", {"version": "2.7", "by": "x"}), ("turn", {"mood": "glad"})
    )
    told = [*parse_lines(newer)[:-1], {"row": "dream", "id": "1"}]
    report = import_export_file(elsewhere, build_export_file(told))
    assert report.ignored == {"turn.mood": 1, "dream": 1}
    assert report.counts["turn"] == 2


def test_backslashes_are_not_taken_for_what_they_escape(elsewhere: Tenant) -> None:
    with tenant_scope(elsewhere.id):
        make_turns(make_space(elsewhere, "rui"), r"A NUL is written \u0000, half of one \ud83d.")
        made = make_export_file(elsewhere, "rui")
        Space.objects.all().delete()
    import_export_file(elsewhere, made)
    with tenant_scope(elsewhere.id):
        assert Turn.objects.get().text == r"A NUL is written \u0000, half of one \ud83d."


def test_I8_rows_of_others_can_not_be_named(
    full: ScriptedHub, data: bytes, elsewhere: Tenant
) -> None:
    """The database alone would let a row name any tenant's (I8)."""
    with tenant_scope(full.tenant.id):
        session = Turn.objects.earliest("seq").session_id
    forged = change_export_file(data, ("turn", {"session_id": str(session)}))
    assert "names no session before it" in import_refused(elsewhere, forged).message


def test_I8_rows_of_the_tenants_other_spaces_can_not_be_named(
    full: ScriptedHub, data: bytes
) -> None:
    with tenant_scope(full.tenant.id):
        entity = Entity.objects.earliest("id")
    row = {"id": str(uuid4()), "name": "x", "canonical_key": "x", "merged_into_id": str(entity.id)}
    forged = build_export_file([*parse_lines(data)[:-1], {"row": "entity", **row}])
    with pytest.raises(InvalidInput, match="merged_into_id names no entity of the file"):
        import_export_file(full.tenant, forged)
    with tenant_scope(full.tenant.id):
        assert not Space.objects.filter(subject="rui").exists()


def test_a_subject_that_has_memories_is_left_alone(full: ScriptedHub, data: bytes) -> None:
    before = make_export_file(full.tenant, "Ana")
    with pytest.raises(Conflict) as error:
        import_export_file(full.tenant, data, subject="Ana")
    assert error.value.code == "not_empty"
    assert error.value.extra["held"]["turn"] > 0
    assert make_export_file(full.tenant, "Ana") == before


def test_a_dry_run_says_what_would_come_in_and_leaves_nothing(
    full: ScriptedHub, elsewhere: Tenant
) -> None:
    data = make_export_file(full.tenant, "Ana", embeddings=True)
    rehearsed = import_export_file(elsewhere, data, dry_run=True)
    assert count_rows(elsewhere) == 0
    done = import_export_file(elsewhere, data)
    assert (rehearsed.counts, rehearsed.ids) == (done.counts, done.ids)
    with pytest.raises(Conflict):
        import_export_file(elsewhere, data, dry_run=True)


def test_a_policy_that_can_not_be_followed_is_refused(data: bytes, elsewhere: Tenant) -> None:
    row = {"row": "policyversion", "id": str(uuid4()), "version": 1, "actor": "x"}
    row |= {"created_at": "2026-05-01T00:00:00+00:00", "preset": "", "overrides": {"a.b": 1}}
    told = parse_lines(data)[:-1]
    with pytest.raises(Conflict, match="there is no switch") as error:
        import_export_file(elsewhere, build_export_file([*told[:2], row, *told[2:]]))
    assert error.value.code == "policy_unusable"
    assert count_rows(elsewhere) == 0


def test_a_file_of_a_tenant_has_no_subject_of_its_own(elsewhere: Tenant) -> None:
    assert import_refused(elsewhere, make_export_file(elsewhere), subject="rui").field == "subject"


def erase_rows(hub: ScriptedHub, kind: Any, *ids: UUID) -> None:
    erase_targets.execute_erasure(hub.space, ErasureTarget(kind, ids), "eva", hub.now)


def test_X6_nothing_erased_is_in_a_file(full: ScriptedHub) -> None:
    with tenant_scope(full.tenant.id):
        turn = Turn.objects.get(text__contains="Zanzibar")
    erase_rows(full, "turns", turn.id)
    data = make_export_file(full.tenant, "Ana", embeddings=True)
    assert b"Zanzibar" not in data
    assert json.loads(data.splitlines()[0])["counts"]["turn"] == 7
    assert b"anzibar" not in make_export_file(full.tenant)


@pytest.mark.parametrize("what", ["turns", "facts", "subject"])
def test_what_was_erased_does_not_come_back_with_an_older_file(
    full: ScriptedHub, what: str
) -> None:
    data = make_export_file(full.tenant, "Ana")
    with tenant_scope(full.tenant.id):
        turn = Turn.objects.get(text__contains="Zanzibar")
        fact = Fact.objects.get(object="Zanzibar")
    ids = {"turns": (turn.id,), "facts": (fact.id,), "subject": ()}[what]
    erase_rows(full, what, *ids)
    with pytest.raises(Conflict, match="was erased here") as error:
        import_export_file(full.tenant, data, subject="again")
    assert error.value.code == "erased_since"
    assert error.value.extra["line"] > 1
    report = import_export_file(full.tenant, data, subject="again", restore_erased=True)
    assert report.counts["turn"] == 7


def test_a_turn_that_was_cut_comes_back_with_its_bars_but_not_whole(elsewhere: Tenant) -> None:
    with tenant_scope(elsewhere.id):
        space = make_space(elsewhere, "rui")
        (turn,) = make_turns(space, "Rui plays chess, and the rent is two grand.")
        fact = make_fact(space, "Rui plays chess", turn)
    lines = make_export_file(elsewhere, "rui").splitlines(keepends=True)
    old = change_export_file(b"".join(lines), ("fact", {"text_key": "another"}))
    target = ErasureTarget("facts", (fact.id,), sources=True)
    erase_targets.execute_erasure(space, target, "eva", JULY)
    data = make_export_file(elsewhere, "rui")
    assert b"chess" not in data
    assert "█".encode() in data or b"\\u2588" in data
    with pytest.raises(Conflict, match="this message was erased here"):
        import_export_file(elsewhere, old, subject="again")
    assert import_export_file(elsewhere, data, subject="again").counts["turn"] == 1


def test_the_embedder_may_be_down(
    data: bytes, elsewhere: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    def down(settings: object) -> None:
        raise EngineError("no weights")

    monkeypatch.setattr(registry, "get_embedder", down)
    assert import_export_file(elsewhere, data).counts["turn"] == 2


def test_reading_ahead_leaves_the_last_line_out(data: bytes) -> None:
    numbers = [number for number, _ in file_format.read_lines(io.BytesIO(data))]
    assert numbers == [2, 3, 4, 5]
