"""The systems whose files can be read. Readers are pure: items in, records out."""

from __future__ import annotations

import io
import itertools
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from memoryhub.errors import InvalidInput
from memoryhub.importers.fields import ImportSource, get_keys
from memoryhub.importers.json_stream import JsonItem, OpenFile, stream_items
from memoryhub.importers.sources import chatgpt, jsonl, langmem, letta, mem0, zep

# Reader, what the system is called, what of it is read.
_READERS: tuple[tuple[Any, str, str], ...] = (
    (mem0, "mem0", gettext_noop("What get_all returns, with relations; rows of history.")),
    (
        letta,
        "Letta",
        gettext_noop("An agent file (.af): core blocks and messages; archival passages."),
    ),
    (
        zep,
        gettext_noop("Zep and Graphiti"),
        gettext_noop("Episodes, edges with their times, nodes."),
    ),
    (
        langmem,
        gettext_noop("LangMem and LangGraph"),
        gettext_noop("Items of a store: namespace, key, value."),
    ),
    (
        chatgpt,
        "ChatGPT",
        gettext_noop(
            "conversations.json of a data export: talk, saved memories, custom instructions."
        ),
    ),
    (jsonl, gettext_noop("JSON lines"), gettext_noop("A message, fact, note or block a line.")),
)
SOURCES = {
    name: ImportSource(name, title, about, reader.read_records, reader.SECTIONS, reader.recognises)
    for reader, title, about in _READERS
    for name in [reader.__name__.rpartition(".")[2]]
}


# Systems whose files are known and can't be read, by a member that only theirs have.
_UNREAD_SYSTEMS = {"chat_messages": "Claude"}
# The hub's own exports, which come in by another way: `memoryhub.exchange`.
OWN_EXPORT = "MemoryHub"
_OWN_EXPORT_FORMAT = "memoryhub-export"
# Items of a file that are looked at to tell whose it is.
_LOOKED_AT = 100


def find_other_system(source: ImportSource, open_file: OpenFile) -> str:
    """What the system is called that wrote the file instead, "" where nothing speaks for another.

    Raises InvalidInput for what is no JSON.
    """
    told: Counter[str] = Counter()
    for item in _list_first_items(open_file):
        if is_own_export(item):
            return OWN_EXPORT
        if source.recognises(item):
            return ""
        told.update(_list_systems(item))
    return max(told, key=lambda title: told[title], default="")


def find_system(start: bytes) -> str:
    """What the system is called that wrote a file which starts so, "" where nothing tells."""
    told: Counter[str] = Counter()
    # It may break off anywhere: what stands before that is enough.
    with suppress(InvalidInput):
        for item in _list_first_items(lambda: io.BytesIO(start)):
            told.update(_list_systems(item))
    return max(told, key=lambda title: told[title], default="")


def is_readable(system: str) -> bool:
    """Whether files of the system that is called so can be read here."""
    return any(each.title == system for each in SOURCES.values())


def is_own_export(item: JsonItem) -> bool:
    value = item.value
    told = value.get("format") if isinstance(value, dict) else value
    return told == _OWN_EXPORT_FORMAT


def _list_first_items(open_file: OpenFile) -> Iterator[JsonItem]:
    sections = {name for each in SOURCES.values() for name in each.sections}
    return itertools.islice(stream_items(open_file, sections), _LOOKED_AT)


def _list_systems(item: JsonItem) -> Iterator[str]:
    yield from (each.title for each in SOURCES.values() if each.recognises(item))
    yield from (title for name, title in _UNREAD_SYSTEMS.items() if name in get_keys(item.value))


def get_source(name: str) -> ImportSource:
    """Raises InvalidInput."""
    if name not in SOURCES:
        raise InvalidInput(
            _("use one of %(known)s") % {"known": ", ".join(SOURCES)}, field="source"
        )
    return SOURCES[name]
