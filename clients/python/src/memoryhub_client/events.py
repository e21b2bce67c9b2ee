"""Server-sent events, line by line."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Generic

from memoryhub_client.methods import Stream, T


class Events(Generic[T]):
    """Puts lines together to events. `again`: the last one said to ask once more."""

    def __init__(self, stream: Stream[T]) -> None:
        self._stream = stream
        self._name = ""
        self._data: list[str] = []
        self.again = False

    def told(self, line: str) -> Iterator[T]:
        """The event that this line ends, if it ends one."""
        name, _, value = line.partition(":")
        if name == "event":
            self._name = value.strip()
        elif name == "data":
            self._data.append(value.removeprefix(" "))
        elif not line and self._name:
            self.again = self._stream.again(self._name)
            if not self.again:
                yield self._stream.read(self._name, "\n".join(self._data))
            self._name, self._data = "", []
