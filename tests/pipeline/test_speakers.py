"""Whose space it is, where applications call the subject by one name and who speaks by another."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from memoryhub.dialogues.messages import Message
from memoryhub.pipeline.ingest.services import IngestRequest
from memoryhub.recall.answers import answer_question
from memoryhub.tenants.models import Space, Tenant
from memoryhub.tenants.scope import tenant_scope
from memoryhub.tenants.services import create_tenant
from notes.models import Fact
from tests.support.ingest import ingest_and_wait

pytestmark = pytest.mark.django_db
AT = datetime(2026, 3, 2, 10, tzinfo=UTC)


@pytest.fixture
def tenant() -> Tenant:
    return create_tenant("One", "one")


def tell(tenant: Tenant, subject: str, *said: tuple[str, str]) -> Space:
    for at, (speaker, text) in enumerate(said):
        message = Message("user", text, speaker, AT + timedelta(days=at))
        ingest_and_wait(tenant.id, IngestRequest(subject, [message]))
    with tenant_scope(tenant.id):
        return Space.objects.get(subject=subject)


@pytest.mark.parametrize(
    ("subject", "speaker", "called"),
    [
        ("user-42", "Petra", "Petra"),
        ("ana", "Ana Ferreira", "Ana Ferreira"),
        ("petra-novak", "Petra", "Petra"),
        ("user-42", "u_7781", "the user"),
    ],
)
def test_E25_who_alone_writes_is_the_subject(
    tenant: Tenant, subject: str, speaker: str, called: str
) -> None:
    space = tell(tenant, subject, (speaker, "I am allergic to hay."))
    assert space.display_name == called
    assert "hay" in answer_question(space, "What am I allergic to?").text


@pytest.mark.parametrize("speaker", ["", "u_7781", "user-42"])
def test_E25_who_speaks_chinese_under_an_id_is_called_so_in_chinese(
    tenant: Tenant, speaker: str
) -> None:
    space = tell(tenant, "user-42", (speaker, "我对芒果过敏。"))
    assert (space.display_name, space.former_names) == (
        "用户",
        ["u_7781"] if speaker == "u_7781" else [],
    )


def test_E25_a_note_of_words_under_an_id_answers_as_the_subjects(tenant: Tenant) -> None:
    space = tell(tenant, "user-42", ("user-42", "Hi, I'm Petra. I love chess."))
    assert "chess" in answer_question(space, "what do i love").text
    assert "user-42" not in answer_question(space, "what do i love").text


def test_E25_a_whole_name_is_learned_from_a_greeting(tenant: Tenant) -> None:
    space = tell(tenant, "callum-w", ("callum-w", "Hi! I'm Callum Whitlock. I love chess."))
    assert space.display_name == "Callum Whitlock"
    with tenant_scope(tenant.id):
        told = list(Fact.objects.filter(space=space).values_list("text", flat=True))
    assert told == ["Callum Whitlock loves chess."]


def test_E25_the_words_said_before_a_name_was_given_are_theirs_too(tenant: Tenant) -> None:
    space = tell(tenant, "user-42", ("", "I am allergic to hay."), ("Petra", "I live in Leeds."))
    assert space.display_name == "Petra"
    assert "hay" in answer_question(space, "What is Petra allergic to?").text


@pytest.mark.parametrize(
    ("subject", "said"),
    [
        ("john", [("Maria", "I am allergic to hay.")]),
        ("John Silva", [("John Lopez", "I am allergic to hay.")]),
        ("john", [("John", "I live in Leeds."), ("Maria", "I am allergic to hay.")]),
        ("user-42", [("Petra", "I live in Leeds."), ("Tom", "I am allergic to hay.")]),
    ],
)
def test_E25_somebody_else_stays_somebody_else(
    tenant: Tenant, subject: str, said: list[tuple[str, str]]
) -> None:
    space = tell(tenant, subject, *said)
    assert space.display_name not in ("Maria", "Tom", "John Lopez")
    assert "hay" not in answer_question(space, "What am I allergic to?").text
