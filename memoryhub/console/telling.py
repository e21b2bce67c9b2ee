"""A row of the history in an operator's words: what it says, and what changed of it.

Pure: values are those that revisions hold, and `names` says what the ids among them stand for.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from memoryhub.console import differing
from memoryhub.console.differing import Part

Values = Mapping[str, Any]
Names = Mapping[str, str]

# Columns whose change says nothing to a reader.
SILENT = frozenset(
    (
        *("id", "version", "engine", "lineage", "lineage_version", "text_key", "canonical_key"),
        *("coverage_hash", "recorded_at", "ended_at", "last_visited_at", "promo_pages"),
        *("promo_visits", "compared_at", "updated_at", "created_at", "first_seq", "last_seq"),
        *("from_seq", "to_seq", "started_at", "metadata", "pattern", "cardinality"),
    )
)
_LABELS = {
    "a_id": "one note", "active": "linked", "analysed_at": "read for the persona",
    "asserted_at": "said on", "b_id": "other note", "c": "complement", "chain_id": "conversation",
    "chain_pos": "place in the conversation", "char_limit": "limit in characters",
    "content": "text", "corrected_by": "put right by", "details": "more", "dst_id": "to",
    "enrichment": "description", "event_from": "happened from", "event_granularity": "exact to",
    "event_text": "time as said", "event_to": "happened until", "fact_id": "says the fact",
    "from_at": "from", "generated": "generated", "merged_into_id": "merged into",
    "mention_count": "times mentioned", "o": "object", "o2": "second object", "open": "goes on",
    "page_count": "exchanges", "page_id": "exchange", "pages_total": "exchanges",
    "parent_id": "part of", "predicate_key": "says of its owner", "read_only": "read-only",
    "retired_at": "taken out", "s": "subject", "segment_id": "segment", "session_id": "session",
    "shelf": "on the shelf of", "shelved_at": "on the shelf since", "src_id": "from",
    "stale": "to be written anew", "summary": "text", "supersedes_id": "replaces",
    "tier": "kept in", "to_at": "until", "v": "verb", "valid_from": "held from",
    "valid_to": "held until", "visits_total": "visits",
}  # fmt: skip
_VALUES: dict[str, dict[Any, str]] = {
    "tier": {"stm": "short term", "mtm": "mid term", "mid": "mid term", "cold": "out of sight"},
    "enrichment": {"pending": "waits to be described", "done": "described"},
    "visibility": {"active": "in sight", "dormant": "faded"},
    "shelf": {"user_kb": "the person", "agent_traits": "the agent"},
    "open": {True: "yes", False: "no"},
}
_LINKS = {
    "related": "goes with", "elaborates": "says more of", "continues": "goes on from",
    "contradicts": "contradicts", "causes": "brought about",
}  # fmt: skip
# Columns of words written by people and models, told word by word.
_PROSE = frozenset(
    ("text", "content", "summary", "context", "title", "value", "reason", "rationale", "c", "o")
)
_UNNAMED = "something erased since"


@dataclass(frozen=True, slots=True)
class FieldChange:
    name: str
    before: Any
    after: Any
    is_prose: bool = False

    @property
    def parts(self) -> list[Part]:
        """Of texts and of lists of words, what of them changed; else nothing."""
        if isinstance(self.before, list) and isinstance(self.after, list):
            return differing.of_lists(
                [str(each) for each in self.before], [str(each) for each in self.after]
            )
        if self.is_prose and self.before and self.after:
            return differing.shortened(differing.difference(self.before, self.after))
        return []

    @property
    def is_list(self) -> bool:
        return isinstance(self.after, list)


def words(kind: str, values: Values, names: Names) -> str:
    """What a row says, whatever its kind: never an id, and never nothing."""
    tell = _TELL.get(kind)
    said = tell(values, names) if tell else _first(values, "text", "content", "summary", "name")
    return said.strip() or "no words yet"


def _first(values: Values, *columns: str) -> str:
    found = next((values[name] for name in columns if values.get(name)), "")
    return ", ".join(map(str, found)) if isinstance(found, list) else str(found)


def _named(values: Values, names: Names, column: str) -> str:
    return names.get(str(values.get(column)), _UNNAMED)


def _page(values: Values, names: Names) -> str:
    return names.get(str(values.get("id")), "an exchange whose words were erased")


def _chain(values: Values, names: Names) -> str:
    count = values.get("page_count", 0)
    return _first(values, "summary") or f"{count} exchange{'' if count == 1 else 's'} in a row"


def _place(values: Values, names: Names) -> str:
    return f"“{_named(values, names, 'page_id')}” in “{_named(values, names, 'segment_id')}”"


def _link(values: Values, names: Names) -> str:
    how = _LINKS.get(str(values.get("kind")), "goes with")
    said = f"“{_named(values, names, 'a_id')}” {how} “{_named(values, names, 'b_id')}”"
    return f"{said}: {values['reason']}" if values.get("reason") else said


def _relation(values: Values, names: Names) -> str:
    label = str(values.get("label", "")).replace("_", " ")
    return f"{_named(values, names, 'src_id')} {label} {_named(values, names, 'dst_id')}"


def _keyed(values: Values, names: Names) -> str:
    said = values.get("level") or values.get("value", "")
    return f"{str(values.get('key', '')).replace('_', ' ').capitalize()}: {said}"


def _block(values: Values, names: Names) -> str:
    return f"{values.get('label', '')}: {values.get('value') or 'empty'}"


def _episode(values: Values, names: Names) -> str:
    title, text = str(values.get("title") or ""), str(values.get("text") or "")
    return f"{title}: {text}" if title and text else title or text


_TELL = {
    "page": _page,
    "chain": _chain,
    "segment": lambda values, names: _first(values, "summary", "keywords"),
    "segmentpage": _place,
    "link": _link,
    "relation": _relation,
    "trait": _keyed,
    "profileattribute": _keyed,
    "coreblock": _block,
    "episode": _episode,
}


def changed(kind: str, before: Values, after: Values, names: Names) -> list[FieldChange]:
    """What of a row changed, with labels and values as a person reads them."""
    return [
        FieldChange(
            label(kind, name),
            _said(name, before.get(name), names),
            _said(name, to, names),
            name in _PROSE,
        )
        for name, to in after.items()
        if name not in SILENT and before.get(name) != to
    ]


def label(kind: str, column: str) -> str:
    if (kind, column) in (("coreblock", "value"), ("trait", "rationale")):
        return "text" if kind == "coreblock" else "because"
    return _LABELS.get(column, column.removesuffix("_id").replace("_", " "))


def _said(column: str, value: Any, names: Names) -> Any:
    if column.endswith("_id"):
        return names.get(str(value), _UNNAMED) if value else None
    known = _VALUES.get(column, {})
    if not isinstance(value, (list, dict)) and value in known:
        return known[value]
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict):
        return "; ".join(f"{name.replace('_', ' ')}: {_flat(each)}" for name, each in value.items())
    return value


def _flat(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)
