"""What was erased here does not come back with a file that was made before (spec §11.9).

An erasure leaves salted hashes of the ids of what went, and a receipt: by them the same rows are
recognised in a file, whoever has kept it.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from django.utils.formats import date_format
from django.utils.translation import gettext as _

from memoryhub.dialogues.models import Turn
from memoryhub.dialogues.redaction import hash_with_secret
from memoryhub.errors import Conflict
from memoryhub.exchange.id_shift import IdShift
from memoryhub.exchange.tables import ExportTable
from notes.models import Fact, Receipt, Tombstone

Digests = dict[str, tuple[int, datetime | None]]


def check_subject_not_erased(number: int, space_id: UUID) -> None:
    """Raises Conflict for a space that was erased as a whole. Call inside the tenant's scope."""
    digest = hash_with_secret("subject", str(space_id))
    receipt = Receipt.objects.filter(target="subject", target_digest=digest).first()
    if receipt is not None:
        raise _build_refusal(number, _("this subject"), receipt.created_at)


def check_rows_not_erased(
    kind: ExportTable, lines: Sequence[tuple[int, Any]], space_id: UUID, back: IdShift
) -> None:
    """Raises Conflict for messages and claims that were erased. `space_id` and what `back` makes
    of rows' ids are those the file has. Call inside the tenant's scope."""
    known: Digests = {}
    if kind.model is Turn:
        known = _digest_turns(lines, back)
    elif kind.model is Fact:  # told again after it was erased, a claim is a new one
        for number, fact in lines:
            digest = hash_with_secret("claim", space_id, fact.text_key)
            known[digest] = (number, fact.recorded_at)
    found = Tombstone.objects.filter(digest__in=known) if known else ()
    for stone in found:
        number, recorded = known[stone.digest]
        if recorded is None or recorded < stone.created_at:
            what = _("this message") if kind.model is Turn else _("this claim")
            raise _build_refusal(number, what, stone.created_at)


def _digest_turns(lines: Sequence[tuple[int, Any]], back: IdShift) -> Digests:
    known: Digests = {}
    for number, turn in lines:
        if turn.state != Turn.State.REDACTED:
            row_id = back.shift_id(turn.id)
            known[hash_with_secret("turn", row_id)] = (number, None)
            known[hash_with_secret("words", row_id, turn.content_hash)] = (number, None)
            if turn.external_id:
                session = back.shift_id(turn.session_id)
                known[hash_with_secret("turn", session, turn.external_id)] = (number, None)
    return known


def _build_refusal(number: int, what: str, at: datetime) -> Conflict:
    told = {"number": f"{number:,}", "what": what, "day": date_format(at, _("j F Y"))}
    message = _(
        "line %(number)s: %(what)s was erased here on %(day)s, after it was exported: it comes"
        " back only if you ask for that"
    )
    return Conflict(message % told, code="erased_since", line=number)
