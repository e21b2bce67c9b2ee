"""What the channels' own statements share: the question's parameters, and a row's cosine."""

from __future__ import annotations

from typing import Any

from django.db import connection
from pgvector import HalfVector

from memoryhub.recall.question.prepare import PreparedQuestion
from notes.facts.validity import build_fact_current_sql
from notes.retention.decay import build_row_visible_sql


def build_cosine_sql(ask: PreparedQuestion, kind: str, owner: str) -> str:
    """An expression: how alike the question and the row `owner` of an index kind are, or NULL.

    Entries of another model are not looked at: their vectors may be of another length (E17).
    """
    if ask.vector is None:
        return "NULL::float"
    return (
        "(SELECT max(CASE WHEN e.model = %(model)s"  # noqa: S608  # our own names
        " THEN NULLIF(1 - (e.embedding <=> %(vector)s::halfvec), 'NaN') END)"
        f" FROM notes_indexentry e WHERE e.owner_id = {owner} AND e.kind = '{kind}')"
    )


def build_current_sql(ask: PreparedQuestion, fact: str) -> str:
    """A condition: the fact holds at the time asked about, or, where the past is asked for, did."""
    if ask.visibility.include_past and ask.visibility.as_of is None:
        return f"({fact}.retired_at IS NULL AND {fact}.status <> 'retracted')"
    return build_fact_current_sql(fact, "%(at)s::timestamptz")


def build_visible_sql(ask: PreparedQuestion, row: str) -> str:
    """A condition: the row has not faded, or the search is deep."""
    return "TRUE" if ask.visibility.deep else build_row_visible_sql(row, ask.policy.forget)


def load_rows(ask: PreparedQuestion, statement: str, **values: Any) -> list[tuple[Any, ...]]:
    """Run it inside the tenant's scope, with the question's own values beside the given ones."""
    common: dict[str, Any] = {
        "space": ask.space.id,
        "model": ask.model,
        "vector": None if ask.vector is None else HalfVector(ask.vector).to_text(),
        "at": ask.visibility.at,
        "said_by": ask.visibility.said_by,
    }
    with connection.cursor() as cursor:
        cursor.execute(statement, common | values)
        return list(cursor.fetchall())
