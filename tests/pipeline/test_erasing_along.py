"""What an erased message told besides goes from the replies that repeat it."""

from __future__ import annotations

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


def test_what_else_an_erased_message_told_goes_from_replies() -> None:
    tenant = create_tenant("One", "one")
    for at, (role, text, session) in enumerate(SAID):
        message = Message(role, text, "Hub" if role == "assistant" else "", AT + timedelta(days=at))
        ingest_and_wait(tenant.id, IngestRequest("ana", [message], session))
    with tenant_scope(tenant.id):
        space = Space.objects.get(subject="ana")
        told = Fact.objects.filter(space=space, text__contains="lawyer")
        chosen = told.get(text__contains="Delta Bank")
        assert told.count() > 1
    target = ErasureTarget("facts", (chosen.id,), sources=True)
    erase_targets.execute_erasure(space, target, "operator", AT + timedelta(days=9), reason="asked")
    with tenant_scope(tenant.id):
        texts = list(Turn.objects.filter(space=space).values_list("text", flat=True))
    assert not [text for text in texts if "lawyer" in text or "Delta" in text]
    assert [text for text in texts if "You sing" in text]
