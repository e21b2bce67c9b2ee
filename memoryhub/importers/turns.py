"""One import at a time into a space: what is there already is looked up, and then written to."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from django.db import connection
from django.db.utils import Error

from memoryhub.tenants.models import Space


@contextmanager
def take_turn(space: Space | None) -> Iterator[None]:
    """Wait until no other import writes to the space; nothing for a space that is not there yet.

    The lock is the connection's, so that it outlasts the transactions inside and embedding keeps
    none open. It ends with the process however that ends.
    """
    if space is None:
        yield
        return
    key = _compute_lock_key(space)
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_lock(%s)", [key])
    try:
        yield
    finally:
        with suppress(Error), connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_unlock(%s)", [key])


def _compute_lock_key(space: Space) -> int:
    digest = hashlib.sha256(f"memoryhub.importers:{space.id}".encode()).digest()
    return int.from_bytes(digest[:8], signed=True)
