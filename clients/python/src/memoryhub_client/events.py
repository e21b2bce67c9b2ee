"""What comes bit by bit: server-sent events, and files."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Generic

from memoryhub_client.calls.methods import T


class FileReader:
    """A file, as it comes."""

    must_repeat = False

    def read_piece(self, piece: bytes) -> Iterator[bytes]:
        yield piece


class EventReader(Generic[T]):
    """Puts pieces together to events, made by `read` of their name and data.

    `ends`: the name of an event that is not told, and after which is asked once more.
    """

    def __init__(self, read: Callable[[str, str], T], ends: str) -> None:
        self._read, self._ends = read, ends
        self._rest = b""
        self._name = ""
        self._data: list[str] = []
        self.again = False

    def read_piece(self, piece: bytes) -> Iterator[T]:
        """The events that end in this piece."""
        # Only these end a line: texts have other characters that str.splitlines() takes for one.
        *lines, self._rest = (self._rest + piece).split(b"\n")
        for line in lines:
            yield from self._read_line(line.removesuffix(b"\r").decode())

    def _read_line(self, line: str) -> Iterator[T]:
        name, _, value = line.partition(":")
        if name == "event":
            self._name = value.strip()
        elif name == "data":
            self._data.append(value.removeprefix(" "))
        elif not line and self._name:
            self.again = self._name == self._ends
            if not self.again:
                yield self._read(self._name, "\n".join(self._data))
            self._name, self._data = "", []
