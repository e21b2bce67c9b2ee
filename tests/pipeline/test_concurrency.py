from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import connection

from memoryhub.dialogues.messages import Message
from memoryhub.dialogues.models import Turn
from memoryhub.errors import Conflict, NotFound
from memoryhub.golden.services import save_question
from memoryhub.pipeline.corrections import (
    correct_fact,
    correct_profile,
    correct_trait,
    describe_note,
)
from memoryhub.pipeline.erasure.erase_targets import ErasureTarget, execute_erasure
from memoryhub.pipeline.ingest.given import GivenFact, remember_fact
from memoryhub.pipeline.ingest.services import (
    IngestRequest,
    ingest_messages,
    run_space,
    wait_for_job,
)
from memoryhub.pipeline.models import Job
from memoryhub.policies.services import set_policy
from memoryhub.tenants.models import Space, Tenant
from memoryhub.tenants.scope import tenant_scope
from memoryhub.tenants.services import create_tenant, ensure_space, lock_space
from notes.models import Fact, Note
from personas.blocks import BlockWriter, create_block, revise_block
from personas.models import ProfileAttribute, Trait
from tests.support.factories import make_fact, make_note
from tests.support.threads import run_in_threads

pytestmark = pytest.mark.django_db(transaction=True)

AT = datetime(2026, 3, 4, 18, tzinfo=UTC)
CITIES = ["Porto", "Braga", "Faro", "Evora", "Leiria"]


@pytest.fixture(autouse=True)
def _no_broker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memoryhub.pipeline.ingest.services.ring_worker", lambda *ids: None)


def ingest_line(tenant: Tenant, subject: str, number: int, text: str = "") -> None:
    message = Message(
        "user",
        text or f"I have lived in {CITIES[number % 5]} for {number + 1} years.",
        "Ana",
        AT + timedelta(days=number),
        f"m-{number}",
    )
    ingest_messages(tenant.id, IngestRequest(subject, [message], session="s"))


def test_X1_duplicate_delivery_twenty_times_at_once() -> None:
    tenant = create_tenant("One", "one")
    run_in_threads(20, lambda _: ingest_line(tenant, "ana", 0))
    with tenant_scope(tenant.id):
        assert Turn.objects.count() == 1
        assert Job.objects.count() == 1


def test_X2_twenty_turns_at_once_are_numbered_without_gaps() -> None:
    tenant = create_tenant("One", "one")
    run_in_threads(20, lambda n: ingest_line(tenant, "ana", n))
    with tenant_scope(tenant.id):
        assert sorted(Turn.objects.values_list("seq", flat=True)) == list(range(1, 21))
        assert sorted(Turn.objects.values_list("ordinal", flat=True)) == list(range(1, 21))


def list_fact_texts(tenant: Tenant, subject: str) -> set[str]:
    with tenant_scope(tenant.id):
        rows = Fact.objects.filter(space__subject=subject)
        return set(rows.values_list("text", flat=True))


def test_X2_what_was_said_at_once_is_derived_as_if_one_by_one() -> None:
    tenant = create_tenant("One", "one")

    def text(number: int) -> str:
        return f"I bought {number + 2} boats in {CITIES[number % 5]}."

    run_in_threads(20, lambda n: ingest_line(tenant, "together", n, text(n)))
    for number in range(20):
        ingest_line(tenant, "alone", number, text(number))
    with tenant_scope(tenant.id):
        spaces = dict(Space.objects.values_list("subject", "id"))
        said = Turn.objects.filter(space_id=spaces["together"])
        assert sorted(said.values_list("seq", flat=True)) == list(range(1, 21))
    run_in_threads(2, lambda _: run_space(tenant.id, spaces["together"]))
    for subject in ("together", "alone"):
        run_space(tenant.id, spaces[subject])
    together, alone = (count_mentions(tenant, subject) for subject in ("together", "alone"))
    assert together == alone
    assert len(alone) == 20


def count_mentions(tenant: Tenant, subject: str) -> dict[str, tuple[int, str]]:
    """Each fact's text with how often it was said and when it came to be so."""
    with tenant_scope(tenant.id):
        rows = list(Fact.objects.filter(space__subject=subject))
    assert len({row.text for row in rows}) == len(rows)
    return {row.text: (row.mention_count, row.valid_from.isoformat()) for row in rows}


def test_X2_several_workers_on_one_space_derive_what_one_would() -> None:
    tenant = create_tenant("One", "one")
    for number in range(10):
        for subject in ("together", "alone"):
            ingest_line(
                tenant, subject, number, f"I bought {number + 2} boats in {CITIES[number % 5]}."
            )
    with tenant_scope(tenant.id):
        spaces = {job.space.subject: job.space_id for job in Job.objects.select_related("space")}
    ran = run_in_threads(4, lambda _: run_space(tenant.id, spaces["together"]))
    run_space(tenant.id, spaces["together"])
    run_space(tenant.id, spaces["alone"])
    with tenant_scope(tenant.id):
        done = Job.objects.filter(state="done")
        assert sum(ran) <= done.filter(space=spaces["together"]).count()
        derived = Job.objects.filter(step="derive")
        assert set(derived.values_list("state", flat=True)) == {"done"}
        assert set(done.values_list("attempts", flat=True)) == {1}
    assert list_fact_texts(tenant, "together") == list_fact_texts(tenant, "alone") != set()


def test_rows_that_name_a_space_are_written_while_messages_are_numbered() -> None:
    """Who waited would hold pages that the message waits for: a deadlock."""
    tenant = create_tenant("One", "one")
    with tenant_scope(tenant.id):
        space = ensure_space(tenant.id, "ana")

    def write(_: int) -> None:
        with tenant_scope(tenant.id), connection.cursor() as cursor:
            cursor.execute("SET LOCAL lock_timeout = '2s'")
            make_fact(space, "Ana lives in Porto.")

    with tenant_scope(tenant.id):
        lock_space(space)
        run_in_threads(1, write)
    with tenant_scope(tenant.id):
        assert Fact.objects.count() == 1


def remember_line(tenant: Tenant, text: str, **more: Any) -> None:
    remember_fact(tenant.id, GivenFact("ana", text, **more), "eva")


def test_values_of_one_matter_that_are_given_at_once_follow_each_other() -> None:
    tenant = create_tenant("One", "one")
    homes = [{"text": f"Ana lives in {c}.", "predicate": "lives_in", "value": c} for c in CITIES]
    run_in_threads(5, lambda n: remember_line(tenant, **homes[n]))
    with tenant_scope(tenant.id):
        assert set(Fact.objects.values_list("object", flat=True)) == set(CITIES)
        assert Fact.objects.filter(valid_to=None).count() == 1


def test_the_same_fact_that_is_given_at_once_is_held_once() -> None:
    tenant = create_tenant("One", "one")
    run_in_threads(5, lambda _: remember_line(tenant, "Ana is allergic to nuts."))
    with tenant_scope(tenant.id):
        assert [fact.mention_count for fact in Fact.objects.all()] == [5]
        assert Turn.objects.count() == 5


@pytest.mark.parametrize("act", ["create", "rename"])
def test_a_label_that_several_blocks_take_at_once_goes_to_one(act: str) -> None:
    tenant = create_tenant("One", "one")
    with tenant_scope(tenant.id):
        space = ensure_space(tenant.id, "ana")
        made = [
            create_block(write_as_eva(space), f"b{n}", space=space, tenant_id=tenant.id)
            for n in range(5)
        ]

    def take(number: int) -> str:
        try:
            with tenant_scope(tenant.id):
                if act == "create":
                    create_block(write_as_eva(space), "human", space=space, tenant_id=tenant.id)
                else:
                    revise_block(write_as_eva(space), made[number].id, label="human")
        except Conflict as error:
            return error.code
        return "taken"

    assert sorted(run_in_threads(5, take)) == [*["label_taken"] * 4, "taken"]


def write_as_eva(space: Space) -> BlockWriter:
    return BlockWriter("eva", "person", AT, space)


def test_what_is_said_of_a_person_at_once_is_written_one_after_the_other() -> None:
    tenant = create_tenant("One", "one")
    with tenant_scope(tenant.id):
        space = ensure_space(tenant.id, "ana")

    def say(number: int) -> None:
        if number % 2:
            correct_profile(space, "hobby", f"chess {number}", "eva", AT)
        else:
            correct_trait(space, "honesty", ("high", "low")[number // 2 % 2], "eva", AT)

    run_in_threads(6, say)
    with tenant_scope(tenant.id):
        assert ProfileAttribute.objects.filter(retired_at=None).count() == 1
        assert Trait.objects.filter(valid_to=None).count() == 1


def test_of_erasures_of_one_subject_at_once_one_is_done() -> None:
    tenant = create_tenant("One", "one")
    with tenant_scope(tenant.id):
        space = ensure_space(tenant.id, "ana")
        make_fact(space, "Ana lives in Porto.")

    def erase(_: int) -> str:
        try:
            execute_erasure(space, ErasureTarget("subject"), "eva", AT)
        except NotFound:
            return "gone"
        return "erased"

    assert sorted(run_in_threads(4, erase)) == ["erased", "gone", "gone", "gone"]


def test_who_writes_while_the_subject_is_erased_is_told_that_it_is_gone() -> None:
    """And the erasure is done, whatever is written of the subject in the middle of it."""
    tenant = create_tenant("One", "one")
    with tenant_scope(tenant.id):
        space = ensure_space(tenant.id, "ana")
        fact = make_fact(space, "Ana lives in Porto.")
        note = make_note(space, "Ana lives in Porto.")

    writes: list[Callable[[], object]] = [
        lambda: execute_erasure(space, ErasureTarget("subject"), "eva", AT),
        lambda: correct_fact(space, fact.id, "Ana lives in Braga.", "eva", AT),
        lambda: correct_fact(space, fact.id, "Ana lives in Faro.", "rui", AT),
        lambda: describe_note(space, note.id, "eva", AT, context="home"),
        lambda: describe_note(space, note.id, "rui", AT, context="town"),
        lambda: set_policy(tenant.id, actor="eva", preset="mem0", space=space, now=AT),
        lambda: save_question(space, "Where is her home?", [("fact", fact.id)], "eva", AT),
    ]

    def write(number: int) -> str:
        try:
            writes[number]()
        except (NotFound, Conflict) as refused:
            return refused.code
        return "done"

    told = run_in_threads(len(writes), write)
    assert told[0] == "done"
    assert {*told} <= {"done", "not_found", "not_held", "no_change"}
    with tenant_scope(tenant.id):
        assert not Space.objects.filter(id=space.id).exists()


def test_who_waits_for_messages_that_are_erased_is_told_that_they_are_gone() -> None:
    tenant = create_tenant("One", "one")
    message = Message("user", "I live in Porto.", "Ana", AT, "m-1")
    said = ingest_messages(tenant.id, IngestRequest("ana", [message], session="s"))
    assert said.job is not None
    execute_erasure(said.space, ErasureTarget("subject"), "eva", AT)
    with pytest.raises(NotFound, match="erased meanwhile"):
        wait_for_job(tenant.id, said.job)


def test_what_names_a_space_that_was_erased_meanwhile_is_refused() -> None:
    tenant = create_tenant("One", "one")
    with tenant_scope(tenant.id):
        space = ensure_space(tenant.id, "ana")

    def write() -> None:
        with tenant_scope(tenant.id):
            make_fact(space, "Ana lives in Porto.")
            erased = run_in_threads(
                1, lambda _: execute_erasure(space, ErasureTarget("subject"), "eva", AT)
            )
            assert len(erased) == 1

    with pytest.raises(NotFound, match="no space with this subject"):
        write()


def test_a_note_that_many_describe_at_once_is_described_by_each() -> None:
    tenant = create_tenant("One", "one")
    with tenant_scope(tenant.id):
        space = ensure_space(tenant.id, "ana")
        note = make_note(space, "Ana lives in Porto.")
    run_in_threads(8, lambda n: describe_note(space, note.id, "eva", AT, context=f"home {n}"))
    with tenant_scope(tenant.id):
        assert Note.objects.get(id=note.id).version == note.version + 8
