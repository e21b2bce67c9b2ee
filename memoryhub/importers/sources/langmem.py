"""LangGraph's store items, as LangMem writes them: `{"namespace", "key", "value", …}`.

An array, JSON lines, or the `{"items": […]}` of a search; rows of the store's table, with a
`prefix`, do as well. A memory of words is a fact, a triple a fact with its relation, anything
else with fields of its own a note.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from django.utils.translation import gettext_noop as _

from memoryhub.importers import fields
from memoryhub.importers.fields import ItemRefused, OpenItems, read_or_skip
from memoryhub.importers.json_stream import JsonItem
from memoryhub.importers.records import (
    MemoryRecord,
    PassageRecord,
    Record,
    RelationTriple,
    UnknownFields,
)

SECTIONS = ("items",)
_ITEM_FIELDS = {
    *("namespace", "prefix", "key", "value", "created_at", "updated_at", "score"),
    *("expires_at", "ttl_minutes"),
}
# Parts of a namespace that say what is kept, and not whose it is.
GENERAL_NAMESPACES = frozenset(
    {
        *("memories", "memory", "user", "users", "profile", "profiles", "facts", "episodes"),
        *("semantic", "episodic", "procedural", "collection", "store", "default", "langmem"),
        *("triples", "documents", "docs", "preferences", "user_profile", "long_term"),
    }
)


def recognises(item: JsonItem) -> bool:
    keys = set(fields.get_keys(item.value))
    return {"key", "value"} <= keys and bool(keys & {"namespace", "prefix"})


def read_records(items: OpenItems) -> Iterator[Record]:
    for item in items():
        yield from read_or_skip(item, _read_item, "fact")


def _read_item(item: JsonItem) -> Iterator[Record]:
    if item.section and item.section != "items":
        yield UnknownFields((item.section,))
        return
    value = fields.read_object(item.value)
    kept = value.get("value")
    if not isinstance(kept, dict):
        raise ItemRefused(_("value: no JSON object"))
    namespace, key = _read_namespace(value), fields.read_short_text(value, "key")
    if not key:
        raise ItemRefused(_("no key"))
    yield _build_record(item.where, namespace, key, value, kept)
    yield from fields.report_unknown_fields(value, _ITEM_FIELDS)


def _read_namespace(value: Mapping[str, Any]) -> list[str]:
    """Of a row of the table it is one text, with dots."""
    if isinstance(value.get("prefix"), str):
        return [part for part in value["prefix"].split(".") if part]
    return fields.read_text_list(value, "namespace")


def get_subject(namespace: list[str]) -> str:
    """Whose memories they are: what of the namespace is no word for memories of any kind."""
    return "/".join(part for part in namespace if part.lower() not in GENERAL_NAMESPACES)


def _build_record(
    where: str, namespace: list[str], key: str, value: Mapping[str, Any], kept: dict[str, Any]
) -> Record:
    kind = kept.get("kind") if isinstance(kept.get("kind"), str) else ""
    content = kept.get("content", kept) if kind or set(kept) == {"content"} else kept
    subject = get_subject(namespace)
    whole = key if fields.parse_uuid(key) else "/".join([*namespace, key])
    own_id = whole[: fields.LONGEST_ID]
    at, until = fields.read_time(value, "created_at"), fields.read_time(value, "expires_at")
    told = _extract_sentence(content)
    if told is None:
        text = fields.clean_field_text(_format_fields(content, str(kind)), "value")
        tags = [each for each in (str(kind), *namespace) if each and each != subject]
        return PassageRecord(where, subject, own_id, text, at, "langmem", tags)
    words, triples = told
    return MemoryRecord(
        where=where,
        subject=subject,
        id=own_id,
        text=fields.clean_field_text(words, "value"),
        said_at=at,
        valid_to=until,
        origin={"namespace": namespace, "key": key} | ({"kind": kind} if kind else {}),
        triples=triples,
    )


def _extract_sentence(content: object) -> tuple[str, tuple[RelationTriple, ...]] | None:
    """(a sentence, the relations it tells), or None for what has fields of its own."""
    if isinstance(content, str):
        return content, ()
    if not isinstance(content, dict):
        return None
    if triple := _extract_triple(content):
        extra = content.get("context")
        said = f"{triple.source} {triple.label} {triple.target}".replace("_", " ")
        return f"{said} ({extra})" if isinstance(extra, str) and extra else said, (triple,)
    told = {name: each for name, each in content.items() if fields.has_content(each)}
    for name in ("content", "memory", "text", "data"):
        if set(told) == {name} and isinstance(told[name], str):
            return told[name], ()
    return None


def _extract_triple(content: Mapping[str, Any]) -> RelationTriple | None:
    ends = [content.get(name) for name in ("subject", "predicate", "object")]
    if all(isinstance(each, str) and each.strip() for each in ends):
        subject, predicate, target = (str(each).strip() for each in ends)
        return RelationTriple(subject, predicate, target)
    return None


def _format_fields(content: object, kind: str) -> str:
    """Fields as lines that people and models read."""
    if not isinstance(content, dict):
        return json.dumps(content, ensure_ascii=False)
    lines = [
        f"{name.replace('_', ' ')}: {each if isinstance(each, str) else _format_value(each)}"
        for name, each in content.items()
        if fields.has_content(each)
    ]
    return "\n".join([kind, *lines]) if kind else "\n".join(lines)


def _format_value(value: object) -> str:
    if isinstance(value, list) and all(isinstance(each, str) for each in value):
        return ", ".join(value)
    return json.dumps(value, ensure_ascii=False)
