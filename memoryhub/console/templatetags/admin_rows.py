"""Rows of the admin's lists, with what each cell is called: a narrow screen shows them as cards."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.contrib.admin.views.main import PAGE_VAR
from django.template import Library
from django.utils.html import strip_tags
from django.utils.translation import gettext

from memoryhub.console.admin.columns import say_code
from memoryhub.console.frame.admin_addresses import find_row_address

register = Library()


@dataclass(frozen=True, slots=True)
class ListedRow:
    """`cells`: (label, what it says) in the order of the columns."""

    id: Any
    name: str
    address: str
    cells: list[tuple[str, Any]]


@register.filter
def admin_rows(cl: Any) -> list[ListedRow]:
    columns = [each for each in cl.list_display if callable(each)]
    found = []
    for row in cl.result_list:
        cells = [(str(column.short_description), column(row)) for column in columns]
        name = strip_tags(str(cells[0][1]))  # a badge is markup
        found.append(ListedRow(row.pk, name, find_row_address(row), cells))
    return found


@register.filter
def choice_words(choice: str, spec: Any) -> Any:
    """A choice of a filter of the admin, as the rows' column says it."""
    field = getattr(spec, "field", None)
    if field is None:
        return choice
    return gettext(choice) if field.choices else say_code(choice, field.name)


@register.filter
def page_address(cl: Any, step: int) -> str:
    return str(cl.get_query_string({PAGE_VAR: cl.page_num + step}))
