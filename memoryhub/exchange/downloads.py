"""An export as what a browser or a client downloads."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from typing import IO

from django.http import FileResponse
from django.utils.text import slugify

MEDIA_TYPE = "application/x-ndjson"


def build_download(
    name: str,
    write: Callable[[IO[bytes]], object],
    *,
    suffix: str = "jsonl",
    media_type: str = MEDIA_TYPE,
) -> FileResponse:
    """The file that `write` makes. It is complete before the first byte is sent: a file that
    could not be written whole is an error, and whoever reads slowly holds no transaction open."""
    file = tempfile.TemporaryFile()  # noqa: SIM115  # the response closes it
    try:
        write(file)
        file.seek(0)
    except BaseException:
        file.close()
        raise
    named = f"memoryhub-{(slugify(name) or 'subject')[:60]}.{suffix}"
    return FileResponse(file, as_attachment=True, filename=named, content_type=media_type)
