"""Many memories of one space at once, with their sources and their history, and many rows like
one, in a few statements."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta
from itertools import pairwise
from typing import Any, TypeVar

from django.db.models import Model

from memoryhub.dialogues.messages import hash_text
from memoryhub.dialogues.models import Session, Turn
from memoryhub.tenants.models import Space
from notes.history.change_set import serialize_row
from notes.models import (
    Chain,
    Derivation,
    Entity,
    Episode,
    EvolutionEvent,
    Fact,
    Link,
    Note,
    Page,
    Relation,
    Revision,
    Segment,
    SegmentPage,
)
from tests.support.factories import MAY

M = TypeVar("M", bound=Model)
PER_EVENT = 10  # rows of a change-set
ONE_HOUR = timedelta(hours=1)


def make_memories(space: Space, count: int) -> None:
    """`count` memories: half of them facts, three of ten notes, the rest entities, segments and
    episodes. A turn to each of four facts. Call inside the tenant's scope."""
    own = {"tenant_id": space.tenant_id, "space": space}
    turns = _make_turns(space, max(2, count // 8), own)
    facts = _make_facts(space, turns, count // 2, own)
    notes = _make_notes(space, _make_pages(turns, own), count * 3 // 10, own)
    entities = _make_entities(count // 10, own)
    segments = _make_segments(notes, count // 20, own)
    episodes = _make_episodes(turns, count // 20, own)
    _make_links(notes, facts, entities, own)
    _make_history([*facts, *notes, *entities, *segments, *episodes], turns, own)


def make_copies(row: M, count: int, **changing: Callable[[int], Any]) -> list[M]:
    """`count` rows like this one, but for the columns whose values come of their number."""
    columns = [each.attname for each in row._meta.concrete_fields if not each.primary_key]
    like = {name: getattr(row, name) for name in columns}
    numbered = ({name: value(n) for name, value in changing.items()} for n in range(count))
    return _create_rows([type(row)(**like | values) for values in numbered])


def _create_rows(rows: Sequence[Any]) -> list[Any]:
    return list(type(rows[0])._default_manager.bulk_create(rows, batch_size=2000)) if rows else []


def _make_turns(space: Space, count: int, own: dict[str, Any]) -> list[Turn]:
    first = space.next_seq
    session = Session.objects.create(
        ordinal=99, started_at=MAY, ended_at=MAY, turn_count=count, **own
    )
    Space.objects.filter(id=space.id).update(next_seq=first + count)
    return _create_rows(
        [
            Turn(
                session=session,
                seq=first + n,
                ordinal=n,
                role="user",
                speaker=space.subject,
                text=f"Hive {n} stands in the garden.",
                occurred_at=MAY + n * ONE_HOUR,
                received_at=MAY + n * ONE_HOUR,
                content_hash=hash_text(f"hive {n}"),
                state=Turn.State.PROCESSED,
                **own,
            )
            for n in range(count)
        ]
    )


def _make_pages(turns: Sequence[Turn], own: dict[str, Any]) -> list[Page]:
    (chain,) = _create_rows([Chain(page_count=len(turns), **own)])
    return _create_rows(
        [
            Page(session=t.session, first_seq=t.seq, last_seq=t.seq, chain=chain, **own)
            for t in turns
        ]
    )


def _make_facts(space: Space, turns: Sequence[Turn], count: int, own: dict[str, Any]) -> list[Fact]:
    return _create_rows(
        [
            Fact(
                owner=space.subject,
                speaker=space.subject,
                text=f"Hive {n} stands in the garden",
                text_key=hash_text(f"fact {n}"),
                valid_from=MAY,
                asserted_at=turns[n % len(turns)].occurred_at,
                recorded_at=MAY,
                engine="local/1",
                **own,
            )
            for n in range(count)
        ]
    )


def _make_notes(space: Space, pages: Sequence[Page], count: int, own: dict[str, Any]) -> list[Note]:
    return _create_rows(
        [
            Note(
                page=pages[n % len(pages)],
                content=f"About hive {n}",
                keywords=["hive"],
                tags=[f"tag-{n % 20}"],
                occurred_at=MAY,
                created_at=MAY,
                engine="local/1",
                **own,
            )
            for n in range(count)
        ]
    )


def _make_entities(count: int, own: dict[str, Any]) -> list[Entity]:
    names = [f"Hive {n}" for n in range(count)]
    return _create_rows(
        [Entity(name=n, canonical_key=n.casefold(), type="thing", **own) for n in names]
    )


def _make_segments(notes: Sequence[Note], count: int, own: dict[str, Any]) -> list[Segment]:
    times = dict.fromkeys(("started_at", "ended_at", "last_visited_at"), MAY)
    rows: list[Segment] = _create_rows(
        [
            Segment(summary=f"Hive {n}", pages_total=9, promo_pages=9, **times, **own)
            for n in range(count)
        ]
    )
    pages = list(dict.fromkeys(note.page_id for note in notes if note.page_id))
    _create_rows(
        [
            SegmentPage(segment=rows[n % len(rows)], page_id=page, added_at=MAY, **own)
            for n, page in enumerate(pages)
        ]
    )
    return rows


def _make_episodes(turns: Sequence[Turn], count: int, own: dict[str, Any]) -> list[Episode]:
    seqs = dict.fromkeys(("from_seq", "to_seq"), turns[0].seq)
    return _create_rows(
        [
            Episode(kind="topic", text=f"Hive {n}", from_at=MAY, to_at=MAY, **seqs, **own)
            for n in range(count)
        ]
    )


def _make_links(
    notes: Sequence[Note], facts: Sequence[Fact], entities: Sequence[Entity], own: dict[str, Any]
) -> None:
    ordered = sorted(notes, key=lambda note: note.id)
    pairs = pairwise(ordered)
    _create_rows([Link(a=a, b=b, created_at=MAY, **own) for a, b in pairs])
    hub = entities[0]
    _create_rows(
        [
            Relation(fact=fact, src=hub, label="has", dst=entities[n % len(entities)], **own)
            for n, fact in enumerate(facts[::5])
        ]
    )


def _make_history(rows: Sequence[Any], turns: Sequence[Turn], own: dict[str, Any]) -> None:
    """The change-sets that made the rows, each row resting on a turn."""
    kinds = {"kind": "resolve", "actor": "pipeline", "engine": "local/1"}
    events = _create_rows(
        [
            EvolutionEvent(created_at=MAY + n * ONE_HOUR, **kinds, **own)
            for n in range(-(-len(rows) // PER_EVENT))
        ]
    )
    placed = [(row, events[n // PER_EVENT]) for n, row in enumerate(rows)]
    _create_rows([_build_revision(row, event, own) for row, event in placed])
    _create_rows(
        [
            Derivation(
                child_type=row._meta.model_name,
                child_id=row.id,
                turn=turns[n % len(turns)],
                event=event,
                **own,
            )
            for n, (row, event) in enumerate(placed)
        ]
    )


def _build_revision(row: Any, event: EvolutionEvent, own: dict[str, Any]) -> Revision:
    return Revision(
        event=event,
        row_type=row._meta.model_name,
        row_id=row.id,
        version_after=1,
        after=serialize_row(row),
        **own,
    )
