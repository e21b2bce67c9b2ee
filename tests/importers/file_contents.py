"""Reading values as if they were files."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from typing import IO, Any

from memoryhub.importers.json_stream import JsonItem, OpenFile, stream_items
from memoryhub.importers.records import Record
from memoryhub.importers.sources import SOURCES


def make_open_file(content: object) -> OpenFile:
    """`content` as JSON, unless it is text or bytes already."""
    text = content if isinstance(content, (str, bytes)) else json.dumps(content)
    data = text.encode() if isinstance(text, str) else text

    def opened() -> IO[bytes]:
        return io.BytesIO(data)

    return opened


def dump_lines(*values: Any) -> str:
    return "\n".join(json.dumps(value) for value in values) + "\n"


def read_source_records(source: str, content: object) -> list[Record]:
    chosen, opened = SOURCES[source], make_open_file(content)

    def each() -> Iterator[JsonItem]:
        return stream_items(opened, chosen.sections)

    return list(chosen.read(each))


def select_records(kind: Any, found: list[Record]) -> list[Any]:
    return [record for record in found if isinstance(record, kind)]
