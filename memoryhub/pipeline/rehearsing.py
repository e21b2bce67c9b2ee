"""What would become of messages if they were added: every decision, and nothing written.

Turns, pages and a job are made in a transaction that is taken back once they have been read; the
engine reads them with nothing open, and decides against the claims that are really held.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from memoryhub.dialogues.models import Turn
from memoryhub.errors import TooLarge
from memoryhub.inference.ledger import accounting
from memoryhub.pipeline import claiming, queue, reading, wishing
from memoryhub.pipeline.drafting import draft
from memoryhub.pipeline.services import WAIT_CHARACTERS, IngestRequest, append
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope
from memoryhub.tenants.services import clean_subject, ensure_space
from notes.placing import form_pages


@dataclass(frozen=True, slots=True)
class Rehearsed:
    """`turns` would be stored, `new` of them for the first time; `decisions` as a job shows them.

    `is_new`: the subject has no space yet.
    """

    is_new: bool
    turns: list[Turn]
    new: list[Turn]
    decisions: list[dict[str, Any]]


def rehearse(tenant_id: UUID, request: IngestRequest, now: datetime | None = None) -> Rehearsed:
    """Decide without writing. Calls models, which are accounted for: call outside any scope.

    Raises EngineError when a model fails, TooLarge for more than a request can wait for.
    """
    now = now or timezone.now()
    if sum(len(message.content) for message in request.messages) > WAIT_CHARACTERS:
        raise TooLarge(
            _("a dry run reads at most %(limit)s characters") % {"limit": f"{WAIT_CHARACTERS:,}"},
            field="messages",
        )
    is_new, turns, new, batch = _imagined(tenant_id, request, now)
    if not batch.turns:
        return Rehearsed(is_new, turns, new, [])
    with accounting(tenant_id, space_id=None if is_new else batch.space.id, at=now) as ledger:
        try:
            return Rehearsed(is_new, turns, new, _decided(batch, now))
        finally:
            ledger.drop_words()  # of what was never said to the hub


def _imagined(
    tenant_id: UUID, request: IngestRequest, now: datetime
) -> tuple[bool, list[Turn], list[Turn], reading.Batch]:
    with tenant_scope(tenant_id):
        subject = clean_subject(request.subject)
        is_new = not Space.objects.filter(subject=subject).exists()
        with transaction.atomic():
            space = ensure_space(tenant_id, subject)
            appended = append(space, request, now)
            form_pages(appended.session, appended.new)
            seqs = [turn.seq for turn in appended.new] or [0]
            job = queue.enqueue(space, seqs[0], seqs[-1], now)
            batch = reading.imagined(job, appended.new)
            transaction.set_rollback(True)
    return is_new, appended.turns, appended.new, batch


def _decided(batch: reading.Batch, now: datetime) -> list[dict[str, Any]]:
    made = draft(batch, now)
    space, policy, reader = batch.space, batch.policy, made.reader
    claims = claiming.prepare(space, policy, made.facts, reader, made.embedder, now)
    wishes = wishing.prepare(space, policy, batch.own_words, reader, made.embedder)
    return [each.shown() for each in claims.decided] + [wish.shown() for wish in wishes]
