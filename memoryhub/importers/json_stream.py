"""A JSON file item by item, however large it is: never more of it in memory than one item.

Three shapes are read: an array (`[0]`, `[1]`, …), an object whose members are taken one by one,
arrays among them item by item (`results[0]`), and JSON lines (`line 1`). A file that is one of
them written as a JSON text, as programs do that encode twice, is read as what the text says. What
is broken is refused with the place of it.
"""

from __future__ import annotations

import codecs
import io
import json
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from functools import partial
from typing import IO, Any

from django.utils.translation import gettext as _

from memoryhub.errors import InvalidInput

CHUNK_BYTES = 256 * 1024
# Characters of one item, and of the first line while it is looked at: a conversation of years.
LONGEST_ITEM = 128 * 1024 * 1024
_PROBE_BYTES = 4 * 1024 * 1024
_WHITESPACE = " \t\r\n"
# What ends a value.
_VALUE_ENDS = tuple(",]}:" + _WHITESPACE)
# The place where no member or item has begun.
_WHOLE = "the file"


@dataclass(frozen=True, slots=True)
class JsonItem:
    """`section` is the member of the outer object it is in, "" if there is none. `at`: how many
    bytes had been read by then."""

    where: str
    section: str
    value: Any
    at: int


OpenFile = Callable[[], IO[bytes]]
BrokenFile = partial(InvalidInput, field="file")


def stream_items(open_file: OpenFile, sections: Collection[str] = ()) -> Iterator[JsonItem]:
    """`sections`: members that make a lone object a document, and not the only line of many.

    Raises InvalidInput, which names the place, for what is not JSON or not UTF-8.
    """
    open_file = _unwrap_text(open_file)
    with open_file() as file:
        is_lines = _is_json_lines(file.readline(_PROBE_BYTES), file.read(1), sections)
    with open_file() as file:
        yield from _stream_lines(file) if is_lines else _stream_document(_TextBuffer(file))


def _unwrap_text(open_file: OpenFile) -> OpenFile:
    """The file that stands as one JSON text in this one; this one, if it is none."""
    with open_file() as file:
        text = _TextBuffer(file)
        if text.peek_or_end() != '"':
            return open_file
        inner = text.parse_value(_WHOLE)
        if text.peek_or_end():
            return open_file
    return partial(io.BytesIO, inner.encode(errors="surrogatepass"))


def _is_json_lines(line: bytes, rest: bytes, sections: Collection[str]) -> bool:
    """A whole object in the first line, and more behind it or nothing that makes it a document."""
    try:
        value = json.loads(line.removeprefix(codecs.BOM_UTF8))
    except (ValueError, RecursionError):
        return False
    if not isinstance(value, dict):
        return False
    return bool(rest) or not any(name in value for name in sections)


def _stream_lines(file: IO[bytes]) -> Iterator[JsonItem]:
    read = 0
    for number, line in enumerate(iter(lambda: file.readline(LONGEST_ITEM), b""), 1):
        read += len(line)
        bare = line.removeprefix(codecs.BOM_UTF8).strip() if number == 1 else line.strip()
        if not bare:
            continue
        try:
            value = json.loads(bare.decode(), parse_constant=_refuse_constant)
        except (ValueError, RecursionError) as error:
            raise _build_json_error(f"line {number}", error, by_character=True) from error
        yield JsonItem(f"line {number}", "", value, read)


def _stream_document(text: _TextBuffer) -> Iterator[JsonItem]:
    first = text.peek_or_end()
    if not first:
        raise BrokenFile(_("the file is empty"))
    if first == "[":
        yield from _stream_array(text, "", "")
    elif first == "{":
        yield from _stream_object(text)
    else:
        raise BrokenFile(_("the file is neither a JSON array, an object, nor JSON lines"))
    if text.peek_or_end():
        raise BrokenFile(_("there is something behind the end of the JSON"))


def _stream_object(text: _TextBuffer) -> Iterator[JsonItem]:
    """Members one by one; those that are arrays, item by item."""
    text.take_character("{", _WHOLE)
    if text.peek(_WHOLE) == "}":
        text.take_character("}", _WHOLE)
        return
    while True:
        name = text.parse_value("a member of the file")
        if not isinstance(name, str):
            raise BrokenFile(_("the name of a member of the file is no text"))
        shown = name[:80]
        text.take_character(":", shown)
        if text.peek(shown) == "[":
            yield from _stream_array(text, name, shown)
        else:
            yield JsonItem(shown, name, text.parse_value(shown), text.read)
        if text.take_character(",}", shown) == "}":
            return


def _stream_array(text: _TextBuffer, section: str, shown: str) -> Iterator[JsonItem]:
    text.take_character("[", shown or _WHOLE)
    if text.peek(shown or _WHOLE) == "]":
        text.take_character("]", shown or _WHOLE)
        return
    at = 0
    while True:
        where = f"{shown}[{at}]"
        yield JsonItem(where, section, text.parse_value(where), text.read)
        if text.take_character(",]", where) == "]":
            return
        at += 1


class _TextBuffer:
    """The characters of a file, of which no more are held than one value needs."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")()
        self._json = json.JSONDecoder(parse_constant=_refuse_constant)
        self._buffer, self._at, self._ended = "", 0, False
        self.read = 0

    def _read_more(self, where: str) -> bool:
        """Hold more, twice as much each time, so that no value is parsed from its start often."""
        if self._ended:
            return False
        held = len(self._buffer) - self._at
        if held > LONGEST_ITEM:
            told = {"where": where, "limit": LONGEST_ITEM // 1024**2}
            raise BrokenFile(_("%(where)s is longer than %(limit)s MB") % told)
        data = self._file.read(max(CHUNK_BYTES, held))
        self.read += len(data)
        self._ended = not data
        try:
            text = self._decoder.decode(data, final=self._ended)
        except UnicodeDecodeError as error:
            is_first = self.read == len(data)
            begun = _("the file is no UTF-8 text")
            later = _("the file is no UTF-8 text at or after %(where)s") % {"where": where}
            raise BrokenFile(begun if is_first else later) from error
        self._buffer, self._at = self._buffer[self._at :] + text, 0
        return True

    def peek_or_end(self) -> str:
        """The next character that is no space; "" at the end."""
        while True:
            while self._at < len(self._buffer):
                if self._buffer[self._at] not in _WHITESPACE:
                    return self._buffer[self._at]
                self._at += 1
            if not self._read_more(_WHOLE):
                return ""

    def peek(self, where: str) -> str:
        """Raises InvalidInput at the end."""
        if found := self.peek_or_end():
            return found
        if where == _WHOLE:
            raise BrokenFile(_("the file breaks off where it has just begun"))
        raise BrokenFile(_("the file breaks off at %(where)s") % {"where": where})

    def take_character(self, wanted: str, where: str) -> str:
        """The next character, which is to be one of `wanted`."""
        found = self.peek(where)
        if found not in wanted:
            told = {"where": where, "found": repr(found), "known": " or ".join(wanted)}
            message = _("no JSON behind %(where)s: %(found)s in the place of %(known)s")
            raise BrokenFile(message % told)
        self._at += 1
        return found

    def parse_value(self, where: str) -> Any:
        """The next value, whole."""
        self.peek(where)
        while True:
            try:
                found, end = self._json.raw_decode(self._buffer, self._at)
            except (ValueError, RecursionError) as error:
                if isinstance(error, RecursionError) or not self._read_more(where):
                    raise _build_json_error(where, error) from error
                continue
            # A number may go on where the buffer ends, even if what is held makes one.
            if self._buffer[end : end + 1] not in _VALUE_ENDS and self._read_more(where):
                continue
            self._at = end
            return found


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON")


def _build_json_error(where: str, error: Exception, *, by_character: bool = False) -> InvalidInput:
    """`by_character`: counted from the beginning of what is there, and not of what is held."""
    if isinstance(error, RecursionError):
        return BrokenFile(_("%(where)s is nested too deeply") % {"where": where})
    what = error.msg if isinstance(error, json.JSONDecodeError) else str(error)[:200]
    if by_character and isinstance(error, json.JSONDecodeError):
        told = {"where": where, "error": what, "at": error.pos + 1}
        return BrokenFile(_("%(where)s is no JSON: %(error)s at character %(at)s") % told)
    told = {"where": where, "error": what}
    return BrokenFile(_("%(where)s is no JSON: %(error)s") % told)
