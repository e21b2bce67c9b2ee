"""A list as a file: what its page shows with the filters as they are, all of it, as CSV or JSON.

Asked for by `?format=` at the list's own address, so that who may see the list may take it along,
and what the address asks for is what comes.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import IO, Any, cast

from django.core.serializers.json import DjangoJSONEncoder
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse

from memoryhub.exchange.downloads import build_download

EXPORT_FORMATS = {"csv": "text/csv; charset=utf-8", "json": "application/json"}
# Rows that are read from the database at a time.
CHUNK_ROWS = 2000
# A spreadsheet takes text that begins so for a formula, and runs it.
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n")
# Name of a column, and its value in a row.
ExportColumn = tuple[str, Callable[[Any], Any]]


def read_export_format(request: HttpRequest) -> str:
    """csv or json; "" for the page."""
    asked = request.GET.get("format", "")
    return asked if asked in EXPORT_FORMATS else ""


def build_columns(names: str) -> list[ExportColumn]:
    """Columns that are attributes of the row, by name; "space.subject" of what it refers to."""
    return [(name.replace(".", "_"), partial(_read_path, name)) for name in names.split()]


def _read_path(path: str, row: Any) -> Any:
    for name in path.split("."):
        row = getattr(row, name) if row is not None else None
    return row


def export_rows(
    form: str, name: str, columns: Sequence[ExportColumn], rows: QuerySet[Any] | Iterable[Any]
) -> HttpResponse:
    """The file. Rows are read bit by bit; it is on disk before its first byte is sent, so that a
    slow reader holds no transaction open. Call inside the tenant's scope."""
    each = rows.iterator(CHUNK_ROWS) if isinstance(rows, QuerySet) else rows
    write = _write_csv if form == "csv" else _write_json
    file = build_download(
        name, lambda out: write(out, columns, each), suffix=form, media_type=EXPORT_FORMATS[form]
    )
    # Streamed, it is no HttpResponse to the type checker, and one to all that hand it on.
    return cast("HttpResponse", file)


def _write_csv(out: IO[bytes], columns: Sequence[ExportColumn], rows: Iterable[Any]) -> None:
    text = io.TextIOWrapper(out, "utf-8", newline="")
    writer = csv.writer(text)
    writer.writerow([name for name, _ in columns])
    writer.writerows([format_cell(value(row)) for _, value in columns] for row in rows)
    text.detach()  # flushes; the file stays open


def format_cell(value: Any) -> Any:
    """A value as a spreadsheet may have it: numbers as they are, text never as a formula."""
    if value is None:
        return ""
    if isinstance(value, (int, float)):
        return value
    text = value if isinstance(value, str) else _format_plain(value)
    return f"'{text}" if text.startswith(_FORMULA_STARTS) else text


def _format_plain(value: Any) -> str:
    """JSON, of which what is text needs no quotes: times, ids, money."""
    told = json.dumps(value, cls=DjangoJSONEncoder, ensure_ascii=False)
    return str(json.loads(told)) if told.startswith('"') else told


def _write_json(out: IO[bytes], columns: Sequence[ExportColumn], rows: Iterable[Any]) -> None:
    out.write(b"[")
    for place, row in enumerate(rows):
        told = {name: value(row) for name, value in columns}
        line = json.dumps(told, cls=DjangoJSONEncoder, ensure_ascii=False)
        out.write(b",\n" if place else b"\n")
        out.write(line.encode())
    out.write(b"\n]\n")
