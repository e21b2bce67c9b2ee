"""What an erased message told goes from the replies that repeat it."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

import pytest

from memoryhub.dialogues.messages import Message
from memoryhub.dialogues.models import Turn
from memoryhub.pipeline.erasure import erase_targets
from memoryhub.pipeline.erasure.erase_targets import ErasureTarget
from memoryhub.pipeline.ingest.services import IngestRequest
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope
from memoryhub.tenants.services import create_tenant
from notes.models import Fact
from tests.support.ingest import ingest_and_wait

pytestmark = pytest.mark.django_db
AT = datetime(2026, 3, 2, 10, tzinfo=UTC)
SAID = [
    ("user", "I work at Delta Bank as a lawyer.", "work"),
    ("user", "I sing in a choir on Fridays.", "songs"),
    ("assistant", "This is what I remember:\n– You work as a lawyer.\n– You sing.", "later"),
]


def say_all(said: Iterable[tuple[str, str, str]]) -> Space:
    """Each message a day after the one before."""
    tenant = create_tenant("One", "one")
    for at, (role, text, session) in enumerate(said):
        message = Message(role, text, "Hub" if role == "assistant" else "", AT + timedelta(days=at))
        ingest_and_wait(tenant.id, IngestRequest("ana", [message], session))
    with tenant_scope(tenant.id):
        return Space.objects.get(subject="ana")


def erase(space: Space, target: ErasureTarget) -> list[str]:
    """Returns what the messages say afterwards."""
    erase_targets.execute_erasure(space, target, "operator", AT + timedelta(days=9), reason="asked")
    with tenant_scope(space.tenant_id):
        return list(Turn.objects.filter(space=space).values_list("text", flat=True))


def test_what_else_an_erased_message_told_goes_from_replies() -> None:
    space = say_all(SAID)
    with tenant_scope(space.tenant_id):
        told = Fact.objects.filter(space=space, text__contains="lawyer")
        chosen = told.get(text__contains="Delta Bank")
        assert told.count() > 1
    texts = erase(space, ErasureTarget("facts", (chosen.id,), sources=True))
    assert not [text for text in texts if "lawyer" in text or "Delta" in text]
    assert [text for text in texts if "You sing" in text]


@pytest.mark.parametrize("sources", [True, False])
def test_what_only_a_chosen_message_told_goes_from_replies_where_it_is_wished(
    sources: bool,
) -> None:
    space = say_all(
        [
            ("user", "Isla and I broke up. She moved out on Sunday.", "isla"),
            ("user", "I sing in a choir on Fridays.", "songs"),
            ("assistant", "Isla and I broke up. She moved out on Sunday. (March 2026)", "chat"),
            ("assistant", "You sing in a choir.", "chat"),
        ]
    )
    with tenant_scope(space.tenant_id):
        chosen = Turn.objects.get(space=space, role="user", text__contains="Isla")
    texts = erase(space, ErasureTarget("turns", (chosen.id,), sources))
    assert bool([text for text in texts if "Isla" in text]) is not sources
    assert "You sing in a choir." in texts, "what another message told stays"


def test_what_a_message_told_that_goes_besides_a_fact_goes_from_replies() -> None:
    space = say_all(SAID)
    with tenant_scope(space.tenant_id):
        song = Fact.objects.filter(space=space, text__contains="choir").first()
        work = Turn.objects.get(space=space, role="user", text__contains="Delta")
        assert song is not None
    texts = erase(space, ErasureTarget("facts", (song.id,), sources=True, turns=(work.id,)))
    assert not [text for text in texts if "lawyer" in text or "Delta" in text]
