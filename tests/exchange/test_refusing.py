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
from memoryhub.exchange import lines
from memoryhub.exchange.kinds import OF_SPACE
from memoryhub.pipeline import erasing
from memoryhub.pipeline.erasing import Target
from memoryhub.pipeline.models import Job
from memoryhub.tenants.models import Space, Tenant
from memoryhub.tenants.scope import tenant_scope
from notes.models import Entity, Fact, IndexEntry
from tests.support.exchanging import bring, changed, file_of, parsed, whole
from tests.support.factories import make_space, make_turns
from tests.support.hub import Hub


@pytest.fixture
def data(db: None, elsewhere: Tenant) -> bytes:
    """A small space of a tenant, which is gone by the time it is imported."""
    with tenant_scope(elsewhere.id):
        space = make_space(elsewhere, "rui")
        make_turns(space, "I play chess.", "I live in Porto.")
        made = file_of(elsewhere, "rui")
        space.delete()
    return made


def rows_of(tenant: Tenant) -> int:
    with tenant_scope(tenant.id):
        kept = [kind.model._default_manager.count() for kind in OF_SPACE.values()]
        return sum(kept) + Space.objects.count() + Job.objects.count() + IndexEntry.objects.count()


def refused(tenant: Tenant, data: bytes, **wanted: Any) -> InvalidInput:
    with pytest.raises(InvalidInput) as error:
        bring(tenant, data, **wanted)
    assert rows_of(tenant) == 0
    return error.value


def first(kind: str, /, **values: Any) -> Callable[[bytes], bytes]:
    return lambda data: changed(data, (kind, values))


def without(kind: str, name: str) -> Callable[[bytes], bytes]:
    def edit(data: bytes) -> bytes:
        told = parsed(data)[:-1]
        at = next(n for n, line in enumerate(told) if line.get("row") == kind)
        del told[at][name]
        return whole(told)

    return edit


def twice(kind: str) -> Callable[[bytes], bytes]:
    def edit(data: bytes) -> bytes:
        told = parsed(data)[:-1]
        again = next(line for line in told if line.get("row") == kind)
        told[0]["counts"][kind] += 1
        return whole([*told, again])

    return edit


def raw(number: int, line: bytes) -> Callable[[bytes], bytes]:
    def edit(data: bytes) -> bytes:
        told: list[Any] = parsed(data)[:-1]
        told[number - 1] = line
        return whole(told)

    return edit


@pytest.mark.parametrize(
    ("edit", "line", "says"),
    [
        (lambda data: b"", 1, "empty"),
        (lambda data: b"\n", 1, "no JSON"),
        (lambda data: b"\x1f\x8b\x08\x00", 1, "UTF-8"),
        (lambda data: b'{"results": []}\n', 1, "no header"),
        (lambda data: data.split(b"\n")[0] + b"\n", 1, "cut short"),
        (lambda data: data[: data.index(b"chess")], 4, "no JSON"),
        (lambda data: b"\n".join(data.split(b"\n")[:-2]) + b"\n", 5, "cut short"),
        (lambda data: data.replace(b"chess", b"chest"), 6, "checksum"),
        (first("", version="2.0"), 1, "version 2.0; this hub reads version 1"),
        (first("", version=None), 1, "version"),
        (first("", scope="world"), 1, "scope"),
        (first("", counts={"turn": "2"}), 1, "counts"),
        (first("", counts={"turn": 3}), 1, "counts 3 of turn; there are 2"),
        (first("turn", row=None), 4, "row"),
        (first("turn", role="king"), 4, "turn: role is none of"),
        (first("turn", text=7), 4, "turn: text is not text"),
        (first("turn", text="a\0b"), 4, "NUL"),
        (first("turn", metadata={"a": "b\0"}), 4, "NUL"),
        (first("turn", speaker="x" * 121), 4, "speaker has more than 120 characters"),
        (first("turn", seq=True), 4, "seq is not a whole number"),
        (first("turn", seq=2**63), 4, "seq is not between"),
        (first("turn", occurred_at="yesterday"), 4, "occurred_at"),
        (first("turn", occurred_at="2026-05-01T10:00:00"), 4, "no time zone"),
        (first("turn", occurred_at="0001-01-01T00:00:00+00:00"), 4, "years"),
        (first("turn", id="7"), 4, "turn: id"),
        (first("turn", metadata=[]), 4, "metadata is not a dict"),
        (first("turn", lang=None), 4, "lang is null"),
        (first("turn", session_id=str(UUID(int=5))), 4, "session_id names no session before it"),
        (without("turn", "text"), 4, "turn: text is missing"),
        (without("turn", "id"), 4, "turn: id is missing"),
        (without("space", "subject"), 2, "space: subject is missing"),
        (first("space", timezone="Moon/North"), 2, "timezone"),
        (first("space", timezone="../../etc"), 2, "timezone"),
        (first("space", next_seq=0), 2, "next_seq"),
        (first("space", row="planet"), 3, "session stands before any space"),
        (twice("turn"), 6, "turn: its id was given before"),
        (twice("space"), 6, "second space"),
        (raw(4, b"[" * 100_000), 4, "deeply"),
        (raw(4, b"[]"), 4, "no JSON object"),
        (raw(4, b'{"row": "turn", "seq": NaN}'), 4, "NaN"),
        (raw(4, b'{"row": "segment", "score": 1e999}'), 4, "too large"),
        (raw(4, b'{"row": "turn", "text": "\\ud800"}'), 4, "halves"),
        (raw(4, b'{"row": "vector"}'), 4, "vector"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(
    data: bytes, elsewhere: Tenant, edit: Callable[[bytes], bytes], line: int, says: str
) -> None:
    error = refused(elsewhere, edit(data))
    assert error.status == 422
    assert error.extra.get("line") == line
    assert f"line {line}: " in error.message
    assert says in error.message


def test_a_line_has_an_end(data: bytes, elsewhere: Tenant, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "MOST_BYTES", 300)
    assert "longer than 300 bytes" in refused(elsewhere, data).message


def test_what_a_newer_hub_may_have_written_is_left_out_and_told(
    data: bytes, elsewhere: Tenant
) -> None:
    newer = changed(data, ("", {"version": "1.7", "by": "x"}), ("turn", {"mood": "glad"}))
    told = [*parsed(newer)[:-1], {"row": "dream", "id": "1"}]
    report = bring(elsewhere, whole(told))
    assert report.ignored == {"turn.mood": 1, "dream": 1}
    assert report.counts["turn"] == 2


def test_backslashes_are_not_taken_for_what_they_escape(elsewhere: Tenant) -> None:
    with tenant_scope(elsewhere.id):
        make_turns(make_space(elsewhere, "rui"), r"A NUL is written \u0000, half of one \ud83d.")
        made = file_of(elsewhere, "rui")
        Space.objects.all().delete()
    bring(elsewhere, made)
    with tenant_scope(elsewhere.id):
        assert Turn.objects.get().text == r"A NUL is written \u0000, half of one \ud83d."


def test_rows_of_others_can_not_be_named(full: Hub, data: bytes, elsewhere: Tenant) -> None:
    """The database alone would let a row name any tenant's (I8)."""
    with tenant_scope(full.tenant.id):
        session = Turn.objects.earliest("seq").session_id
    forged = changed(data, ("turn", {"session_id": str(session)}))
    assert "names no session before it" in refused(elsewhere, forged).message


def test_rows_of_the_tenants_other_spaces_can_not_be_named(full: Hub, data: bytes) -> None:
    with tenant_scope(full.tenant.id):
        entity = Entity.objects.earliest("id")
    row = {"id": str(uuid4()), "name": "x", "canonical_key": "x", "merged_into_id": str(entity.id)}
    forged = whole([*parsed(data)[:-1], {"row": "entity", **row}])
    with pytest.raises(InvalidInput, match="merged_into_id names no entity of the file"):
        bring(full.tenant, forged)
    with tenant_scope(full.tenant.id):
        assert not Space.objects.filter(subject="rui").exists()


def test_a_subject_that_has_memories_is_left_alone(full: Hub, data: bytes) -> None:
    before = file_of(full.tenant, "Ana")
    with pytest.raises(Conflict) as error:
        bring(full.tenant, data, subject="Ana")
    assert error.value.code == "not_empty"
    assert error.value.extra["held"]["turn"] > 0
    assert file_of(full.tenant, "Ana") == before


def test_a_dry_run_says_what_would_come_in_and_leaves_nothing(full: Hub, elsewhere: Tenant) -> None:
    data = file_of(full.tenant, "Ana", embeddings=True)
    rehearsed = bring(elsewhere, data, dry_run=True)
    assert rows_of(elsewhere) == 0
    done = bring(elsewhere, data)
    assert (rehearsed.counts, rehearsed.ids) == (done.counts, done.ids)
    with pytest.raises(Conflict):
        bring(elsewhere, data, dry_run=True)


def test_a_policy_that_can_not_be_followed_is_refused(data: bytes, elsewhere: Tenant) -> None:
    row = {"row": "policyversion", "id": str(uuid4()), "version": 1, "actor": "x"}
    row |= {"created_at": "2026-05-01T00:00:00+00:00", "preset": "", "overrides": {"a.b": 1}}
    told = parsed(data)[:-1]
    with pytest.raises(Conflict, match="there is no switch") as error:
        bring(elsewhere, whole([*told[:2], row, *told[2:]]))
    assert error.value.code == "policy_unusable"
    assert rows_of(elsewhere) == 0


def test_a_file_of_a_tenant_has_no_subject_of_its_own(elsewhere: Tenant) -> None:
    assert refused(elsewhere, file_of(elsewhere), subject="rui").field == "subject"


def erased(hub: Hub, kind: Any, *ids: UUID) -> None:
    erasing.execute(hub.space, Target(kind, ids), "eva", hub.now)


def test_X6_nothing_erased_is_in_a_file(full: Hub) -> None:
    with tenant_scope(full.tenant.id):
        turn = Turn.objects.get(text__contains="Zanzibar")
    erased(full, "turns", turn.id)
    data = file_of(full.tenant, "Ana", embeddings=True)
    assert b"Zanzibar" not in data
    assert json.loads(data.splitlines()[0])["counts"]["turn"] == 7
    assert b"anzibar" not in file_of(full.tenant)


@pytest.mark.parametrize("what", ["turns", "facts", "subject"])
def test_what_was_erased_does_not_come_back_with_an_older_file(full: Hub, what: str) -> None:
    data = file_of(full.tenant, "Ana")
    with tenant_scope(full.tenant.id):
        turn = Turn.objects.get(text__contains="Zanzibar")
        fact = Fact.objects.get(o="Zanzibar")
    ids = {"turns": (turn.id,), "facts": (fact.id,), "subject": ()}[what]
    erased(full, what, *ids)
    with pytest.raises(Conflict, match="was erased here") as error:
        bring(full.tenant, data, subject="again")
    assert error.value.code == "erased_since"
    assert error.value.extra["line"] > 1
    report = bring(full.tenant, data, subject="again", restore_erased=True)
    assert report.counts["turn"] == 7


def test_the_embedder_may_be_down(
    data: bytes, elsewhere: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    def down(settings: object) -> None:
        raise EngineError("no weights")

    monkeypatch.setattr(registry, "get_embedder", down)
    assert bring(elsewhere, data).counts["turn"] == 2


def test_reading_ahead_leaves_the_last_line_out(data: bytes) -> None:
    numbers = [number for number, _ in lines.rows(io.BytesIO(data))]
    assert numbers == [2, 3, 4, 5]
