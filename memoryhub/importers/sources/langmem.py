"""LangGraph's store items, as LangMem writes them: `{"namespace", "key", "value", …}`.

An array, JSON lines, or the `{"items": […]}` of a search; rows of the store's table, with a
`prefix`, do as well. A memory of words is a fact, a triple a fact with its relation, anything
else with fields of its own a note.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any
from uuid import UUID

from django.utils.translation import gettext_noop as _

from memoryhub.importers import fields
from memoryhub.importers.fields import Refused
from memoryhub.importers.records import Memory, Passage, Record, Triple, Unknown
from memoryhub.importers.sources.base import Items, guarded
from memoryhub.importers.streaming import Item

SECTIONS = ("items",)
_OF_ITEM = {
    *("namespace", "prefix", "key", "value", "created_at", "updated_at", "score"),
    *("expires_at", "ttl_minutes"),
}
# Parts of a namespace that say what is kept, and not whose it is.
GENERAL = frozenset(
    {
        *("memories", "memory", "user", "users", "profile", "profiles", "facts", "episodes"),
        *("semantic", "episodic", "procedural", "collection", "store", "default", "langmem"),
        *("triples", "documents", "docs", "preferences", "user_profile", "long_term"),
    }
)


def read(items: Items) -> Iterator[Record]:
    for item in items():
        yield from guarded(item, _taken, "fact")


def _taken(item: Item) -> Iterator[Record]:
    if item.section and item.section != "items":
        yield Unknown((item.section,))
        return
    value = fields.as_object(item.value)
    kept = value.get("value")
    if not isinstance(kept, dict):
        raise Refused(_("value: no JSON object"))
    namespace, key = _namespace(value), fields.name_of(value, "key")
    if not key:
        raise Refused(_("no key"))
    yield _record(item.where, namespace, key, value, kept)
    if left := fields.unknown(value, _OF_ITEM):
        yield Unknown(left)


def _namespace(value: Mapping[str, Any]) -> list[str]:
    """Of a row of the table it is one text, with dots."""
    if isinstance(value.get("prefix"), str):
        return [part for part in value["prefix"].split(".") if part]
    return fields.names_of(value, "namespace")


def subject_of(namespace: list[str]) -> str:
    """Whose memories they are: what of the namespace is no word for memories of any kind."""
    own = [part for part in namespace if part.lower() not in GENERAL]
    return "/".join(own)


def _record(
    where: str, namespace: list[str], key: str, value: Mapping[str, Any], kept: dict[str, Any]
) -> Record:
    kind = kept.get("kind") if isinstance(kept.get("kind"), str) else ""
    content = kept.get("content", kept) if kind or set(kept) == {"content"} else kept
    subject = subject_of(namespace)
    own_id = key if _is_uuid(key) else "/".join([*namespace, key])[: fields.MOST_ID]
    at = fields.time_of(value, "created_at")
    until = fields.time_of(value, "expires_at")
    told = _told(content)
    if told is None:
        text = fields.words(_lines(content, str(kind)), "value")
        tags = [each for each in (str(kind), *namespace) if each and each != subject]
        return Passage(where, subject, own_id, text, at, "langmem", tags)
    words, triples = told
    return Memory(
        where=where,
        subject=subject,
        id=own_id,
        text=fields.words(words, "value"),
        said_at=at,
        valid_to=until,
        origin={"namespace": namespace, "key": key} | ({"kind": kind} if kind else {}),
        triples=triples,
    )


def _is_uuid(key: str) -> bool:
    try:
        UUID(key)
    except ValueError:
        return False
    return True


def _told(content: object) -> tuple[str, tuple[Triple, ...]] | None:
    """(a sentence, the relations it tells), or None for what has fields of its own."""
    if isinstance(content, str):
        return content, ()
    if not isinstance(content, dict):
        return None
    if triple := _triple(content):
        extra = content.get("context")
        said = f"{triple.source} {triple.label} {triple.target}".replace("_", " ")
        return f"{said} ({extra})" if isinstance(extra, str) and extra else said, (triple,)
    told = {name: each for name, each in content.items() if each not in (None, "", [], {})}
    for name in ("content", "memory", "text", "data"):
        if set(told) == {name} and isinstance(told[name], str):
            return told[name], ()
    return None


def _triple(content: Mapping[str, Any]) -> Triple | None:
    ends = [content.get(name) for name in ("subject", "predicate", "object")]
    if all(isinstance(each, str) and each.strip() for each in ends):
        subject, predicate, target = (str(each).strip() for each in ends)
        return Triple(subject, predicate, target)
    return None


def _lines(content: object, kind: str) -> str:
    """Fields as lines that people and models read."""
    if not isinstance(content, dict):
        return json.dumps(content, ensure_ascii=False)
    lines = [
        f"{name.replace('_', ' ')}: {each if isinstance(each, str) else _plain(each)}"
        for name, each in content.items()
        if each not in (None, "", [], {})
    ]
    return "\n".join([kind, *lines]) if kind else "\n".join(lines)


def _plain(value: object) -> str:
    if isinstance(value, list) and all(isinstance(each, str) for each in value):
        return ", ".join(value)
    return json.dumps(value, ensure_ascii=False)
