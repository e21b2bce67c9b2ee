"""Saving golden questions: one function a mutation, each a manual event that can be undone."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, Unpack
from uuid import UUID

from django.utils.translation import gettext

from memoryhub.dialogues.messages import check_text
from memoryhub.dialogues.models import Turn
from memoryhub.errors import Conflict, InvalidInput, NotFound
from memoryhub.golden.expectations import Expectation
from memoryhub.golden.models import GoldenQuestion
from memoryhub.pipeline import corrections
from memoryhub.pipeline.corrections import Correction, CorrectionOptions, UnitOfWork
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope
from notes.erasure.trace import ErasureTrace
from notes.history.change_set import ChangeSet
from notes.models import Derivation, Fact, Note

MOST_EXPECTED = 20
MOST_TAGS, TAG_LENGTH = 10, 40
TEXT_LENGTH = 2000
MOST_QUESTIONS = 2000  # a space
MemoryReference = tuple[str, UUID]
_MODEL_OF_KIND: dict[str, Any] = {"fact": Fact, "note": Note, "turn": Turn}


def save_question(
    space: Space,
    text: str,
    expected: Sequence[MemoryReference],
    actor: str,
    now: datetime,
    *,
    tags: Iterable[str] = (),
    reason: str = "",
) -> Correction[GoldenQuestion]:
    """`expected`: (fact, note or turn; id) of memories of this space. Opens its own scopes.

    Raises InvalidInput naming the field, NotFound for memories the space does not hold.
    """
    words, labels = _clean_question_text(text), _clean_tags(tags)
    with tenant_scope(space.tenant_id):
        if GoldenQuestion.objects.filter(space=space, retired_at=None).count() >= MOST_QUESTIONS:
            raise InvalidInput(
                gettext("at most %(limit)s questions a space") % {"limit": f"{MOST_QUESTIONS:,}"},
                field="text",
            )
        named = build_expectations(space, expected)
        made = GoldenQuestion(
            tenant_id=space.tenant_id,
            space=space,
            text=words,
            tags=labels,
            created_by=actor[:120],
            created_at=now,
            changed_at=now,
            **_build_expected_columns(named),
        )

    def work(bench: UnitOfWork, changes: ChangeSet) -> None:
        bench.add_row(changes, made, [])

    rows = [("goldenquestion", made.id)]
    why = reason or "golden question saved"
    return corrections.edit_rows(space, work, actor, now, rows, reason=why)


def update_question(
    space: Space,
    question_id: UUID,
    text: str,
    expected: Sequence[MemoryReference],
    actor: str,
    now: datetime,
    *,
    tags: Iterable[str] = (),
    **options: Unpack[CorrectionOptions],
) -> Correction[GoldenQuestion]:
    """Put other words, memories and tags in place of those it has. Raises as `save_question`, and
    Outdated where it is not in the `version` that was read.

    Memories it named already keep the sources they were saved with, even if they are gone.
    """
    words, labels = _clean_question_text(text), _clean_tags(tags)

    def work(bench: UnitOfWork, changes: ChangeSet) -> None:
        row = _get_live_question(bench, question_id)
        kept = {(e["kind"], e["id"]): Expectation.from_stored(e) for e in row.expected}
        new = [(kind, row_id) for kind, row_id in expected if (kind, str(row_id)) not in kept]
        made = {(e.kind, e.id): e for e in build_expectations(space, new)} if new else {}
        named = [({**made, **kept})[kind, str(row_id)] for kind, row_id in dict.fromkeys(expected)]
        _check_expected_count(named)
        bench.edit_row(
            changes, row, text=words, tags=labels, changed_at=now, **_build_expected_columns(named)
        )

    rows = [("goldenquestion", question_id)]
    options["reason"] = options.get("reason") or "golden question changed"
    return corrections.edit_rows(space, work, actor, now, rows, **options)


def remove_question(
    space: Space, question_id: UUID, actor: str, now: datetime, **options: Unpack[CorrectionOptions]
) -> Correction[GoldenQuestion]:
    """It is asked no more; undo brings it back. Raises NotFound, Conflict if it is gone, Outdated
    where it is not in the `version` that was read."""

    def work(bench: UnitOfWork, changes: ChangeSet) -> None:
        bench.retire_row(changes, _get_live_question(bench, question_id))

    rows = [("goldenquestion", question_id)]
    options["reason"] = options.get("reason") or "golden question taken away"
    return corrections.edit_rows(space, work, actor, now, rows, **options)


def _get_live_question(bench: UnitOfWork, question_id: UUID) -> GoldenQuestion:
    row: GoldenQuestion = bench.get_row("goldenquestion", question_id)
    if row.retired_at:
        raise Conflict(gettext("this question was taken away"), code="not_held")
    return row


def build_expectations(space: Space, named: Sequence[MemoryReference]) -> list[Expectation]:
    """With lineage and sources, in the order given. Call inside the scope. Raises as above."""
    chosen = list(dict.fromkeys(named))
    _check_expected_count(chosen)
    rows: dict[MemoryReference, Any] = {}
    for kind, model in _MODEL_OF_KIND.items():
        ids = [row_id for each, row_id in chosen if each == kind]
        found = model._default_manager.filter(space=space, id__in=ids) if ids else ()
        rows |= {(kind, row.id): row for row in found}
    if missing := [each for each in chosen if each not in rows]:
        raise NotFound(gettext("there is no such %(kind)s in this space") % {"kind": missing[0][0]})
    turns = _load_sources([row_id for _, row_id in chosen])
    return [
        Expectation(
            kind,
            str(row_id),
            str(rows[kind, row_id].lineage) if kind == "fact" else "",
            (str(row_id),) if kind == "turn" else tuple(turns.get(row_id, ())),
        )
        for kind, row_id in chosen
    ]


def _load_sources(ids: Iterable[UUID]) -> dict[UUID, dict[str, None]]:
    """The supporting turns of facts and notes, each once. One statement."""
    links = Derivation.objects.filter(child_id__in=list(ids), role=Derivation.Role.SUPPORT)
    sources: dict[UUID, dict[str, None]] = {}
    for child, turn in links.order_by("turn__seq").values_list("child_id", "turn_id"):
        sources.setdefault(child, {})[str(turn)] = None
    return sources


def _check_expected_count(named: Sequence[object]) -> None:
    if not 1 <= len(named) <= MOST_EXPECTED:
        raise InvalidInput(
            gettext("name 1 to %(limit)s memories it should find") % {"limit": MOST_EXPECTED},
            field="expected",
        )


def _build_expected_columns(named: Sequence[Expectation]) -> dict[str, Any]:
    names = sorted({name for each in named for name in each.names})
    return {"expected": [each.to_stored() for each in named], "names": names}


def _clean_question_text(text: str) -> str:
    words = check_text(text.replace("\0", ""), field="text").strip()
    if len(words) > TEXT_LENGTH:
        raise InvalidInput(
            gettext("at most %(limit)s characters") % {"limit": f"{TEXT_LENGTH:,}"}, field="text"
        )
    return words


def _clean_tags(tags: Iterable[str]) -> list[str]:
    cleaned = (" ".join(tag.replace("\0", "").split()) for tag in tags)
    labels = list(dict.fromkeys(tag for tag in cleaned if tag))
    if len(labels) > MOST_TAGS or any(len(tag) > TAG_LENGTH for tag in labels):
        limit = f"at most {MOST_TAGS} tags of {TAG_LENGTH} characters"
        raise InvalidInput(limit, field="tags")
    return labels


def trace_erased_questions(found: ErasureTrace) -> None:
    """Golden questions go with what they name (spec §11.9): their words may tell of it.

    Adds those that name a turn or memory that goes. Call inside the scope.
    """
    gone = {str(turn) for turn in found.erased_turn_ids}
    gone |= {str(row) for _, row in (*found.doomed_rows, *found.tainted_rows)}
    rows = GoldenQuestion.objects.filter(space=found.space, names__overlap=sorted(gone))
    found.doomed_rows |= {("goldenquestion", row.id): row for row in rows}
