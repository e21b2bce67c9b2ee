"""Reading values as if they were files."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from typing import IO, Any

from memoryhub.importers.records import Record
from memoryhub.importers.sources import SOURCES
from memoryhub.importers.streaming import Item, Open, items


def file_of(content: object) -> Open:
    """`content` as JSON, unless it is text or bytes already."""
    text = content if isinstance(content, (str, bytes)) else json.dumps(content)
    data = text.encode() if isinstance(text, str) else text

    def opened() -> IO[bytes]:
        return io.BytesIO(data)

    return opened


def lines(*values: Any) -> str:
    return "\n".join(json.dumps(value) for value in values) + "\n"


def records(source: str, content: object) -> list[Record]:
    chosen, opened = SOURCES[source], file_of(content)

    def each() -> Iterator[Item]:
        return items(opened, chosen.sections)

    return list(chosen.read(each))


def of(kind: Any, found: list[Record]) -> list[Any]:
    return [record for record in found if isinstance(record, kind)]
