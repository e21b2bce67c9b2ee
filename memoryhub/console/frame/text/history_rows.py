"""A row of the history in an operator's words: what it says, and what changed of it.

Pure: values are those that revisions hold, and `names` says what the ids among them stand for.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_noop as _

from memoryhub.console.frame.text import diff, wording
from memoryhub.console.frame.text.diff import DiffPart
from memoryhub.console.frame.text.trait_levels import describe_key_level
from notes.history import row_kinds
from personas.models import format_attribute_key

RowValues = Mapping[str, Any]
RowNames = Mapping[str, str]

_VALUE_WORDS: dict[str, dict[Any, str]] = {
    "tier": {
        "stm": _("short term"), "mtm": _("mid term"), "mid": _("mid term"),
        "cold": _("hidden"),
    },
    "enrichment": {"pending": _("not described yet"), "done": _("described")},
    "visibility": {"active": _("visible"), "dormant": _("faded")},
    "shelf": {"user_kb": _("the person"), "agent_traits": _("the agent")},
    "open": {True: _("yes"), False: _("no")},
}  # fmt: skip
# Columns of codes that are words already, in English.
_CODED_COLUMNS = frozenset(("event_granularity", "kind", "polarity", "type"))
_LINK_SENTENCES = {
    "related": _("“%(one)s” is related to “%(other)s”"),
    "elaborates": _("“%(one)s” elaborates on “%(other)s”"),
    "continues": _("“%(one)s” continues “%(other)s”"),
    "contradicts": _("“%(one)s” contradicts “%(other)s”"),
    "causes": _("“%(one)s” caused “%(other)s”"),
}
_UNNAMED_WORDS = _("something that has since been erased")


@dataclass(frozen=True, slots=True)
class FieldChange:
    name: str
    before: Any
    after: Any
    is_words: bool = False

    @property
    def parts(self) -> list[DiffPart]:
        """Of texts and of lists of words, what of them changed; else nothing."""
        if isinstance(self.before, list) and isinstance(self.after, list):
            return diff.diff_lists(list(map(str, self.before)), list(map(str, self.after)))
        if self.is_words and isinstance(self.before, str) and self.before and self.after:
            return diff.shorten_parts(diff.diff_texts(self.before, self.after))
        return []

    @property
    def is_list(self) -> bool:
        return isinstance(self.after, list)


def describe_row(kind: str, values: RowValues, names: RowNames) -> str:
    """What a row says, whatever its kind: never an id, and never nothing."""
    if tell := _DESCRIBERS.get(kind):
        said = tell(values, names)
    else:
        said = _format_first_value(values, "text", "content", "summary", "name")
    return said.strip() or gettext("no text yet")


def _format_first_value(values: RowValues, *columns: str) -> str:
    found = next((values[name] for name in columns if values.get(name)), "")
    return wording.join_list(map(str, found)) if isinstance(found, list) else str(found)


def _find_row_name(values: RowValues, names: RowNames, column: str) -> str:
    return names.get(str(values.get(column))) or gettext(_UNNAMED_WORDS)


def _describe_page(values: RowValues, names: RowNames) -> str:
    return names.get(str(values.get("id"))) or gettext("an exchange whose text was erased")


def _describe_chain(values: RowValues, names: RowNames) -> str:
    count = values.get("page_count", 0)
    many = ngettext("%(count)s exchange in a row", "%(count)s exchanges in a row", count)
    return _format_first_value(values, "summary") or many % {"count": count}


def _describe_segment_page(values: RowValues, names: RowNames) -> str:
    ends = {name: _find_row_name(values, names, f"{name}_id") for name in ("page", "segment")}
    return gettext("“%(page)s” in “%(segment)s”") % ends


def _describe_link(values: RowValues, names: RowNames) -> str:
    message = gettext(_LINK_SENTENCES.get(str(values.get("kind")), _LINK_SENTENCES["related"]))
    said = message % {
        "one": _find_row_name(values, names, "a_id"),
        "other": _find_row_name(values, names, "b_id"),
    }
    return _format_pair(said, values["reason"]) if values.get("reason") else said


def _format_pair(name: str, said: Any) -> str:
    return gettext("%(name)s: %(said)s") % {"name": name, "said": said}


def _describe_relation(values: RowValues, names: RowNames) -> str:
    label = str(values.get("label", "")).replace("_", " ")
    ends = [_find_row_name(values, names, column) for column in ("src_id", "dst_id")]
    return f"{ends[0]} {label} {ends[1]}"


def _describe_attribute(values: RowValues, names: RowNames) -> str:
    return _format_pair(format_attribute_key(str(values.get("key", ""))), values.get("value", ""))


def _describe_trait(values: RowValues, names: RowNames) -> str:
    return describe_key_level(str(values.get("key", "")), str(values.get("level", "")))


def _describe_block(values: RowValues, names: RowNames) -> str:
    return _format_pair(str(values.get("label", "")), values.get("value") or gettext("empty"))


def _describe_episode(values: RowValues, names: RowNames) -> str:
    title, text = str(values.get("title") or ""), str(values.get("text") or "")
    return _format_pair(title, text) if title and text else title or text


_DESCRIBERS = {
    "page": _describe_page,
    "chain": _describe_chain,
    "segment": lambda values, names: _format_first_value(values, "summary", "keywords"),
    "segmentpage": _describe_segment_page,
    "link": _describe_link,
    "relation": _describe_relation,
    "trait": _describe_trait,
    "profileattribute": _describe_attribute,
    "coreblock": _describe_block,
    "episode": _describe_episode,
}


def list_field_changes(
    kind: str, before: RowValues, after: RowValues, names: RowNames
) -> list[FieldChange]:
    """What of a row changed, with labels and values as a person reads them."""
    fields = row_kinds.get_row_kind(kind).fields
    if kind == "trait":
        key = str(before.get("key", after.get("key", "")))
        before, after = _say_level(key, before), _say_level(key, after)
    return [
        FieldChange(
            str(fields[name].label),
            _format_column_value(name, before.get(name), names),
            _format_column_value(name, to, names),
            fields[name].is_words,
        )
        for name, to in after.items()
        if name in fields and fields[name].label and before.get(name) != to
    ]


def _say_level(key: str, values: RowValues) -> RowValues:
    level = values.get("level")
    return {**values, "level": describe_key_level(key, level)} if level else values


def _format_column_value(column: str, value: Any, names: RowNames) -> Any:
    if column.endswith("_id"):
        return (names.get(str(value)) or gettext(_UNNAMED_WORDS)) if value else None
    known = _VALUE_WORDS.get(column, {})
    if not isinstance(value, (list, dict)) and value in known:
        return gettext(known[value])
    if column in _CODED_COLUMNS and isinstance(value, str):
        return wording.format_code(value)
    if isinstance(value, bool):
        return gettext("yes") if value else gettext("no")
    if isinstance(value, dict):
        return wording.join_phrases(
            _format_pair(name.replace("_", " "), _format_flat_value(each))
            for name, each in value.items()
        )
    return value


def _format_flat_value(value: Any) -> str:
    return wording.join_list(map(str, value)) if isinstance(value, (list, tuple)) else str(value)
