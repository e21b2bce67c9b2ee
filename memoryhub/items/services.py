"""Writing items. Vectors are made outside any transaction; one that fails is made later."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import structlog
from django.db import connection

from memoryhub.errors import EngineError
from memoryhub.inference.selection import get_current_embedder
from memoryhub.items.models import Item, ItemText
from memoryhub.tenants.ids import new_id
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope
from memoryhub.tenants.services import ensure_space

log = structlog.get_logger()
SubjectPlace = tuple[str, tuple[str, ...], str]
MAX_TEXTS = 100


@dataclass(frozen=True, slots=True)
class ItemWrite:
    """An item to keep, or with no value one to take away.

    `texts`: what it is found by. None: every text in the value, as one.
    """

    subject: str
    namespace: tuple[str, ...]
    key: str
    value: Mapping[str, Any] | None
    texts: Sequence[str] | None = None
    ttl_minutes: float | None = None

    @property
    def place(self) -> SubjectPlace:
        return self.subject, self.namespace, self.key


def write_items(tenant_id: UUID, puts: Sequence[ItemWrite], now: datetime) -> int:
    """Carry them all out or none; of several at one place the last counts. Opens its own scope.

    Returns how many items are other than before. A subject that is new gets a space.
    """
    last = list({put.place: put for put in puts}.values())
    kept = [put for put in last if put.value is not None]
    texts = {put.place: list(_list_texts(put)) for put in kept}
    model, vectors = _embed_texts({text for each in texts.values() for text in each})
    with tenant_scope(tenant_id):
        Item.objects.filter(expires_at__lte=now).delete()
        gone = _delete_items([put for put in last if put.value is None])
        spaces = {s: ensure_space(tenant_id, s) for s in sorted({put.subject for put in kept})}
        items = [_build_item(spaces[put.subject], put, now) for put in kept]
        ids = _upsert_items(items)
        ItemText.objects.filter(item__in=ids).delete()
        ItemText.objects.bulk_create(
            ItemText(
                tenant_id=tenant_id,
                space_id=item.space_id,
                item_id=item_id,
                place=place,
                text=text,
                model=model if text in vectors else "",
                embedding=vectors.get(text),
            )
            for put, item, item_id in zip(kept, items, ids, strict=True)
            for place, text in enumerate(texts[put.place])
        )
    return gone + len(items)


def _list_texts(put: ItemWrite) -> Iterator[str]:
    """Those that say something."""
    given = ["\n".join(extract_texts(put.value))] if put.texts is None else put.texts
    return (text for text in given if text.strip())


def extract_texts(value: Any) -> Iterator[str]:
    """Every text in a value, in order; names of members are not among them."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        yield from (text for each in value.values() for text in extract_texts(each))
    elif isinstance(value, list):
        yield from (text for each in value for text in extract_texts(each))


def _embed_texts(texts: Iterable[str]) -> tuple[str, dict[str, Any]]:
    """(the embedder's name, vectors by text). None of them when it fails: see
    `embed_waiting_texts`."""
    wanted = sorted(texts)
    if not wanted:
        return "", {}
    try:
        used = get_current_embedder()
        return used.name, dict(zip(wanted, used.embed(wanted), strict=True))
    except EngineError as error:
        log.warning("items.not_embedded", error=error.message)
        return "", {}


def _build_item(space: Space, put: ItemWrite, now: datetime) -> Item:
    minutes = put.ttl_minutes
    return Item(
        tenant_id=space.tenant_id,
        space=space,
        namespace=list(put.namespace),
        key=put.key,
        value=put.value,
        ttl_minutes=minutes,
        expires_at=now + timedelta(minutes=minutes) if minutes is not None else None,
        created_at=now,
        updated_at=now,
    )


# `given` keeps the order, so that the ids come back in that of the items.
_UPSERT_SQL = """
INSERT INTO items_item AS i (id, tenant_id, space_id, namespace, key, value, version,
                             created_at, updated_at, ttl_minutes, expires_at)
SELECT g.id, g.tenant, g.space, ARRAY(SELECT jsonb_array_elements_text(g.namespace::jsonb)),
       g.key, g.value::jsonb, 1, g.at, g.at, g.ttl, g.expires
FROM unnest(%s::uuid[], %s::uuid[], %s::uuid[], %s::text[], %s::text[], %s::text[],
            %s::timestamptz[], %s::float8[], %s::timestamptz[])
     AS g(id, tenant, space, namespace, key, value, at, ttl, expires)
ON CONFLICT (tenant_id, space_id, namespace, key) DO UPDATE SET
  value = EXCLUDED.value, version = i.version + 1, updated_at = EXCLUDED.updated_at,
  ttl_minutes = EXCLUDED.ttl_minutes, expires_at = EXCLUDED.expires_at
RETURNING id, space_id, namespace, key
"""


def _upsert_items(items: Sequence[Item]) -> list[UUID]:
    """Ids of the rows that hold them now, in one statement."""
    if not items:
        return []
    rows = [
        (
            *(new_id(), item.tenant_id, item.space_id, json.dumps(item.namespace), item.key),
            *(json.dumps(item.value), item.updated_at, item.ttl_minutes, item.expires_at),
        )
        for item in items
    ]
    with connection.cursor() as cursor:
        cursor.execute(_UPSERT_SQL, [list(column) for column in zip(*rows, strict=True)])
        held = {(space, tuple(labels), key): row for row, space, labels, key in cursor.fetchall()}
    return [held[item.space_id, tuple(item.namespace), item.key] for item in items]


def _delete_items(puts: Sequence[ItemWrite]) -> int:
    if not puts:
        return 0
    wanted = {put.place for put in puts}
    rows = Item.objects.filter(
        space__subject__in={subject for subject, _, _ in wanted},
        key__in={key for _, _, key in wanted},
    )
    held = rows.values_list("id", "space__subject", "namespace", "key")
    ids = [row for row, whose, labels, key in held if (whose, tuple(labels), key) in wanted]
    Item.objects.filter(id__in=ids).delete()
    return len(ids)
