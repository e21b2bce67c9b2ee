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
from memoryhub.inference.ledger import open_ledger
from memoryhub.pipeline.ingest.services import MAX_WAIT_CHARACTERS, IngestRequest, append_messages
from memoryhub.pipeline.jobs import queue
from memoryhub.pipeline.naming import write_subject_name
from memoryhub.pipeline.steps.derive import forget_requests, read, resolve
from memoryhub.pipeline.steps.derive.extract import draft_batch
from memoryhub.pipeline.steps.derive.name_corrections import put_names_right
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope
from memoryhub.tenants.services import clean_subject, ensure_space
from notes.topics.segments import form_pages


@dataclass(frozen=True, slots=True)
class IngestPreview:
    """`turns` would be stored, `new` of them for the first time; `decisions` as a job shows them.

    `is_new`: the subject has no space yet.
    """

    is_new: bool
    turns: list[Turn]
    new: list[Turn]
    decisions: list[dict[str, Any]]


def preview_ingest(
    tenant_id: UUID, request: IngestRequest, now: datetime | None = None
) -> IngestPreview:
    """Decide without writing. Calls models, which are accounted for: call outside any scope.

    Raises EngineError when a model fails, TooLarge for more than a request can wait for.
    """
    now = now or timezone.now()
    if sum(len(message.content) for message in request.messages) > MAX_WAIT_CHARACTERS:
        raise TooLarge(
            _("a dry run reads at most %(limit)s characters")
            % {"limit": f"{MAX_WAIT_CHARACTERS:,}"},
            field="messages",
        )
    is_new, turns, new, batch = _load_rolled_back_batch(tenant_id, request, now)
    shown: list[dict[str, Any]] = []
    if batch.turns:
        with open_ledger(tenant_id, space_id=None if is_new else batch.space.id, at=now) as ledger:
            try:
                shown = _list_decisions(batch, now)
            finally:
                ledger.drop_words()  # of what was never said to the hub
    return IngestPreview(is_new, turns, new, shown)


def _load_rolled_back_batch(
    tenant_id: UUID, request: IngestRequest, now: datetime
) -> tuple[bool, list[Turn], list[Turn], read.DialogueBatch]:
    with tenant_scope(tenant_id):
        subject = clean_subject(request.subject)
        is_new = not Space.objects.filter(subject=subject).exists()
        with transaction.atomic():
            space = ensure_space(tenant_id, subject)
            if request.subject_name is not None:
                write_subject_name(space, request.subject_name)
            appended = append_messages(space, request, now)
            form_pages(appended.session, appended.new)
            seqs = [turn.seq for turn in appended.new] or [0]
            job = queue.enqueue_derivation(space, seqs[0], seqs[-1], now)
            batch = read.load_imagined_batch(job, appended.new)
            transaction.set_rollback(True)
    return is_new, appended.turns, appended.new, batch


def _list_decisions(batch: read.DialogueBatch, now: datetime) -> list[dict[str, Any]]:
    made = draft_batch(batch, now)
    space, policy, reader = batch.space, batch.policy, made.reader
    drafts = put_names_right(space, policy, made.facts, made.corrected_names, now)
    claims = resolve.prepare_claims(space, policy, drafts, reader, made.embedder, now)
    wishes = forget_requests.prepare_requests(
        space, policy, batch.own_words, reader, made.embedder, new=claims.list_new_claims()
    )
    return [each.render_decision() for each in claims.decisions] + [
        wish.render_decision() for wish in wishes
    ]
