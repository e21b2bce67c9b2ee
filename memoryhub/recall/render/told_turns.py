"""Turns as a question may find them: what an editor has hidden stands under bars."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from memoryhub.dialogues.models import REDACTION_BAR
from memoryhub.dialogues.queries import SpokenTurn
from memoryhub.dialogues.redaction import draw_bars
from memoryhub.tenants.database.prepared import open_prepared_cursor
from memoryhub.tenants.scope import get_current_tenant

# Where the turn `t` told the claims read from it, and which of them were hidden: taken out by hand,
# with no other wording that is held. NULL where none was.
_TOLD_CLAIMS_SQL = """
LEFT JOIN LATERAL (
  SELECT jsonb_agg(jsonb_build_array(c.span_start, c.span_end, c.hidden)) AS claims
  FROM (
    SELECT d.span_start, d.span_end,
      f.retired_at IS NOT NULL AND f.status <> 'retracted'
        AND NOT EXISTS (SELECT FROM notes_fact v
          WHERE v.lineage = f.lineage AND v.tenant_id = f.tenant_id AND v.retired_at IS NULL)
        AND EXISTS (SELECT FROM notes_revision r JOIN notes_evolutionevent e ON e.id = r.event_id
          WHERE r.row_type = 'fact' AND r.row_id = f.id AND e.kind = 'manual'
            AND e.created_at = f.retired_at) AS hidden
    FROM notes_derivation d JOIN notes_fact f ON f.id = d.child_id
    WHERE d.turn_id = t.id AND d.child_type = 'fact' AND d.role = 'support'
  ) c HAVING bool_or(c.hidden)
) told ON true
"""
_COLUMNS = """
t.id, s.ordinal, t.ordinal, t.speaker, t.text, t.occurred_at, t.external_id, t.state, told.claims
"""
_TURNS_SQL = f"""
SELECT {_COLUMNS}
FROM dialogues_turn t JOIN dialogues_session s ON s.id = t.session_id {_TOLD_CLAIMS_SQL}
WHERE t.tenant_id = %s AND t.id = ANY(%s) AND t.state <> 'redacted'
"""  # noqa: S608  # fixed text
_TURNS_OF_PAGES_SQL = f"""
SELECT p.id, {_COLUMNS}
FROM notes_page p JOIN dialogues_session s ON s.id = p.session_id
JOIN dialogues_turn t ON t.session_id = p.session_id AND t.seq BETWEEN p.first_seq AND p.last_seq
{_TOLD_CLAIMS_SQL}
WHERE p.tenant_id = %s AND p.id = ANY(%s) AND t.state <> 'redacted' AND NOT t.metadata ? 'inner'
ORDER BY t.seq
"""  # noqa: S608  # fixed text


@dataclass(frozen=True, slots=True)
class ToldTurns:
    """`shown`: turns by id, without those that are hidden altogether. `covered`: of each of which
    something is hidden, its words and those that are shown."""

    shown: Mapping[UUID, SpokenTurn]
    covered: Mapping[UUID, tuple[str, str]]

    def cover_words(self, text: str, turns: Iterable[UUID]) -> str:
        """A text that has the words of these turns, with what of them is hidden under bars."""
        for words, shown in (self.covered[turn] for turn in turns if turn in self.covered):
            text = text.replace(words, shown)
        return text


def load_told_turns(ids: Collection[UUID]) -> ToldTurns:
    """Those of these turns that are not erased. A plain statement: every question reads it."""
    if not ids:
        return ToldTurns({}, {})
    with open_prepared_cursor(binary=True) as cursor:
        cursor.execute(_TURNS_SQL, [get_current_tenant(), list(ids)])
        rows = cursor.fetchall()
    turns = {row[0]: _cover_hidden_words(*row) for row in rows}
    covered = {row[0]: (row[4], turns[row[0]].text) for row in rows if row[-1]}
    return ToldTurns(
        {at: turn for at, turn in turns.items() if is_anything_left(turn.text)}, covered
    )


def load_turns_of_pages(pages: Sequence[UUID]) -> dict[UUID, list[SpokenTurn]]:
    """The turns of each page, in order, without redacted ones; other sessions of the space may
    speak in between. A plain statement: every context reads it."""
    turns: dict[UUID, list[SpokenTurn]] = defaultdict(list)
    if pages:
        with open_prepared_cursor(binary=True) as cursor:
            cursor.execute(_TURNS_OF_PAGES_SQL, [get_current_tenant(), list(pages)])
            for page, *row in cursor.fetchall():
                turn = _cover_hidden_words(*row)
                if is_anything_left(turn.text):
                    turns[page].append(turn)
    return turns


def is_anything_left(text: str) -> bool:
    """Whether anything is left of it."""
    return re.search(r"\w", text) is not None or REDACTION_BAR not in text


def _cover_hidden_words(*row: Any) -> SpokenTurn:
    """The turn of a row. What another claim tells too stays."""
    turn, claims = SpokenTurn(*row[:-1]), row[-1]
    if claims is None:
        return turn
    length = len(turn.text)
    spans = [(start or 0, length if end is None else end, hidden) for start, end, hidden in claims]
    kept = [(start, end) for start, end, hidden in spans if not hidden]
    gone = [
        (start, end)
        for start, end, hidden in spans
        if hidden and not any(a < end and start < b for a, b in kept)
    ]
    return turn._replace(text=draw_bars(turn.text, gone))
