"""What all readers have in common."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from memoryhub.importers.fields import Refused
from memoryhub.importers.records import Record, Skipped
from memoryhub.importers.streaming import Item

# The items of the file from its start, as often as they are asked for.
Items = Callable[[], Iterator[Item]]


@dataclass(frozen=True, slots=True)
class Source:
    """A system whose files can be read. `sections`: what `streaming.items` is told."""

    name: str
    title: str
    about: str
    read: Callable[[Items], Iterator[Record]]
    sections: tuple[str, ...] = ()


def guarded(
    item: Item, take: Callable[[Item], Iterator[Record]], kind: str = ""
) -> Iterator[Record]:
    """What is found in an item; an item that is refused is skipped, with the reason."""
    try:
        yield from take(item)
    except Refused as error:
        yield Skipped(item.where, str(error), kind, id_of(item.value))


def id_of(value: object) -> str:
    """What an item is called, as far as that can be told."""
    if not isinstance(value, dict):
        return ""
    for name in ("id", "uuid", "key", "external_id"):
        if isinstance(value.get(name), (str, int)) and value.get(name):
            return str(value[name])[:200]
    return ""
