"""Files of exports in tests: written, read back, changed, and compared whatever their ids."""

from __future__ import annotations

import hashlib
import io
import json
import re
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from memoryhub.exchange.after_import import IMPORT_TRIGGER
from memoryhub.exchange.exporter import export_space, export_tenant
from memoryhub.exchange.importer import SpaceImportOptions, SpaceImportReport, import_file
from memoryhub.tenants.models import Space, Tenant
from memoryhub.tenants.scope import tenant_scope

JULY = datetime(2026, 7, 1, 12, 0, tzinfo=UTC)
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def make_export_file(tenant: Tenant, subject: str = "", *, embeddings: bool = False) -> bytes:
    """The export of a subject, or of the whole tenant."""
    out = io.BytesIO()
    if subject:
        with tenant_scope(tenant.id):
            space = Space.objects.get(subject=subject)
        export_space(tenant.id, space.id, out, JULY, embeddings=embeddings)
    else:
        export_tenant(tenant.id, out, JULY, embeddings=embeddings)
    return out.getvalue()


def import_export_file(tenant: Tenant, data: bytes, **wanted: Any) -> SpaceImportReport:
    return import_file(tenant.id, io.BytesIO(data), "ida", JULY, SpaceImportOptions(**wanted))


def parse_lines(data: bytes) -> list[dict[str, Any]]:
    return [json.loads(line) for line in data.splitlines()]


def select_kind(data: bytes, kind: str) -> list[dict[str, Any]]:
    return [each for each in parse_lines(data) if each.get("row") == kind]


def build_export_file(lines: Iterable[dict[str, Any] | bytes]) -> bytes:
    """A header and rows as a file that is closed as it should be."""
    raw = [each if isinstance(each, bytes) else json.dumps(each).encode() for each in lines]
    body = b"".join(line + b"\n" for line in raw)
    end = {"row": "end", "lines": len(raw), "sha256": hashlib.sha256(body).hexdigest()}
    return body + json.dumps(end).encode() + b"\n"


def change_export_file(data: bytes, *edits: tuple[str, dict[str, Any]]) -> bytes:
    """With other values in the first line of each kind; the header's kind is ""."""
    lines = parse_lines(data)[:-1]
    for kind, values in edits:
        at = next(n for n, line in enumerate(lines) if line.get("row", "") == kind)
        lines[at] = lines[at] | values
    return build_export_file(lines)


def normalise_export_file(data: bytes) -> list[dict[str, Any]]:
    """Its lines with ids numbered as they first appear: equal for equal contents.

    Without the events that say that a space came in: each import adds its own.
    """
    numbers: dict[str, str] = {}

    def number_id(found: re.Match[str]) -> str:
        return numbers.setdefault(found[0], f"id-{len(numbers) + 1}")

    lines = parse_lines(_UUID.sub(number_id, b"\n".join(_remove_arrivals(data)).decode()).encode())
    return [{k: v for k, v in line.items() if k not in ("made_at", "sha256")} for line in lines]


def select_arrivals(data: bytes) -> list[dict[str, Any]]:
    """The events that say that a space came in."""
    return [
        each for each in select_kind(data, "evolutionevent") if each["trigger"] == IMPORT_TRIGGER
    ]


def _remove_arrivals(data: bytes) -> list[bytes]:
    """The file as it would be without them."""
    came = select_arrivals(data)
    if not came:
        return data.splitlines()
    lines = [each for each in parse_lines(data)[:-1] if each not in came]
    left = lines[0]["counts"]["evolutionevent"] - len(came)
    counts = {k: v for k, v in lines[0]["counts"].items() if k != "evolutionevent"}
    lines[0]["counts"] = counts | ({"evolutionevent": left} if left else {})
    return build_export_file(lines).splitlines()
