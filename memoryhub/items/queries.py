"""Reading items: by their keys, those that fit a question, and which namespaces there are."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import connection
from django.db.models import Q
from pgvector import HalfVector

from memoryhub.engines.types import Embedder
from memoryhub.inference.selection import get_current_embedder
from memoryhub.items import conditions
from memoryhub.items.models import Item, ItemText
from memoryhub.tenants.scope import tenant_scope

# Space, namespace and key.
ItemPlace = tuple[UUID, tuple[str, ...], str]
# Texts that get their vectors before one search.
MAX_FILLED_TEXTS = 256


@dataclass(frozen=True, slots=True)
class ItemSearch:
    """A search: items of the namespaces that begin so, whose values compare so, best first.

    `space_id` None: of every space. Without a query the last written come first.
    """

    prefix: tuple[str, ...] = ()
    space_id: UUID | None = None
    query: str = ""
    filter: Mapping[str, Any] = field(default_factory=dict)
    limit: int = 10
    offset: int = 0


@dataclass(frozen=True, slots=True)
class ItemHit:
    """`score`: the cosine of its nearest text with the question; None where it has none."""

    item: Item
    score: float | None


def load_items(wanted: Collection[ItemPlace], now: datetime) -> dict[ItemPlace, Item]:
    """Those that there are, in one statement. Call inside the tenant's scope."""
    rows = Item.objects.filter(
        Q(expires_at=None) | Q(expires_at__gt=now),
        space__in={space for space, _, _ in wanted},
        key__in={key for _, _, key in wanted},
    )
    found = {(row.space_id, tuple(row.namespace), row.key): row for row in rows}
    return {place: found[place] for place in wanted if place in found}


def extend_lifetimes(ids: Sequence[UUID], now: datetime) -> None:
    """Those with a lifetime live that long from now. Call inside the tenant's scope."""
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE items_item SET expires_at = %s::timestamptz + ttl_minutes * interval '1 minute'"
            " WHERE id = ANY(%s) AND ttl_minutes IS NOT NULL",
            [now, list(ids)],
        )


_NEWEST_SQL = """
SELECT i.id, NULL::float8 FROM items_item i WHERE {where}
ORDER BY i.updated_at DESC, i.id DESC LIMIT %s OFFSET %s
"""
# What has no text comes last, as it can't be compared.
_NEAREST_SQL = """
SELECT i.id, near.score FROM items_item i
LEFT JOIN LATERAL (
  SELECT max(1 - (t.embedding <=> %s::halfvec)) AS score FROM items_itemtext t
  WHERE t.item_id = i.id AND t.model = %s AND t.embedding IS NOT NULL
) near ON TRUE
WHERE {where}
ORDER BY near.score DESC NULLS LAST, i.updated_at DESC, i.id DESC LIMIT %s OFFSET %s
"""


def search_items(tenant_id: UUID, asked: ItemSearch, now: datetime) -> list[ItemHit]:
    """Opens its own scopes; embeds outside them. Raises EngineError, InvalidInput."""
    where = conditions.build_tenant_clause(tenant_id, asked.space_id, now)
    conditions.add_prefix_condition(where, asked.prefix)
    conditions.add_value_conditions(where, asked.filter)
    values: list[Any] = [*where.values, asked.limit, asked.offset]
    template = _NEWEST_SQL
    if asked.query.strip():
        used = get_current_embedder()
        embed_waiting_texts(tenant_id, where, used)
        (vector,) = used.embed([asked.query])
        values = [HalfVector(vector).to_text(), used.name, *values]
        template = _NEAREST_SQL
    with tenant_scope(tenant_id), connection.cursor() as cursor:
        cursor.execute(template.format(where=where.sql), values)
        scores = dict(cursor.fetchall())
        items = Item.objects.select_related("space").in_bulk(list(scores))
        return [ItemHit(items[row], score) for row, score in scores.items() if row in items]


_WAITING_SQL = """
SELECT t.id, t.text FROM items_itemtext t JOIN items_item i ON i.id = t.item_id
WHERE (t.model <> %s OR t.embedding IS NULL) AND {where} ORDER BY t.id LIMIT %s
"""


def embed_waiting_texts(tenant_id: UUID, where: conditions.WhereClause, used: Embedder) -> int:
    """Embed texts that have no vector by the embedder `used`: it was down, or is a new one.

    Raises EngineError. Opens its own scopes.
    """
    with tenant_scope(tenant_id), connection.cursor() as cursor:
        values = [used.name, *where.values, MAX_FILLED_TEXTS]
        cursor.execute(_WAITING_SQL.format(where=where.sql), values)
        waiting = cursor.fetchall()
    if not waiting:
        return 0
    vectors = used.embed([text for _, text in waiting])
    rows = [
        ItemText(id=row, model=used.name, embedding=vector)
        for (row, _), vector in zip(waiting, vectors, strict=True)
    ]
    with tenant_scope(tenant_id):
        ItemText.objects.bulk_update(rows, ["model", "embedding"])
    return len(rows)


_NAMESPACES_SQL = """
SELECT DISTINCT (i.namespace[1:%s])::text[] COLLATE "C" AS path FROM items_item i WHERE {where}
ORDER BY path LIMIT %s OFFSET %s
"""
MAX_DEPTH = 1000


def list_namespaces(
    tenant_id: UUID,
    space_id: UUID | None,
    prefix: Sequence[str],
    suffix: Sequence[str],
    now: datetime,
    *,
    max_depth: int | None = None,
    limit: int = 100,
    offset: int = 0,
) -> list[list[str]]:
    """Cut to `max_depth` labels, in order. Opens its own scope."""
    where = conditions.build_tenant_clause(tenant_id, space_id, now)
    conditions.add_prefix_condition(where, prefix)
    conditions.add_suffix_condition(where, suffix)
    with tenant_scope(tenant_id), connection.cursor() as cursor:
        values = [max_depth or MAX_DEPTH, *where.values, limit, offset]
        cursor.execute(_NAMESPACES_SQL.format(where=where.sql), values)
        return [labels for (labels,) in cursor.fetchall()]
