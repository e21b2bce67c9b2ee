"""What all readers have in common."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from memoryhub.importers.fields import ItemRefused
from memoryhub.importers.json_stream import JsonItem
from memoryhub.importers.records import Record, SkippedRecord

# The items of the file from its start, as often as they are asked for.
OpenItems = Callable[[], Iterator[JsonItem]]


@dataclass(frozen=True, slots=True)
class ImportSource:
    """A system whose files can be read. `sections`: what `json_stream.stream_items` is told."""

    name: str
    title: str
    about: str
    read: Callable[[OpenItems], Iterator[Record]]
    sections: tuple[str, ...] = ()


def read_or_skip(
    item: JsonItem, take: Callable[[JsonItem], Iterator[Record]], kind: str = ""
) -> Iterator[Record]:
    """What is found in an item; an item that is refused is skipped, with the reason."""
    try:
        yield from take(item)
    except ItemRefused as error:
        yield SkippedRecord(item.where, str(error), kind, find_item_id(item.value))


def find_item_id(value: object) -> str:
    """What an item is called, as far as that can be told."""
    if not isinstance(value, dict):
        return ""
    for name in ("id", "uuid", "key", "external_id"):
        if isinstance(value.get(name), (str, int)) and value.get(name):
            return str(value[name])[:200]
    return ""
