"""The latest exchanges, and every turn that is not read yet, whatever is asked (E11, C18)."""

from __future__ import annotations

from typing import Any

from memoryhub.recall.candidates.channels.hits import ChannelHit
from memoryhub.recall.question.prepare import PreparedQuestion
from memoryhub.recall.render.hydrate import UNREAD_STATES
from memoryhub.tenants.statements import open_prepared_cursor
from notes.models import Page

# A dialogue imported at once is unread for a while: the newest of it is shown.
MAX_TURNS = 200

# Two indexes are read, one for each reason to be shown.
_LATEST_TURNS_SQL = """
WITH newest AS (
  SELECT session_id, first_seq, last_seq FROM notes_page
  WHERE tenant_id = %(tenant)s AND space_id = %(space)s AND tier = %(tier)s AND retired_at IS NULL
  ORDER BY first_seq DESC LIMIT %(pages)s
)
SELECT id, state FROM (
  SELECT t.id, t.state, t.seq, t.occurred_at
  FROM newest p JOIN dialogues_turn t
    ON t.session_id = p.session_id AND t.seq BETWEEN p.first_seq AND p.last_seq
  WHERE t.tenant_id = %(tenant)s AND t.state <> 'redacted'
  UNION
  SELECT t.id, t.state, t.seq, t.occurred_at FROM dialogues_turn t
  WHERE t.tenant_id = %(tenant)s AND t.space_id = %(space)s AND t.state = ANY(%(unread)s)
) found
WHERE %(as_of)s::timestamptz IS NULL OR occurred_at <= %(as_of)s
ORDER BY seq DESC LIMIT %(most)s
"""


def find_hits(ask: PreparedQuestion) -> list[ChannelHit]:
    """In the order they were said."""
    values: dict[str, Any] = {
        "tenant": ask.space.tenant_id,
        "space": ask.space.id,
        "tier": Page.Tier.SHORT.value,
        "pages": ask.policy.stm.pages,
        "unread": [state.value for state in UNREAD_STATES],
        "as_of": ask.visibility.as_of,
        "most": MAX_TURNS,
    }
    with open_prepared_cursor(binary=True) as cursor:
        cursor.execute(_LATEST_TURNS_SQL, values)
        found = cursor.fetchall()
    return [
        ChannelHit("turn", at, 1.0, "not read yet" if state in UNREAD_STATES else "just said")
        for at, state in reversed(found)
    ]
