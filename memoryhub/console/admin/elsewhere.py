"""What can be done about a row on another page, where its kind has not every action here.

Whatever the hub derives by itself is derived anew: what is wrong with it is put right where it
comes from.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from django.db.models import Model
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from memoryhub.console.frame.admin_addresses import find_console_address
from memoryhub.dialogues.models import Turn
from memoryhub.golden.models import GoldenQuestion
from notes.models import (
    Chain,
    Entity,
    Episode,
    Link,
    Note,
    Page,
    Relation,
    Segment,
    SegmentPage,
)
from personas.models import BlockVersion, CoreBlock, ProfileAttribute, Trait

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """`label` leads to `find_address`, "" where there is no such page for the row."""

    text: StrOrPromise
    label: StrOrPromise
    find_address: Callable[[Any], str]


@dataclass(frozen=True, slots=True)
class OtherWay:
    """For the template."""

    text: StrOrPromise
    label: StrOrPromise
    address: str


def _build_erasure_address(row: Any) -> str:
    """With the messages of an exchange, or a message, chosen already."""
    turns = [row.id]
    if isinstance(row, Page):
        said = Turn.objects.filter(session=row.session_id, seq__gte=row.first_seq)
        turns = list(said.filter(seq__lte=row.last_seq).values_list("id", flat=True))
    chosen = urlencode([("turns", str(each)) for each in turns])
    return f"{reverse('space-erase', args=[row.space_id])}?{chosen}"


def _build_description_address(row: Any) -> str:
    return f"{find_console_address(row)}?action=describe" if row.retired_at is None else ""


def _find_facts_page(row: Any) -> str:
    return reverse("space-fact", args=[row.space_id, row.fact_id]) if row.fact_id else ""


def _find_blocks_page(row: Any) -> str:
    return find_console_address(row) if row.space_id else reverse("spaces")


_ERASE = _("Erase its messages")
_BLOCK = _(
    "Its text is edited on its page in the console; that of a block shared by several spaces, in "
    "the blocks of a space that sees it."
)
WAYS: Mapping[type[Model], Elsewhere] = {
    Note: Elsewhere(
        _("Its description is edited, and it is merged with another, on its page in the console."),
        _("Describe"),
        _build_description_address,
    ),
    Link: Elsewhere(
        _(
            "The hub makes links by itself. A link goes when one of its notes is hidden, and when "
            "the change that made it is undone: see the history below."
        ),
        _("To the note"),
        find_console_address,
    ),
    Segment: Elsewhere(
        _(
            "The hub forms topics by itself, of exchanges. A change to one can be undone: see the "
            "history below. What was said in it can be erased exchange by exchange."
        ),
        _("To its exchanges"),
        find_console_address,
    ),
    SegmentPage: Elsewhere(
        _(
            "The hub places exchanges by itself. The change that placed this one can be undone: "
            "see the history below."
        ),
        _("To the topic"),
        find_console_address,
    ),
    Chain: Elsewhere(
        _(
            "The hub chains exchanges by itself. A change to a chain can be undone: see the "
            "history below."
        ),
        _("To the timeline"),
        lambda row: reverse("space-timeline", args=[row.space_id]),
    ),
    Page: Elsewhere(
        _("What was said in it stays as it was said, until it is erased."),
        _ERASE,
        _build_erasure_address,
    ),
    Turn: Elsewhere(
        _("What was said stays as it was said, until it is erased."),
        _("Erase it"),
        _build_erasure_address,
    ),
    Episode: Elsewhere(
        _(
            "The hub writes summaries anew when what they rest on changes: put the facts right, "
            "or erase what was said."
        ),
        _("To its exchanges"),
        find_console_address,
    ),
    Entity: Elsewhere(
        _("Entities that are one are chosen in their list and merged there."),
        _("To the list"),
        find_console_address,
    ),
    Relation: Elsewhere(
        _("It follows the fact that says it: put that right."), _("To the fact"), _find_facts_page
    ),
    Trait: Elsewhere(
        _("Another level is set on the page Persona."), _("To the persona"), find_console_address
    ),
    ProfileAttribute: Elsewhere(
        _("A value that follows from a fact changes with it: put the fact right."),
        _("To the fact"),
        _find_facts_page,
    ),
    GoldenQuestion: Elsewhere(
        _("It is edited, and removed, on its page in the console."),
        _("Edit"),
        find_console_address,
    ),
    CoreBlock: Elsewhere(_BLOCK, _("To its text"), _find_blocks_page),
    BlockVersion: Elsewhere(_BLOCK, _("To its text"), _find_blocks_page),
}


def find_other_way(row: Any) -> OtherWay | None:
    """Call inside the tenant's scope. One statement at most."""
    way = WAYS.get(type(row))
    return OtherWay(way.text, way.label, way.find_address(row)) if way else None
