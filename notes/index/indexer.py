"""What of a memory is embedded, and which of its words are stored, for the write and read path.

A turn is embedded without names and date, alone and with its neighbours, and its stored vector
is the sum of both: compare by inner product. Its words carry the date and a wider window.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from typing import Any, Literal
from uuid import UUID

import numpy as np
from django.db import connection
from numpy.typing import NDArray
from pgvector import HalfVector

from memoryhub.dialogues.models import Turn
from memoryhub.engines.local.claims.predicates import get_search_words
from memoryhub.engines.local.language import CJK, detect_language
from memoryhub.engines.types import Embedder
from memoryhub.inference.selection import embed_or_none
from memoryhub.policies.schema import NoteVector
from memoryhub.subject_names import PLACEHOLDERS
from memoryhub.tenants.database.prepared import open_prepared_cursor
from memoryhub.tenants.ids import new_id
from memoryhub.tenants.models import Space
from notes.index.lexemes import build_lexical_text
from notes.models import Derivation, Entity, Episode, Fact, Note, Page, Relation, Segment

EntryKind = Literal["turn", "fact", "note", "page", "segment", "episode", "entity", "relation"]
Vectors = NDArray[np.float32]

# Turns before and after whose words stand beside a turn's own; for the vector, one each side.
BEFORE, AFTER, BESIDE = 2, 1, 1
MAX_CHUNK_TOKENS = 256
# Chunks of a message that get their vectors when it is read, about 40,000 characters of English:
# the rest of what is as long as a book would hold up its reading for a minute (`EmbedStep`).
MAX_CHUNKS_AT_ONCE = 40
MAX_NOTE_CHUNKS = 4
MAX_EPISODE_CHUNKS = 4
NEIGHBOUR_WEIGHT = 0.5
_KINDS = Episode.Kind
# Episodes of other kinds are read by name.
_SEARCHED_EPISODES = (_KINDS.TOPIC, _KINDS.SESSION, _KINDS.DAY, _KINDS.GLOBAL)
# About one token each: a CJK character, or a stretch of other script.
_TOKEN_UNIT = re.compile(rf"[{CJK}]|[^\s{CJK}]{{1,12}}")


@dataclass(frozen=True, slots=True)
class EntryDraft:
    """One chunk to index. `beside` are the neighbours' texts that share in its vector.

    `words` and `window_words` are what `lexical_text` made; an empty window is stored as null.
    """

    kind: EntryKind
    owner_id: UUID
    chunk: int
    text_to_embed: str
    beside: tuple[str, ...] = ()
    words: str = ""
    window_words: str = ""

    @property
    def text_hash(self) -> str:
        return hashlib.sha256("\0".join([self.text_to_embed, *self.beside]).encode()).hexdigest()


def build_turn_entries(
    turns: Sequence[Turn],
    speakers: Iterable[str],
    *,
    time_words: Mapping[UUID, str] | None = None,
    only: Collection[UUID] | None = None,
    zone: tzinfo = UTC,
    max_tokens: int = MAX_CHUNK_TOKENS,
) -> list[EntryDraft]:
    """Entries of `turns`, consecutive and in order; windows stay within a session.

    `only` names the turns to make entries for, the others being context: see `touched`.
    `time_words` are resolved dates ("12 May 2026" for "last Friday") by turn.
    """
    names = tuple(speakers)
    made: list[EntryDraft] = []
    for at, turn in enumerate(turns):
        if only is None or turn.id in only:
            date = format_date_words(turn.occurred_at.astimezone(zone), turn.text)
            dated = f"{date} {(time_words or {}).get(turn.id, '')}"
            made += _build_turn_chunks(turns, at, dated, names, max_tokens)
    return made


def find_touched_turns(turns: Sequence[Turn], new: Collection[UUID]) -> set[UUID]:
    """The new turns and those before them whose windows they complete.

    Give `turn_entries` BEFORE + AFTER turns of context in front of the first new one.
    """
    places = [at for at, turn in enumerate(turns) if turn.id in new]
    return {turns[near].id for at in places for near in range(max(0, at - AFTER), at + 1)}


def _build_turn_chunks(
    turns: Sequence[Turn], at: int, dated: str, names: Sequence[str], max_tokens: int
) -> Iterator[EntryDraft]:
    turn = turns[at]

    def list_pieces(near: Sequence[Turn], place: int) -> list[str]:
        own = [each for each in near if each.session_id == turn.session_id]
        return [split_into_chunks(each.words, max_tokens)[place] for each in own]

    before, after = turns[max(0, at - BEFORE) : at], turns[at + 1 : at + 1 + AFTER]
    wide_before, wide_after = list_pieces(before, -1), list_pieces(after, 0)
    pieces = split_into_chunks(turn.words, max_tokens)
    # A chunk of a long text stands in the company of its own text.
    close = [before[-BESIDE:], after[:BESIDE]] if len(pieces) == 1 else [(), ()]
    beside = [*list_pieces(close[0], -1), *list_pieces(close[1], 0)]
    for number, text in enumerate(pieces):
        yield EntryDraft(
            kind="turn",
            owner_id=turn.id,
            chunk=number,
            text_to_embed=strip_names(text, names),
            beside=tuple(strip_names(other, names) for other in beside),
            words=build_lexical_text(f"{dated} {text}"),
            window_words=build_lexical_text(" ".join([dated, *wide_before, text, *wide_after])),
        )


def build_fact_entries(facts: Iterable[Fact], zone: tzinfo = UTC) -> list[EntryDraft]:
    """Facts under their own words, those of their predicate, and both their dates."""
    return [_build_fact_entry(fact, zone) for fact in facts]


def _build_fact_entry(fact: Fact, zone: tzinfo) -> EntryDraft:
    times = [at for at in (fact.asserted_at, fact.event_from) if at]
    dated = " ".join(format_date_words(at.astimezone(zone), fact.text) for at in times)
    predicate = get_search_words(fact.predicate_key)
    words = f"{dated} {fact.event_text} {fact.text} {predicate}"
    text = strip_names(fact.text, (fact.owner, fact.speaker))
    return EntryDraft("fact", fact.id, 0, text, words=build_lexical_text(words))


def build_note_entries(
    notes: Iterable[Note], zone: tzinfo = UTC, vector: NoteVector = "beside"
) -> list[EntryDraft]:
    """Notes under content, keywords, tags and context together (spec A7).

    `beside`: the descriptors stand beside the content, which never changes: when they evolve, they
    alone are embedded anew. `whole`: one text of all, as in A-Mem (spec §4.1).
    """
    return [entry for note in notes for entry in _build_note_chunks(note, zone, vector)]


def _build_note_chunks(note: Note, zone: tzinfo, vector: NoteVector) -> Iterator[EntryDraft]:
    described = " ".join([*note.keywords, *note.tags, note.context]).strip()
    dated = format_date_words(note.occurred_at.astimezone(zone), note.content)
    whole = vector == "whole" and bool(described)
    # What describes a note is embedded with each of its chunks, and must not be cut off.
    taken = len(_TOKEN_UNIT.findall(described)) if whole else 0
    room = max(MAX_CHUNK_TOKENS - taken, MAX_CHUNK_TOKENS // 2)
    # The turns themselves are indexed whole; a note stands for them.
    for number, text in enumerate(split_into_chunks(note.content, room)[:MAX_NOTE_CHUNKS]):
        words = build_lexical_text(f"{dated} {text} {described}")
        if whole:
            yield EntryDraft("note", note.id, number, f"{text}\n{described}", words=words)
        else:
            beside = (described,) if described else ()
            yield EntryDraft("note", note.id, number, text, beside, words)


def build_page_entries(
    pages: Iterable[tuple[Page, Sequence[Turn]]], speakers: Iterable[str], *, zone: tzinfo = UTC
) -> list[EntryDraft]:
    """Pages with their turns: what was said, whoever said it.

    Turns have been embedded by themselves; short pages are put together from them.
    """
    names = tuple(speakers)
    return [
        entry for page, turns in pages for entry in _build_page_chunks(page, turns, names, zone)
    ]


def _build_page_chunks(
    page: Page, turns: Sequence[Turn], names: Sequence[str], zone: tzinfo
) -> Iterator[EntryDraft]:
    text = "\n".join(turn.words for turn in turns)
    dated = format_date_words(turns[0].occurred_at.astimezone(zone), text) if turns else ""
    if turns and all(len(split_into_chunks(turn.words)) == 1 for turn in turns):
        first, *others = (strip_names(turn.words, names) for turn in turns)
        words = build_lexical_text(f"{dated} {text}")
        yield EntryDraft("page", page.id, 0, first, tuple(others), words)
        return
    for number, part in enumerate(split_into_chunks(text)[:MAX_NOTE_CHUNKS]):
        words = build_lexical_text(f"{dated} {part}")
        yield EntryDraft("page", page.id, number, strip_names(part, names), words=words)


def build_segment_entries(segments: Iterable[Segment]) -> list[EntryDraft]:
    """Segments under summary and keywords together."""
    return [build_segment_entry(row.id, row.summary, row.keywords) for row in segments]


def build_segment_entry(segment_id: UUID, summary: str, keywords: Sequence[str]) -> EntryDraft:
    text = format_segment_text(summary, keywords)
    return EntryDraft("segment", segment_id, 0, text, words=build_lexical_text(text))


def format_segment_text(summary: str, keywords: Sequence[str]) -> str:
    """What a segment, or a theme that may join one, is embedded as."""
    return f"{summary}\n{', '.join(keywords)}".strip()


def build_entity_entries(entities: Iterable[Entity]) -> list[EntryDraft]:
    return [
        _build_graph_entry("entity", each.id, each.name, " ".join(each.aliases))
        for each in entities
    ]


def build_relation_entries(relations: Iterable[Relation]) -> list[EntryDraft]:
    """The relation as "source label target", found also by the words of its fact."""
    return [
        _build_graph_entry("relation", r.id, f"{r.src.name} {r.label} {r.dst.name}", r.fact.text)
        for r in relations
    ]


def _build_graph_entry(kind: EntryKind, owner: UUID, text: str, words: str) -> EntryDraft:
    known = build_lexical_text(f"{text.replace('_', ' ')} {words}")
    return EntryDraft(kind, owner, 0, text, words=known)


def build_episode_entries(rows: Iterable[Episode], zone: tzinfo = UTC) -> list[EntryDraft]:
    """Index entries of the kinds that are searched, under title, text and first date."""
    return [
        entry
        for row in rows
        if row.kind in _SEARCHED_EPISODES
        for entry in _build_episode_chunks(row, zone)
    ]


def _build_episode_chunks(row: Episode, zone: tzinfo) -> list[EntryDraft]:
    dated = format_date_words(row.from_at.astimezone(zone), row.text)
    pieces = split_into_chunks(f"{row.title}\n{row.text}".strip())[:MAX_EPISODE_CHUNKS]
    return [
        EntryDraft("episode", row.id, at, text, words=build_lexical_text(f"{dated} {text}"))
        for at, text in enumerate(pieces)
    ]


def split_into_chunks(text: str, max_tokens: int = MAX_CHUNK_TOKENS) -> list[str]:
    """`text` whole, or in overlapping pieces that an embedder of `max_tokens` reads (E4).

    An eighth of a piece is repeated in the next one; tokens are estimated, not counted.
    """
    units = [match.span() for match in _TOKEN_UNIT.finditer(text)]
    size = max(8, max_tokens * 3 // 4)
    if len(units) <= size:
        return [text]
    starts = range(0, len(units) - size // 8, size - size // 8)
    return [text[units[at][0] : units[min(at + size, len(units)) - 1][1]] for at in starts]


def strip_names(text: str, names: Iterable[str]) -> str:
    """`text` without people's names, which pull every vector that carries them together."""
    known = sorted({form for name in names for form in _list_name_forms(name) if form}, key=len)
    if not known or not text:
        return text
    alternatives = "|".join(re.escape(name) for name in reversed(known))
    bare = re.sub(rf"(?<![A-Za-z])(?:{alternatives})(?:['’]s)?(?![A-Za-z])", " ", text)
    return " ".join(bare.split()) or text


def _list_name_forms(name: str) -> tuple[str, ...]:
    """In full and each word of it; "the user" has no words that are names."""
    return (name, name[:1].upper() + name[1:]) if name in PLACEHOLDERS else (name, *name.split())


def format_date_words(at: datetime, text: str) -> str:
    """The date as it is asked for in the language of `text`."""
    if detect_language(text) == "zh":
        return f"{at.year}年{at.month}月{at.day}日"
    return f"{at.day} {at:%B} {at.year}"


def embed_entries(entries: Sequence[EntryDraft], embedder: Embedder) -> Vectors:
    """(len(entries), dimension): each entry's own vector plus that of its window, of length 1 too.

    The window's vector is put together from the turns' own: half of each neighbour's is added.
    That finds slightly more than embedding the window's text would, for a fourth of the work.
    Runs a model: call outside any transaction. Raises EngineError.
    """
    texts = list(dict.fromkeys(text for e in entries for text in (e.text_to_embed, *e.beside)))
    place = {text: at for at, text in enumerate(texts)}
    known = embedder.embed(texts)
    own = known[[place[entry.text_to_embed] for entry in entries]]
    window = own.copy()
    for at, entry in enumerate(entries):
        for text in entry.beside:
            window[at] += NEIGHBOUR_WEIGHT * known[place[text]]
    length = np.linalg.norm(window, axis=1, keepdims=True)
    unit: Vectors = (window / np.where(length == 0, 1, length)).astype(np.float32)
    return own + unit


def embed_entries_or_none(entries: Sequence[EntryDraft], embedder: Embedder) -> Vectors | None:
    """None where there are none, or the embedder is down: they are found by their words (E18)."""
    return embed_or_none(lambda: embed_entries(entries, embedder)) if entries else None


@dataclass(frozen=True, slots=True)
class EmbeddedEntries:
    """Entries with their vectors; None while the embedder is down."""

    entries: Sequence[EntryDraft] = ()
    vectors: Vectors | None = None

    @property
    def is_unembedded(self) -> bool:
        return bool(self.entries) and self.vectors is None

    def select_owners(self, owners: Collection[UUID]) -> EmbeddedEntries:
        at = [place for place, entry in enumerate(self.entries) if entry.owner_id in owners]
        vectors = None if self.vectors is None else self.vectors[at]
        return EmbeddedEntries([self.entries[place] for place in at], vectors)


def embed_if_possible(entries: Sequence[EntryDraft], embedder: Embedder) -> EmbeddedEntries:
    return EmbeddedEntries(entries, embed_entries_or_none(entries, embedder))


# In the same statement go rows whose text no longer has as many chunks, and other models' rows
# of a text that has changed: a vector is that of the present text, or there is none (I9).
_UPSERT_SQL = """
WITH given AS (
  SELECT * FROM unnest(
    %(id)s::uuid[], %(kind)s::text[], %(owner)s::uuid[], %(chunk)s::int[],
    %(vector)s::text[], %(words)s::text[], %(window)s::text[], %(hash)s::text[]
  ) AS g(id, kind, owner_id, chunk, vector, words, window_words, hash)
), gone AS (
  DELETE FROM notes_indexentry e
  USING (SELECT kind, owner_id, max(chunk) AS last FROM given GROUP BY kind, owner_id) kept
  WHERE e.owner_id = kept.owner_id AND e.kind = kept.kind AND e.chunk > kept.last
    AND (e.model = %(model)s OR NOT %(beside)s)
), outdated AS (
  DELETE FROM notes_indexentry e USING given g
  WHERE e.owner_id = g.owner_id AND e.kind = g.kind AND e.chunk = g.chunk
    AND e.model <> %(model)s AND e.text_hash <> g.hash AND NOT %(beside)s
)
INSERT INTO notes_indexentry AS e (id, tenant_id, space_id, model, kind, owner_id, chunk,
                                   embedding, words, window_words, text_hash)
SELECT id, %(tenant)s, %(space)s, %(model)s, kind, owner_id, chunk, vector::halfvec,
       to_tsvector('english', words), to_tsvector('english', NULLIF(window_words, '')), hash
FROM given
ON CONFLICT (owner_id, kind, chunk, model) DO UPDATE SET
  embedding = COALESCE(EXCLUDED.embedding,
                       CASE WHEN e.text_hash = EXCLUDED.text_hash THEN e.embedding END),
  words = EXCLUDED.words, window_words = EXCLUDED.window_words, text_hash = EXCLUDED.text_hash
"""


def write_entries(
    space: Space,
    model_name: str,
    entries: Sequence[EntryDraft],
    vectors: Vectors | None,
    *,
    beside: bool = False,
) -> None:
    """Store or replace the entries in one statement. Call inside the tenant's scope.

    `vectors` are those of the first entries. The others, and all where the embedder is down (None),
    are found by their words until they get one (E18).
    Another model's vectors of texts that changed go; `beside` leaves them all, for what is but
    made again (E17).
    """
    if not entries:
        return
    _adopt_model(space, model_name)
    known = [] if vectors is None else [serialize_vector(v) for v in vectors]
    columns: dict[str, Any] = {
        "tenant": space.tenant_id,
        "space": space.id,
        "model": model_name,
        "beside": beside,
        "id": [new_id() for _ in entries],
        "kind": [entry.kind for entry in entries],
        "owner": [entry.owner_id for entry in entries],
        "chunk": [entry.chunk for entry in entries],
        "vector": [*known, *[None] * (len(entries) - len(known))],
        "words": [entry.words for entry in entries],
        "window": [entry.window_words for entry in entries],
        "hash": [entry.text_hash for entry in entries],
    }
    with open_prepared_cursor() as cursor:
        cursor.execute(_UPSERT_SQL, columns)


# Of a space from before models were recorded, the one its entries have.
_ADOPT_MODEL_SQL = """
UPDATE tenants_space SET embedding_model = COALESCE((
  SELECT model FROM notes_indexentry WHERE tenant_id = %s AND space_id = %s LIMIT 1), %s)
WHERE id = %s AND embedding_model = '' RETURNING embedding_model
"""


def _adopt_model(space: Space, model_name: str) -> None:
    """The first vectors of a space say by whose it is searched."""
    if space.embedding_model:
        return
    with connection.cursor() as cursor:
        cursor.execute(_ADOPT_MODEL_SQL, [space.tenant_id, space.id, model_name, space.id])
        adopted = cursor.fetchone()
    if adopted is None:  # another writer was first
        space.refresh_from_db(fields=["embedding_model"])
    else:
        space.embedding_model = adopted[0]


def serialize_vector(vector: NDArray[np.float32] | HalfVector) -> str:
    """The vector as SQL takes it, for `::halfvec`."""
    half = vector if isinstance(vector, HalfVector) else HalfVector(vector)
    values = half.to_list()
    # Five digits tell each number of 16 bits from the next; all that it has takes thrice as long.
    return f"[{','.join(['%.5g'] * len(values))}]" % tuple(values)


# As they are stored: to write numbers out and to read them again takes most of the time.
_VECTORS_SQL = """
SELECT owner_id, halfvec_send(embedding) FROM notes_indexentry
WHERE tenant_id = %s AND space_id = %s AND kind = %s AND model = %s AND chunk = 0
  AND owner_id = ANY(%s::uuid[]) AND embedding IS NOT NULL
"""
_VECTOR_HEAD_BYTES = 4  # in front of its numbers


def load_vectors(
    space: Space, kind: EntryKind, model: str, owners: Collection[UUID]
) -> dict[UUID, NDArray[np.float32]]:
    """The vectors of these memories, or of their first chunks; one statement. Call inside the
    tenant's scope."""
    with open_prepared_cursor(binary=True) as cursor:
        asked = [space.tenant_id, space.id, kind, model, list(owners)]
        cursor.execute(_VECTORS_SQL, asked)
        return {
            owner: np.frombuffer(sent, ">f2", offset=_VECTOR_HEAD_BYTES).astype(np.float32)
            for owner, sent in cursor.fetchall()
        }


# The dates that a turn's facts speak of, in words that the turn is then found by.


def load_event_date_words(turn_ids: Sequence[UUID], zone: tzinfo) -> dict[UUID, str]:
    """By turn, from the facts stored. Call inside the tenant's scope."""
    if not turn_ids:
        return {}
    links = Derivation.objects.filter(child_type="fact", turn_id__in=turn_ids).exclude(
        role=Derivation.Role.WITHDRAWN
    )
    turns = dict(links.values_list("child_id", "turn_id"))
    facts = Fact.objects.filter(id__in=turns, event_from__isnull=False)
    return join_date_words(((turns[fact.id], fact) for fact in facts), zone)


def join_date_words(found: Iterable[tuple[UUID, Fact]], zone: tzinfo) -> dict[UUID, str]:
    """The event dates of (turn, fact) pairs, those of a turn side by side."""
    words: dict[UUID, list[str]] = {}
    for turn_id, fact in found:
        if fact.event_from is not None:
            day = format_date_words(fact.event_from.astimezone(zone), fact.text)
            words.setdefault(turn_id, []).append(day)
    return {turn_id: " ".join(days) for turn_id, days in words.items()}
