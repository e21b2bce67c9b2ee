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

RowValues = Mapping[str, Any]
RowNames = Mapping[str, str]

# Columns whose change says nothing to a reader.
SILENT_COLUMNS = frozenset(
    (
        *("id", "version", "engine", "lineage", "lineage_version", "text_key", "canonical_key"),
        *("coverage_hash", "recorded_at", "ended_at", "last_visited_at", "promo_pages"),
        *("promo_visits", "compared_at", "updated_at", "created_at", "first_seq", "last_seq"),
        *("from_seq", "to_seq", "started_at", "metadata", "pattern", "cardinality"),
    )
)
_COLUMN_LABELS = {
    "a_id": _("one note"), "active": _("linked"), "added_at": _("added at"), "agent": _("agent"),
    "aliases": _("aliases"), "analysed_at": _("read for the persona"), "asserted_at": _("said on"),
    "author": _("author"), "b_id": _("other note"), "c": _("complement"),
    "category": _("category"), "chain_id": _("conversation"),
    "chain_pos": _("place in the conversation"), "changed_at": _("changed at"),
    "char_limit": _("limit in characters"), "confidence": _("confidence"), "content": _("text"),
    "context": _("context"), "corrected_by": _("put right by"), "created_by": _("created by"),
    "day": _("day"), "description": _("description"), "details": _("more"), "dst_id": _("to"),
    "enrichment": _("description"), "event_from": _("happened from"),
    "event_granularity": _("exact to"), "event_text": _("time as said"),
    "event_to": _("happened until"), "expected": _("expected"), "fact_id": _("says the fact"),
    "forget_at": _("forget at"), "from_at": _("from"), "generated": _("generated"),
    "key": _("key"), "keywords": _("keywords"), "kind": _("kind"), "label": _("label"),
    "last_recall_at": _("last recall at"), "level": _("level"),
    "mention_count": _("times mentioned"), "merged_into_id": _("merged into"), "name": _("name"),
    "names": _("names"), "o": _("object"), "o2": _("second object"),
    "occurred_at": _("occurred at"), "open": _("goes on"), "owner": _("owner"),
    "page_count": _("exchanges"), "page_id": _("exchange"), "pages_total": _("exchanges"),
    "parent_id": _("part of"), "pinned": _("pinned"), "polarity": _("polarity"),
    "predicate_key": _("says of its owner"), "rationale": _("rationale"),
    "read_only": _("read-only"), "reason": _("reason"), "recall_count": _("recall count"),
    "retired_at": _("taken out"), "s": _("subject"), "score": _("score"),
    "segment_id": _("segment"), "session_id": _("session"), "shelf": _("on the shelf of"),
    "shelved_at": _("on the shelf since"), "speaker": _("speaker"), "src_id": _("from"),
    "stale": _("to be written anew"), "status": _("status"), "strength": _("strength"),
    "summary": _("text"), "supersedes_id": _("replaces"), "tags": _("tags"), "text": _("text"),
    "theme": _("theme"), "tier": _("kept in"), "title": _("title"), "to_at": _("until"),
    "type": _("type"), "v": _("verb"), "valid_from": _("held from"), "valid_to": _("held until"),
    "value": _("value"), "visibility": _("visibility"), "visits_total": _("visits"),
    "weight": _("weight"),
}  # fmt: skip
_VALUE_WORDS: dict[str, dict[Any, str]] = {
    "tier": {
        "stm": _("short term"), "mtm": _("mid term"), "mid": _("mid term"),
        "cold": _("out of sight"),
    },
    "enrichment": {"pending": _("waits to be described"), "done": _("described")},
    "visibility": {"active": _("in sight"), "dormant": _("faded")},
    "shelf": {"user_kb": _("the person"), "agent_traits": _("the agent")},
    "open": {True: _("yes"), False: _("no")},
}  # fmt: skip
# Columns of codes that are words already, in English.
_CODED_COLUMNS = frozenset(("event_granularity", "kind", "level", "polarity", "type"))
_LINK_SENTENCES = {
    "related": _("“%(one)s” goes with “%(other)s”"),
    "elaborates": _("“%(one)s” says more of “%(other)s”"),
    "continues": _("“%(one)s” goes on from “%(other)s”"),
    "contradicts": _("“%(one)s” contradicts “%(other)s”"),
    "causes": _("“%(one)s” brought about “%(other)s”"),
}
# Columns of words written by people and models, told word by word.
_PROSE_COLUMNS = frozenset(
    ("text", "content", "summary", "context", "title", "value", "reason", "rationale", "c", "o")
)
_UNNAMED_WORDS = _("something erased since")


@dataclass(frozen=True, slots=True)
class FieldChange:
    name: str
    before: Any
    after: Any
    is_prose: bool = False

    @property
    def parts(self) -> list[DiffPart]:
        """Of texts and of lists of words, what of them changed; else nothing."""
        if isinstance(self.before, list) and isinstance(self.after, list):
            return diff.diff_lists(
                [str(each) for each in self.before], [str(each) for each in self.after]
            )
        if self.is_prose and self.before and self.after:
            return diff.shorten_parts(diff.diff_texts(self.before, self.after))
        return []

    @property
    def is_list(self) -> bool:
        return isinstance(self.after, list)


def describe_row(kind: str, values: RowValues, names: RowNames) -> str:
    """What a row says, whatever its kind: never an id, and never nothing."""
    tell = _DESCRIBERS.get(kind)
    said = (
        tell(values, names)
        if tell
        else _format_first_value(values, "text", "content", "summary", "name")
    )
    return said.strip() or gettext("no words yet")


def _format_first_value(values: RowValues, *columns: str) -> str:
    found = next((values[name] for name in columns if values.get(name)), "")
    return wording.join_list(map(str, found)) if isinstance(found, list) else str(found)


def _find_row_name(values: RowValues, names: RowNames, column: str) -> str:
    return names.get(str(values.get(column))) or gettext(_UNNAMED_WORDS)


def _describe_page(values: RowValues, names: RowNames) -> str:
    return names.get(str(values.get("id"))) or gettext("an exchange whose words were erased")


def _describe_chain(values: RowValues, names: RowNames) -> str:
    count = values.get("page_count", 0)
    many = ngettext("%(count)s exchange in a row", "%(count)s exchanges in a row", count)
    return _format_first_value(values, "summary") or many % {"count": count}


def _describe_segment_page(values: RowValues, names: RowNames) -> str:
    page, segment = (
        _find_row_name(values, names, "page_id"),
        _find_row_name(values, names, "segment_id"),
    )
    return gettext("“%(page)s” in “%(segment)s”") % {"page": page, "segment": segment}


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
    return f"{_find_row_name(values, names, 'src_id')} {label} {_find_row_name(values, names, 'dst_id')}"


def _describe_keyed_row(values: RowValues, names: RowNames) -> str:
    level = values.get("level")
    said = wording.format_code(str(level)) if level else values.get("value", "")
    return _format_pair(str(values.get("key", "")).replace("_", " ").capitalize(), said)


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
    "trait": _describe_keyed_row,
    "profileattribute": _describe_keyed_row,
    "coreblock": _describe_block,
    "episode": _describe_episode,
}


def list_field_changes(
    kind: str, before: RowValues, after: RowValues, names: RowNames
) -> list[FieldChange]:
    """What of a row changed, with labels and values as a person reads them."""
    return [
        FieldChange(
            format_column_label(kind, name),
            _format_column_value(name, before.get(name), names),
            _format_column_value(name, to, names),
            name in _PROSE_COLUMNS,
        )
        for name, to in after.items()
        if name not in SILENT_COLUMNS and before.get(name) != to
    ]


def format_column_label(kind: str, column: str) -> str:
    if (kind, column) in (("coreblock", "value"), ("trait", "rationale")):
        return gettext("text") if kind == "coreblock" else gettext("because")
    known = _COLUMN_LABELS.get(column)
    return gettext(known) if known else column.removesuffix("_id").replace("_", " ")


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
