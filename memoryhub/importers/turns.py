"""One import at a time into a space: what is there already is looked up, and then written to."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from memoryhub.tenants.database.locks import hold_lock
from memoryhub.tenants.models import Space


@contextmanager
def take_turn(space: Space | None) -> Iterator[None]:
    """Wait until no other import writes to the space; nothing for a space that is not there yet.

    The lock outlasts the transactions inside, and embedding keeps none of them open.
    """
    if space is None:
        yield
        return
    with hold_lock(f"memoryhub.importers:{space.id}"):
        yield
