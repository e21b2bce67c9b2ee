"""The systems whose files can be read. Readers are pure: items in, records out."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator
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
# Items of a file that are looked at to tell whose it is.
_LOOKED_AT = 100


def find_other_system(source: ImportSource, open_file: OpenFile) -> str:
    """What the system is called that wrote the file instead, "" where nothing speaks for another.

    Raises InvalidInput for what is no JSON.
    """
    sections = {name for each in SOURCES.values() for name in each.sections}
    told: Counter[str] = Counter()
    for item in itertools.islice(stream_items(open_file, sections), _LOOKED_AT):
        if source.recognises(item):
            return ""
        told.update(_list_systems(item))
    return max(told, key=lambda title: told[title], default="")


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
