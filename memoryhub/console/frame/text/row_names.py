"""What the ids in revisions stand for: the words of the rows they name, one statement a kind."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any
from uuid import UUID

from django.utils.translation import gettext

from memoryhub.console.frame.text.wording import shorten_text
from memoryhub.dialogues.models import Session
from notes.history import row_kinds
from notes.models import Page
from notes.topics.pages import load_page_turns

_MAX_NAME_LENGTH = 80
# Columns of the rows named that say what they are.
_NAMING_COLUMNS = ("text", "content", "summary", "name", "title", "label", "value")


def load_row_names(rows: Iterable[tuple[str, UUID, Mapping[str, Any] | None]]) -> dict[str, str]:
    """`rows`: kind, id and values, of which foreign keys are looked up. Inside the scope."""
    wanted = _collect_named_ids(rows)
    found: dict[str, str] = {}
    for model, ids in wanted.items():
        held: Iterable[Any] = model._default_manager.filter(pk__in=ids)
        if model is Page:
            found |= _format_page_names(list(held))
        else:
            found |= {str(row.pk): _format_row_name(row) for row in held}
    return found


def _collect_named_ids(
    rows: Iterable[tuple[str, UUID, Mapping[str, Any] | None]],
) -> dict[type[Any], set[str]]:
    kinds = {kind.name: kind.model for kind in row_kinds.list_row_kinds()}
    wanted: dict[type[Any], set[str]] = defaultdict(set)
    for kind, row_id, values in rows:
        model = kinds.get(kind)
        if model is Page:
            wanted[Page].add(str(row_id))
        for column in model._meta.concrete_fields if model and values else []:
            target: Any = column.related_model
            if target and (named := (values or {}).get(column.attname)):
                wanted[target].add(str(named))
    return wanted


def _format_row_name(row: Any) -> str:
    if isinstance(row, Session):
        return gettext("session %(name)s") % {"name": row.external_id or row.ordinal}
    said = next((str(getattr(row, c)) for c in _NAMING_COLUMNS if getattr(row, c, "")), "")
    return shorten_text(
        said or ", ".join(getattr(row, "keywords", [])) or str(row), _MAX_NAME_LENGTH
    )


def _format_page_names(pages: list[Page]) -> dict[str, str]:
    """A page is told by its first words, as far as they are not erased."""
    turns = load_page_turns(pages)
    said = {page.id: [turn.text for turn in turns[page.id][:2] if turn.text] for page in pages}
    return {str(i): shorten_text(" / ".join(texts), _MAX_NAME_LENGTH) for i, texts in said.items()}
