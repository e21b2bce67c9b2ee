"""What took the place of what a message told: it stands before the message, and is found with it.

A message is found by its words whether or not they still hold ("I go to Iron Works gym"), and what
ended that may share none of them ("switched to the climbing centre").
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from memoryhub.tenants.database.prepared import open_prepared_cursor
from memoryhub.tenants.scope import get_current_tenant
from notes.facts.validity import build_fact_current_sql


class Succession(NamedTuple):
    """The claims that hold in place of what a turn told, oldest first. `entirely`: nothing that
    the turn told holds any more."""

    facts: Sequence[UUID]
    entirely: bool


_SUCCESSORS_SQL = f"""
WITH RECURSIVE told AS (
  SELECT d.turn_id, f.id, {build_fact_current_sql("f", "%(at)s::timestamptz")} AS holds
  FROM notes_derivation d JOIN notes_fact f ON f.id = d.child_id
  WHERE d.tenant_id = %(tenant)s AND d.turn_id = ANY(%(turns)s)
    AND d.child_type = 'fact' AND d.role = 'support' AND f.valid_from <= %(at)s::timestamptz
),
later AS (
  SELECT turn_id, id FROM told WHERE NOT holds
  UNION
  SELECT later.turn_id, f.id FROM later JOIN notes_fact f ON f.supersedes_id = later.id
)
SELECT later.turn_id, f.id, NOT EXISTS (
  SELECT FROM told WHERE told.turn_id = later.turn_id AND told.holds
)
FROM later JOIN notes_fact f ON f.id = later.id
WHERE {build_fact_current_sql("f", "%(at)s::timestamptz")} AND f.visibility = 'active'
ORDER BY f.asserted_at, f.id
"""  # noqa: S608  # our own conditions


def find_successions(turns: Sequence[UUID], at: datetime) -> dict[UUID, Succession]:
    """By turn that told what is over at `at`. Call inside the tenant's scope. One statement."""
    if not turns:
        return {}
    with open_prepared_cursor(binary=True) as cursor:
        values = {"tenant": get_current_tenant(), "turns": list(turns), "at": at}
        cursor.execute(_SUCCESSORS_SQL, values)
        rows = cursor.fetchall()
    found: dict[UUID, Succession] = {}
    for turn, fact, entirely in rows:
        known = found.get(turn, Succession((), entirely))
        found[turn] = Succession((*known.facts, fact), entirely)
    return found
