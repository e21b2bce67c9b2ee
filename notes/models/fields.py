"""What each column of a memory is to those who show it, search it, erase it or take it along.

A model of memories declares its columns once, in `memory_fields`, in the order in which they are
shown. Console, API, export, erasure, search and webhooks read it there; a column that is not
declared fails a test.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _


@dataclass(frozen=True, slots=True)
class MemoryField:
    """One column.

    `label`: what people read beside its value; without one, a change of it is not shown to them.
    `api`: its name in the API, where it is not the column's; None: the API does not show it.
    `help`: what the API's description says of it. `is_words`: it holds words made from what was
    said, which an erasure takes away. `results`: the fields of a search's result that it fills.
    `is_news`: webhooks are told of a change. `is_exported`: it belongs in an exported file.
    """

    label: str | Promise = ""
    api: str | None = ""
    help: str = ""
    is_words: bool = False
    results: tuple[str, ...] = ()
    is_news: bool = False
    is_exported: bool = True


MemoryFields = Mapping[str, MemoryField]

# The hub's own book-keeping: nobody is shown it.
INTERNAL = MemoryField(api=None)
# Shown to programs, and no change of it says anything to a person.
TECHNICAL = MemoryField()

ROW_FIELDS: MemoryFields = {"id": TECHNICAL, "tenant_id": INTERNAL, "space_id": INTERNAL}
DERIVED_FIELDS: MemoryFields = {
    "version": MemoryField(help="Rises by one with every change."),
    "engine": MemoryField(help="What made it; empty where a person did."),
    "corrected_by": MemoryField(_("corrected by")),
    "retired_at": MemoryField(_("removed"), help="Since when the hub holds it no more."),
}
RETAINED_FIELDS: MemoryFields = {
    "strength": MemoryField(_("strength")),
    "recall_count": MemoryField(_("times recalled")),
    "last_recall_at": MemoryField(_("last recalled")),
    "forget_at": MemoryField(_("forget at"), api=None),
    "visibility": MemoryField(_("visibility")),
    "pinned": MemoryField(_("pinned")),
}
