"""The file's own form: a header, one JSON object a line, and a line that closes it.

The header says which version it has and how many rows of each kind follow; the last line how many
lines there are, and the SHA-256 of all before it. Pure: no table is known here.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import IO, Any

from django.utils.translation import gettext as _

from memoryhub.errors import InvalidInput

FORMAT, END = "memoryhub-export", "end"
MAJOR, MINOR = 2, 0
VERSION = f"{MAJOR}.{MINOR}"
# Of version 1 the parts of a claim have other names: see `memoryhub.exchange.rows`.
READABLE_MAJORS = (1, 2)
MOST_BYTES = 16 * 1024 * 1024  # a line
_GZIP_START = b"\x1f\x8b"
# Of which no text in PostgreSQL consists: NUL, and halves of characters.
_UNSTORABLE_PATTERN = re.compile(r"\\u(?:0000|[dD][89a-fA-F])")


def build_line_error(number: int, what: str) -> InvalidInput:
    """What is wrong with a line, counted from 1."""
    return InvalidInput(
        _("line %(number)s: %(what)s") % {"number": f"{number:,}", "what": what},
        code="bad_line",
        field=f"line {number}",
        line=number,
    )


@dataclass(frozen=True, slots=True)
class FileHeader:
    """`scope`: a space or a whole tenant. `counts`: rows by kind, as told by the file."""

    version: str
    scope: str
    counts: Mapping[str, int]
    fields: Mapping[str, Any]

    @property
    def major(self) -> int:
        return int(self.version.partition(".")[0])

    def describe_origin(self, subject: str) -> str:
        """In words, what came from the file."""
        try:
            made = f" on {datetime.fromisoformat(str(self.fields.get('made_at'))):%-d %B %Y}"
        except ValueError:
            made = ""
        return f"imported from an export of {subject} made{made} (format {self.version[:20]})"


@dataclass
class LineWriter:
    """Writes lines and keeps count of them."""

    out: IO[bytes]
    lines: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    _sum: Any = field(default_factory=hashlib.sha256)

    def write_header(self, scope: str, counts: Mapping[str, int], **told: Any) -> None:
        top = {"format": FORMAT, "version": VERSION, "scope": scope}
        self._write_line(top | told | {"counts": dict(counts)})

    def write_row(self, kind: str, values: Mapping[str, Any]) -> None:
        self.counts[kind] += 1
        self._write_line({"row": kind, **values})

    def write_end(self) -> None:
        self._write_line({"row": END, "lines": self.lines, "sha256": self._sum.hexdigest()})

    def _write_line(self, value: Mapping[str, Any]) -> None:
        line = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
        raw = f"{line}\n".encode()
        self._sum.update(raw)
        self.lines += 1
        self.out.write(raw)


def verify_file(file: IO[bytes]) -> FileHeader:
    """Read the file once: that it is whole, unchanged, and of a version that is known.

    Raises InvalidInput that names the line.
    """
    digest, number, last = hashlib.sha256(), 0, b""
    header = None
    for number, raw in _read_raw_lines(file):  # the number of the last one is needed
        if number == 1:
            header = _parse_header(raw)
        else:
            digest.update(last)
        last = raw
    if header is None:
        raise build_line_error(1, "the file is empty")
    _check_end_line(number, last, digest.hexdigest())
    return header


def read_lines(file: IO[bytes]) -> Iterator[tuple[int, dict[str, Any]]]:
    """(number of the line, its object) of every line between the first and the last."""
    ahead: tuple[int, bytes] | None = None
    for number, raw in _read_raw_lines(file):
        if ahead is not None and ahead[0] > 1:
            yield ahead[0], parse_line(*ahead)
        ahead = (number, raw)


def _read_raw_lines(file: IO[bytes]) -> Iterator[tuple[int, bytes]]:
    file.seek(0)
    number = 0
    while raw := file.readline(MOST_BYTES + 1):
        number += 1
        if len(raw) > MOST_BYTES:
            raise build_line_error(number, f"is longer than {MOST_BYTES:,} bytes")
        yield number, raw


def parse_line(number: int, raw: bytes) -> dict[str, Any]:
    """Raises InvalidInput for what is no JSON object that can be stored."""
    try:
        text = raw.decode()
        value = json.loads(text, parse_constant=_refuse_constant, parse_float=_parse_finite)
        if _UNSTORABLE_PATTERN.search(text):
            _check_storable(value)
    except UnicodeDecodeError as error:
        packed = number == 1 and raw.startswith(_GZIP_START)
        why = "it is compressed, unpack it first" if packed else error.reason
        raise build_line_error(number, f"is no text in UTF-8: {why}") from error
    except json.JSONDecodeError as error:
        raise build_line_error(
            number, f"is no JSON: {error.msg} at character {error.pos + 1}"
        ) from error
    except RecursionError as error:
        raise build_line_error(number, "is nested too deeply") from error
    except ValueError as error:
        raise build_line_error(number, str(error)) from error
    if not isinstance(value, dict):
        raise build_line_error(number, "is no JSON object")
    return value


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no number in JSON")


def _parse_finite(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise ValueError("a number is too large")
    return value


def _check_storable(value: Any) -> None:
    text = json.dumps(value, ensure_ascii=False)
    if "\\u0000" in text.replace("\\\\", ""):
        raise ValueError("NULs are in no text")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError("halves of characters are in no text") from None


def _parse_header(raw: bytes) -> FileHeader:
    told = parse_line(1, raw)
    if told.get("format") != FORMAT:
        raise build_line_error(1, f'is no header of an export: "format" is not "{FORMAT}"')
    version = str(told.get("version", ""))
    if version.partition(".")[0] not in map(str, READABLE_MAJORS):
        shown, known = version[:20] or "none", " and ".join(map(str, READABLE_MAJORS))
        raise build_line_error(1, f"is of version {shown}; this hub reads versions {known}")
    scope, counts = told.get("scope"), told.get("counts")
    if scope not in ("space", "tenant"):
        raise build_line_error(1, '"scope" is neither "space" nor "tenant"')
    if not isinstance(counts, dict) or not all(type(n) is int for n in counts.values()):
        raise build_line_error(1, '"counts" are not numbers by kind')
    return FileHeader(version, scope, counts, told)


def _check_end_line(number: int, raw: bytes, digest: str) -> None:
    last = parse_line(number, raw)
    if number == 1 or last.get("row") != END:
        raise build_line_error(number, "is not the one that closes the file: it was cut short")
    if last.get("lines") != number - 1:
        raise build_line_error(
            number, f"the file had {last.get('lines')} lines before, not {number - 1}"
        )
    if last.get("sha256") != digest:
        raise build_line_error(number, "its checksum is another: the file was changed or damaged")
