"""What PostgreSQL ends because somebody else writes at the same time."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from typing import TypeVar

import psycopg
from django.db import DatabaseError, IntegrityError, OperationalError, connection
from django.utils.translation import gettext

from memoryhub.errors import Conflict

T = TypeVar("T")
# Of as many writers at once each has its turn.
MAX_TRIES = 12
_PAUSE_SECONDS = 0.02
_DEADLOCK = "40P01"
# As Django ends the name of a foreign key to this table.
_SPACE_KEY = "_fk_tenants_space_id"


def is_deadlock(error: DatabaseError) -> bool:
    """Whether it waited for who waited for it. All of its transaction is undone."""
    return getattr(error.__cause__, "sqlstate", None) == _DEADLOCK


def names_lost_space(error: IntegrityError) -> bool:
    """Whether what was written is of a space that was erased meanwhile."""
    cause = error.__cause__
    if not isinstance(cause, psycopg.errors.ForeignKeyViolation):
        return False
    return str(cause.diag.constraint_name).endswith(_SPACE_KEY)


def pause_before_try(number: int) -> None:
    """Give way to others before doing it again; the first try, 0, comes at once."""
    time.sleep(random.uniform(0, number * _PAUSE_SECONDS))  # noqa: S311  # no secret


def retry_deadlocks(once: Callable[[], T]) -> T:
    """Do it, in transactions of its own, again where it was ended by a deadlock. Raises Conflict in
    the end."""
    for number in range(MAX_TRIES):
        pause_before_try(number)
        try:
            return once()
        except OperationalError as error:
            if not is_deadlock(error) or connection.in_atomic_block:
                raise
    raise Conflict(gettext("these memories are being changed: try again"), code="busy")
