"""Columns of the admin's lists: what a row says, cut to a line, and sorted by the database."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from django.db.models import Model
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.text import Truncator
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from memoryhub.console.admin.names import find_field_name
from memoryhub.console.admin.row_names import name_row
from memoryhub.console.frame.text.audit_words import format_trigger
from memoryhub.console.frame.text.reasons import translate_reason
from memoryhub.console.frame.text.wording import format_actor, format_code, format_kind
from memoryhub.console.templatetags.console import on_day, since
from notes.facts.validity import is_fact_over
from notes.models import Fact

Column = Callable[[Any], Any]
ColumnOf = Callable[[type[Model]], Column]  # a column that awaits its table
LINE_LENGTH = 90
# What a state calls for: the colour of its badge.
_TONES = {
    "dead": "bad", "failed": "bad", "retracted": "bad", "retry": "warn", "superseded": "",
    "active": "good", "done": "good", "running": "good", "dormant": "warn", "cold": "",
}  # fmt: skip


# Whose values the hub writes in English for all who read them, and what says them to a reader.
_SAID_IN_WORDS: Mapping[str, Callable[[Any], Any]] = {
    "reason": translate_reason,
    "actor": format_actor,
    "decided_by": format_actor,
    "created_by": format_actor,
    "row_type": format_kind,
    "child_type": format_kind,
    "via_type": format_kind,
    "type": format_code,
    "kind": format_code,
    "polarity": format_code,
    "trigger": format_trigger,
}


def say_value(row: Any, name: str) -> Any:
    """What a column of the row holds, in the reader's words where the hub has some for it."""
    value = getattr(row, name)
    if not isinstance(value, str):
        return value
    if row._meta.get_field(name).choices:
        return gettext(str(getattr(row, f"get_{name}_display")()))
    if name == "key" and hasattr(row, "label"):
        return row.label
    return say_code(value, name)


def say_code(value: str, name: str) -> Any:
    """A value that rows of a column without choices hold, in the reader's words."""
    return _SAID_IN_WORDS[name](value) if name in _SAID_IN_WORDS else value


def _place(show: Column, name: str, label: Any = None, order: str | None = None) -> ColumnOf:
    """A column as Django's admin knows it. Without a label it is called as its table has it."""

    def bind(model: type[Model]) -> Column:
        told = find_field_name(model, name) if label is None else label
        show.__name__ = name
        show.short_description = told  # type: ignore[attr-defined]  # Django reads them there
        if order:
            show.admin_order_field = order  # type: ignore[attr-defined]
        return show

    return bind


def words(name: str, *others: str) -> ColumnOf:
    """A text, cut to a line; the first that is not empty of several."""

    def show(row: Any) -> str:
        said = next((str(t) for n in (name, *others) if (t := say_value(row, n))), "")
        return str(Truncator(said).chars(LINE_LENGTH))

    return _place(show, name, order=name)


def annotated_words(name: str, label: Any) -> ColumnOf:
    """A text that the list's statement reads along, cut to a line."""

    def show(row: Any) -> str:
        return str(Truncator(getattr(row, name) or "").chars(LINE_LENGTH))

    return _place(show, name, label)


def end_words(name: str, field: str) -> ColumnOf:
    """A text of the row that a foreign key names."""

    def show(row: Any) -> str:
        return str(Truncator(getattr(getattr(row, name), field)).chars(LINE_LENGTH))

    return _place(show, name, order=f"{name}__{field}")


def plain(name: str) -> ColumnOf:
    """A value as it is; of a choice its words, of a list its members."""

    def show(row: Any) -> Any:
        value = say_value(row, name)
        if isinstance(value, list):
            return ", ".join(map(str, value))
        if isinstance(value, Model):
            return name_row(value)
        return "" if value is None else value

    return _place(show, name, order=name)


def badge(name: str) -> ColumnOf:
    """A state, in the colour of what it calls for."""

    def show(row: Any) -> SafeString:
        tone = _TONES.get(getattr(row, name), "")
        return format_html('<span class="badge {}">{}</span>', tone, say_value(row, name))

    return _place(show, name, order=name)


def held_state() -> ColumnOf:
    """A fact's state as of now: what another replaces from a day still to come is current."""

    def show(row: Fact) -> SafeString:
        ending = row.status == Fact.Status.SUPERSEDED and not is_fact_over(row, timezone.now())
        state = Fact.Status.ACTIVE if ending else Fact.Status(row.status)
        return format_html('<span class="badge {}">{}</span>', _TONES.get(state, ""), state.label)

    return _place(show, "status", order="status")


def when(name: str) -> ColumnOf:
    """ "3 hours ago", the exact time on hover; nothing where there is no time."""

    def show(row: Any) -> Any:
        at: datetime | None = getattr(row, name)
        return since(at, row.space.timezone if getattr(row, "space", None) else "UTC") if at else ""

    return _place(show, name, order=name)


def span(first: str, last: str, label: Any) -> ColumnOf:
    """From when until when; an open end is open."""

    def show(row: Any) -> SafeString:
        zone = row.space.timezone
        start, end = getattr(row, first), getattr(row, last)
        end_words = on_day(end, zone) if end else ""
        return format_html('<span class="nowrap">{} – {}</span>', on_day(start, zone), end_words)

    return _place(show, first, label, first)


def number(name: str) -> ColumnOf:
    def show(row: Any) -> str:
        value = getattr(row, name)
        return f"{value:.2f}" if isinstance(value, float) else f"{value:,}"

    return _place(show, name, order=name)


def heat() -> ColumnOf:
    """Expects `row.warmth` (warmth.py)."""
    return _place(lambda row: f"{row.warmth.heat:.2f}", "heat", _("heat"))


def strength() -> ColumnOf:
    """How often it was recalled, and how much is left of it now. Expects `row.warmth`."""

    def show(row: Any) -> str:
        if (left := row.warmth.left) is None:
            return str(row.strength)
        return f"{row.strength} · {left:.0%}"

    return _place(show, "strength", _("strength · retention"), "strength")
