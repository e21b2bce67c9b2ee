"""Vectors in a file: those a space is searched by, as halves of floats.

A vector is taken in only where the text it was made of is the one the importing hub would embed
(I9): it is known by the text's hash.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from uuid import UUID

import numpy as np
from django.db import connection
from django.db.models import QuerySet
from pgvector import HalfVector

from memoryhub.exchange.columns import render_value
from memoryhub.exchange.id_shift import IdShift
from memoryhub.tenants.models import Space
from notes.models import IndexEntry

VECTOR_ROW = "vector"
_MAX_DIMENSION = 16_000  # dimensions of a half vector in pgvector
_ENTRY_COLUMNS = ("kind", "owner_id", "chunk", "text_hash", "embedding")


def select_entries(space: Space) -> QuerySet[IndexEntry]:
    """The entries that have one, of the model the space is searched by."""
    rows = IndexEntry.objects.filter(space=space, model=space.embedding_model)
    return rows.exclude(embedding=None).order_by("kind", "owner_id", "chunk")


def render_vectors(space: Space) -> Iterator[dict[str, Any]]:
    """As lines: `of` which row and chunk, the hash of its text, the vector in base64."""
    for kind, owner, chunk, text_hash, vector in (
        select_entries(space).values_list(*_ENTRY_COLUMNS).iterator(500)
    ):
        halves = np.asarray(vector, dtype="<f2").tobytes()
        yield {
            "of": kind,
            "id": render_value(owner),
            "chunk": chunk,
            "text_hash": text_hash,
            "float16": base64.b64encode(halves).decode(),
        }


def parse_vector(told: Mapping[str, Any], renaming: IdShift, dimension: int) -> tuple[Any, ...]:
    """(kind, owner, chunk, hash, vector as SQL takes it). `dimension`: how many numbers it must
    have; 0: any. Raises ValueError."""
    kind, chunk, text_hash = told.get("of"), told.get("chunk"), told.get("text_hash")
    if kind not in IndexEntry.Kind.values or not isinstance(text_hash, str):
        raise ValueError('"of" or "text_hash" is no kind or no text')
    if type(chunk) is not int or not 0 <= chunk < 1 << 15:
        raise ValueError('"chunk" is no small number')
    owner = renaming.shift_id(UUID(str(told.get("id"))))
    halves = np.frombuffer(base64.b64decode(str(told.get("float16")), validate=True), dtype="<f2")
    if not 0 < len(halves) <= _MAX_DIMENSION or not np.isfinite(halves).all():
        raise ValueError('"float16" is no vector')
    if dimension and len(halves) != dimension:
        raise ValueError(f'"float16" has {len(halves)} numbers, not {dimension}')
    return kind, owner, chunk, text_hash, HalfVector(halves.astype(np.float32)).to_text()


_UPDATE_SQL = """
UPDATE notes_indexentry e SET embedding = g.vector::halfvec
FROM unnest(%(kind)s::text[], %(owner)s::uuid[], %(chunk)s::int[], %(hash)s::text[],
            %(vector)s::text[]) AS g(kind, owner_id, chunk, text_hash, vector)
WHERE e.tenant_id = %(tenant)s AND e.space_id = %(space)s AND e.model = %(model)s
  AND e.owner_id = g.owner_id AND e.kind = g.kind AND e.chunk = g.chunk
  AND e.text_hash = g.text_hash
"""


def write_vectors(space: Space, given: Sequence[tuple[Any, ...]]) -> int:
    """Put them to the entries of the same texts. Returns how many there were."""
    if not given:
        return 0
    names = ("kind", "owner", "chunk", "hash", "vector")
    columns = dict(zip(names, zip(*given, strict=True), strict=True))
    values: dict[str, Any] = {name: list(column) for name, column in columns.items()}
    values |= {"tenant": space.tenant_id, "space": space.id, "model": space.embedding_model}
    with connection.cursor() as cursor:
        cursor.execute(_UPDATE_SQL, values)
        return int(cursor.rowcount)
