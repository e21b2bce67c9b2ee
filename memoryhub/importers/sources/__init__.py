"""The systems whose files can be read. Readers are pure: items in, records out."""

from __future__ import annotations

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from memoryhub.errors import InvalidInput
from memoryhub.importers.sources import chatgpt, jsonl, langmem, letta, mem0, zep
from memoryhub.importers.sources.base import ImportSource

SOURCES = {
    source.name: source
    for source in (
        ImportSource(
            "mem0",
            "mem0",
            gettext_noop("What get_all returns, with relations; rows of history."),
            mem0.read_records,
            mem0.SECTIONS,
        ),
        ImportSource(
            "letta",
            "Letta",
            gettext_noop("An agent file (.af): core blocks and messages; archival passages."),
            letta.read_records,
            letta.SECTIONS,
        ),
        ImportSource(
            "zep",
            gettext_noop("Zep and Graphiti"),
            gettext_noop("Episodes, edges with their times, nodes."),
            zep.read_records,
            zep.SECTIONS,
        ),
        ImportSource(
            "langmem",
            gettext_noop("LangMem and LangGraph"),
            gettext_noop("Items of a store: namespace, key, value."),
            langmem.read_records,
            langmem.SECTIONS,
        ),
        ImportSource(
            "chatgpt",
            "ChatGPT",
            gettext_noop("conversations.json of a data export."),
            chatgpt.read_records,
            chatgpt.SECTIONS,
        ),
        ImportSource(
            "jsonl",
            gettext_noop("JSON lines"),
            gettext_noop("A message, fact, note or block a line."),
            jsonl.read_records,
        ),
    )
}


def get_source(name: str) -> ImportSource:
    """Raises InvalidInput."""
    if name not in SOURCES:
        raise InvalidInput(
            _("use one of %(known)s") % {"known": ", ".join(SOURCES)}, field="source"
        )
    return SOURCES[name]
