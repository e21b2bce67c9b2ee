"""The systems whose files can be read. Readers are pure: items in, records out."""

from __future__ import annotations

from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from memoryhub.errors import InvalidInput
from memoryhub.importers.fields import ImportSource
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
    (chatgpt, "ChatGPT", gettext_noop("conversations.json of a data export.")),
    (jsonl, gettext_noop("JSON lines"), gettext_noop("A message, fact, note or block a line.")),
)
SOURCES = {
    name: ImportSource(name, title, about, reader.read_records, reader.SECTIONS)
    for reader, title, about in _READERS
    for name in [reader.__name__.rpartition(".")[2]]
}


def get_source(name: str) -> ImportSource:
    """Raises InvalidInput."""
    if name not in SOURCES:
        raise InvalidInput(
            _("use one of %(known)s") % {"known": ", ".join(SOURCES)}, field="source"
        )
    return SOURCES[name]
