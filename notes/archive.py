"""The archive: free notes that an agent keeps for itself (MemGPT's passages, spec §3).

An agent's note is found by what it says, never rewritten: it evolves only where the policy says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from math import ceil
from typing import Any, Literal
from uuid import UUID
from zoneinfo import ZoneInfo

import numpy as np
from django.db import connection
from django.db.models import QuerySet
from numpy.typing import NDArray
from pgvector import HalfVector

from memoryhub.dialogues.messages import check_text
from memoryhub.engines.local.language import can_embed_language, detect_language
from memoryhub.engines.types import Embedder
from memoryhub.inference.selection import embed_or_none
from memoryhub.policies.services import load_effective_policy
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope
from notes.history.change_set import ChangeSet, TurnEvidence
from notes.index import indexer
from notes.index.lexemes import build_lexical_text
from notes.links.evolve import clean_words
from notes.models import EvolutionEvent, Note

PAGE_SIZE = 5
COSINE_FLOOR = 0.25  # cosine below which a passage is no match (spec §16)
_FUSION_CONSTANT = 60  # constant of rank fusion

# Both arms of every passage asked about; ids are bound, so nothing is scanned.
_SCORES_SQL = r"""
SELECT e.owner_id, max(1 - (e.embedding <=> %(vector)s::halfvec)),
       max(ts_rank(e.words, q.query)) FILTER (WHERE e.words @@ q.query)
FROM notes_indexentry e, (
  SELECT COALESCE(string_agg(
    $$'$$ || replace(replace(lexeme, $$\$$, $$\\$$), $$'$$, $$''$$) || $$'$$, ' | '
  ), '')::tsquery AS query
  FROM (SELECT lexeme FROM unnest(to_tsvector('english', %(words)s)) LIMIT 200) AS asked
) q
WHERE e.space_id = %(space)s AND e.kind = 'note' AND e.model = %(model)s
  AND e.owner_id = ANY(%(ids)s)
GROUP BY e.owner_id
"""


@dataclass(frozen=True, slots=True)
class PassagePage:
    """A page of matches, best first. `page` counts from 1; past the end it is empty."""

    notes: list[Note]
    total: int
    page: int
    pages: int

    def __str__(self) -> str:
        return f"{self.total} in all, page {self.page} of {self.pages}"


@dataclass(frozen=True, slots=True)
class PassageQuery:
    """What to look for. Without a query all passages match, the newest first.

    `tags`: any or all of them. `start` and `end` bound when it was kept, half-open.
    """

    query: str = ""
    tags: Sequence[str] = ()
    tag_mode: Literal["any", "all"] = "any"
    start: datetime | None = None
    end: datetime | None = None
    author: str = ""
    floor: float = COSINE_FLOOR


def add_passage(
    space: Space,
    content: str,
    embedder: Embedder,
    *,
    author: str,
    now: datetime,
    tags: Iterable[str] = (),
    turn_ids: Iterable[UUID] = (),
) -> Note:
    """Keep a passage. `turn_ids` are those it was made of, if known: erasing them erases it.

    Embeds before it opens its own scope; without an embedder the passage is found by its words.
    Raises InvalidInput for an empty text, TooLarge.
    """
    content = check_text(content, field="content").strip()
    note = Note(
        tenant_id=space.tenant_id,
        space=space,
        author=author[:120],
        content=content,
        tags=clean_words(list(tags)),
        occurred_at=now,
        created_at=now,
    )
    with tenant_scope(space.tenant_id):
        vector = load_effective_policy(space).policy.notes.vector
    entries = indexer.build_note_entries([note], ZoneInfo(space.timezone), vector)
    vectors = indexer.embed_entries_or_none(entries, embedder)
    changes = ChangeSet(space, EvolutionEvent.Kind.MANUAL, author[:120], now, "kept in the archive")
    with tenant_scope(space.tenant_id):
        note.save(force_insert=True)
        changes.record_creation(note, [TurnEvidence(turn) for turn in turn_ids])
        changes.save()
        indexer.write_entries(space, embedder.name, entries, vectors)
    return note


def search_passages(
    space: Space, wanted: PassageQuery, embedder: Embedder, *, page: int = 1, size: int = PAGE_SIZE
) -> PassagePage:
    """Free notes by meaning and by words. Embeds the query before it opens its own scope.

    A passage matches whose cosine reaches the floor, or that has a word of the query. Without an
    embedder that reads the query's language, words alone decide.
    """
    query = wanted.query.strip()
    vector = _embed_query(query, embedder) if query else None
    with tenant_scope(space.tenant_id):
        ids = list(_filter_passages(space, wanted).values_list("id", flat=True))
        if query:
            ids = _rank_passages(
                _load_scores(space, ids, query, vector, embedder.name), wanted.floor
            )
        first = (page - 1) * size
        shown = ids[first : first + size] if page > 0 else []
        notes = Note.objects.in_bulk(shown)
    pages = max(1, ceil(len(ids) / size))
    return PassagePage([notes[note] for note in shown], len(ids), page, pages)


def count_passages(space: Space) -> int:
    """How many a search may find. Call inside the tenant's scope."""
    return _filter_passages(space, PassageQuery()).count()


def _embed_query(query: str, embedder: Embedder) -> NDArray[np.float32] | None:
    """None when the embedder is down, or its vectors mean nothing in the query's language."""
    if not can_embed_language(embedder.name, detect_language(query)):
        return None
    return embed_or_none(lambda: embedder.embed([query])[0])


def _filter_passages(space: Space, wanted: PassageQuery) -> QuerySet[Note]:
    """Passages in force within the filters, the newest first."""
    rows: QuerySet[Note] = Note.objects.filter(
        space=space, page=None, fact=None, retired_at=None, visibility=Note.Visibility.ACTIVE
    )
    if wanted.author:
        rows = rows.filter(author=wanted.author)
    if wanted.tags:
        mode = "contains" if wanted.tag_mode == "all" else "overlap"
        rows = rows.filter(**{f"tags__{mode}": list(wanted.tags)})
    if wanted.start:
        rows = rows.filter(occurred_at__gte=wanted.start)
    if wanted.end:
        rows = rows.filter(occurred_at__lt=wanted.end)
    return rows.order_by("-occurred_at", "-id")


PassageScore = tuple[UUID, float | None, float | None]


def _load_scores(
    space: Space, ids: Sequence[UUID], query: str, vector: NDArray[np.float32] | None, model: str
) -> list[PassageScore]:
    """(passage, cosine, rank of its words), None where there is none. In the order of `ids`."""
    values: dict[str, Any] = {
        "vector": None if vector is None else HalfVector(vector).to_text(),
        "words": build_lexical_text(query),
        "space": space.id,
        "model": model,
        "ids": list(ids),
    }
    with connection.cursor() as cursor:
        cursor.execute(_SCORES_SQL, values)
        found = {row[0]: row for row in cursor.fetchall()}
    return [found[note] for note in ids if note in found]


def _rank_passages(scores: Sequence[PassageScore], floor: float) -> list[UUID]:
    """Those that match, by the ranks they have in both arms (spec C13)."""
    near = {n: cos for n, cos, _ in scores if cos is not None and round(cos, 6) >= floor}
    said = {n: rank for n, _, rank in scores if rank is not None}
    fused: dict[UUID, float] = {}
    for arm in (near, said):
        for place, note in enumerate(sorted(arm, key=lambda n: -arm[n])):
            fused[note] = fused.get(note, 0.0) + 1 / (_FUSION_CONSTANT + place + 1)
    return sorted(fused, key=lambda n: -fused[n])
