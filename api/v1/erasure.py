"""Erasing for good, with a dry run before and a receipt after."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, ClassVar, NotRequired, get_type_hints

from rest_framework import serializers

from api.core.fields import ListField, StrictBooleanField, StrictIdField, TextField
from api.rows.answers import build_row_type, define_answer
from api.rows.columns import Resource, pick_columns
from api.rows.write_views import ReasonSerializer, SpaceWriteRequest, SpaceWriteView
from memoryhub.dialogues.models import Session, Turn
from memoryhub.errors import InvalidInput, NotFound
from memoryhub.pipeline.erasure import erase_targets
from memoryhub.pipeline.erasure.erase_targets import ErasureTarget
from memoryhub.tenants.scope import tenant_scope
from memoryhub.tenants.services import normalise_subject
from notes.models import Fact, Receipt

MAX_TARGET_IDS = 500
_MODEL_BY_TARGET: dict[str, Any] = {"turns": Turn, "session": Session, "facts": Fact}

RECEIPTS = Resource(
    "receipt",
    "What an erasure removed, in numbers: it outlives what it was about.",
    Receipt,
    pick_columns(
        Receipt,
        "id target target_digest actor reason counts review created_at undoable_until gone_at "
        "undone_at",
    ),
    order=("-created_at", "-id"),
    # A receipt names no subject: a key of one can't be shown which are its own.
    space_path="",
)


class EraseSerializer(ReasonSerializer):
    """`ids`: of turns, of one session, or of facts; none for the whole subject.

    `sources`: with facts, also the words that say them; a turn that says more is cut, and counted
    under `clauses`. With turns or a session, also replies elsewhere that repeat what only those
    told. `confirm`: the subject once more, where all of it is to go.
    """

    target = serializers.ChoiceField(choices=("turns", "session", "facts", "subject"))
    ids = ListField(StrictIdField(), default=list, max_length=MAX_TARGET_IDS)
    sources = StrictBooleanField(default=False)
    confirm = TextField(default="", max_length=200)
    dry_run = StrictBooleanField(default=False)


class EraseView(SpaceWriteView):
    """Erase turns, a session, facts or a whole subject. `dry_run` says what would go."""

    scopes: ClassVar = {"POST": "admin"}
    serializer_class = EraseSerializer
    answer_outlives_erasure = True
    answer: ClassVar = define_answer(
        "Erasure",
        "What was erased, by its receipt; after a dry run, what would go.",
        dry_run=bool,
        receipt=NotRequired[build_row_type(RECEIPTS)],
        **{
            name: NotRequired[kind]
            for name, kind in get_type_hints(erase_targets.ErasurePlan).items()
        },
    )
    example: ClassVar = {
        "target": "session",
        "ids": ["0197a0de-0000-7000-8000-000000000000"],
        "dry_run": True,
    }

    def run_write(self, deed: SpaceWriteRequest, **ids: Any) -> dict[str, Any]:
        target = _build_target(deed)
        if deed.given["dry_run"]:
            return {"dry_run": True, **asdict(erase_targets.plan_erasure(deed.space, target))}
        confirmed = normalise_subject(deed.given["confirm"]) == deed.space.subject
        if target.kind == "subject" and not confirmed:
            raise InvalidInput("the subject, once more, to confirm", field="confirm")
        made = erase_targets.execute_erasure(
            deed.space, target, deed.actor, deed.now, reason=deed.reason
        )
        shown = {name: getattr(made, name) for name in RECEIPTS.columns}
        return {"dry_run": False, "receipt": shown}


def _build_target(deed: SpaceWriteRequest) -> ErasureTarget:
    """Raises NotFound for what is not of this subject, InvalidInput."""
    kind, ids = deed.given["target"], tuple(dict.fromkeys(deed.given["ids"]))
    if kind == "subject":
        if ids:
            raise InvalidInput("none: the subject is that of the path", field="ids")
        return ErasureTarget("subject")
    if not ids or (kind == "session" and len(ids) > 1):
        raise InvalidInput("one session" if kind == "session" else "at least one", field="ids")
    with tenant_scope(deed.space.tenant_id):
        rows = _MODEL_BY_TARGET[kind]._default_manager.filter(space=deed.space, id__in=ids)
        if rows.count() < len(ids):
            raise NotFound("There is no such memory of this subject.")
    return ErasureTarget(kind, ids, deed.given["sources"])
