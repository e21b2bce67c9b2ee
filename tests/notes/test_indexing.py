from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import ClassVar
from uuid import UUID, uuid4

import numpy as np
import pytest
from numpy.typing import NDArray

from memoryhub.dialogues.messages import Message
from memoryhub.dialogues.models import Turn
from memoryhub.dialogues.services import append_turns
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope
from memoryhub.tenants.services import create_tenant, ensure_space
from notes.index import indexer
from notes.index.indexer import (
    EntryDraft,
    build_fact_entries,
    build_turn_entries,
    embed_entries,
    write_entries,
)
from notes.index.lexemes import build_lexical_text
from notes.models import Fact, IndexEntry, Note

AT = datetime(2026, 5, 8, 9, tzinfo=UTC)


def build_turn(text: str, *, session: UUID | None = None, at: datetime = AT) -> Turn:
    return Turn(text=text, speaker="Ana", session_id=session or SESSION, occurred_at=at)


SESSION = uuid4()


class Letters:
    """An embedder that counts the letters a to d: similar spelling, similar vector."""

    name, dimension, max_tokens = "letters", 4, 256

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.array([[t.lower().count(c) for c in "abcd"] for t in texts], dtype=np.float32)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return [len(text.split()) for text in texts]


@pytest.fixture
def space(db: None) -> Iterator[Space]:
    tenant = create_tenant("One", "one")
    with tenant_scope(tenant.id):
        yield ensure_space(tenant.id, "ana")


def test_a_turn_is_embedded_alone_and_with_one_neighbour_on_each_side() -> None:
    talk = [build_turn(text) for text in ("alpha", "beta", "gamma", "delta", "omega")]
    middle = build_turn_entries(talk, [])[2]
    assert middle.text_to_embed == "gamma"
    assert middle.beside == ("beta", "delta")


def test_its_words_have_the_date_two_turns_before_and_one_after() -> None:
    talk = [build_turn(text) for text in ("alpha", "beta", "gamma", "delta", "omega")]
    middle = build_turn_entries(talk, [])[2]
    assert middle.words.split() == ["8", "may", "2026", "gamma"]
    assert middle.window_words.split()[3:] == ["alpha", "beta", "gamma", "delta"]


def test_windows_end_with_the_session() -> None:
    talk = [build_turn("alpha"), build_turn("beta", session=uuid4())]
    assert [entry.beside for entry in build_turn_entries(talk, [])] == [(), ()]


def test_names_are_not_embedded_but_can_be_looked_up() -> None:
    (entry,) = build_turn_entries([build_turn("Ana's boat is called Anastasia")], ["Ana", "Ben"])
    assert entry.text_to_embed == "boat is called Anastasia"
    assert "ana" in entry.words


def test_a_text_of_names_alone_is_embedded_as_it_is() -> None:
    assert indexer.strip_names("Ana!", ["Ana"]) == "!"
    assert indexer.strip_names("Ana", ["Ana"]) == "Ana"


def test_resolved_dates_become_words() -> None:
    said = build_turn("We sailed last Friday")
    (entry,) = build_turn_entries([said], [], time_words={said.id: "1 May 2026"})
    assert "1 may 2026" in entry.words


def test_only_the_named_turns_get_entries() -> None:
    talk = [build_turn("alpha"), build_turn("beta"), build_turn("gamma")]
    (entry,) = build_turn_entries(talk, [], only={talk[1].id})
    assert entry.owner_id == talk[1].id
    assert "gamma" in entry.window_words


def test_a_new_turn_completes_the_window_of_the_one_before() -> None:
    talk = [build_turn("alpha"), build_turn("beta"), build_turn("gamma")]
    assert indexer.find_touched_turns(talk, {talk[2].id}) == {talk[1].id, talk[2].id}


def test_a_long_text_becomes_overlapping_chunks_that_lose_nothing() -> None:
    words = [f"word{n}" for n in range(1000)]
    pieces = indexer.split_into_chunks(" ".join(words), 256)
    assert len(pieces) > 3
    assert all(len(piece.split()) <= 256 for piece in pieces)
    assert [w for w in words if not any(w in piece.split() for piece in pieces)] == []
    assert set(pieces[0].split()) & set(pieces[1].split())


def test_chinese_without_spaces_is_cut_as_well() -> None:
    pieces = indexer.split_into_chunks("山" * 1000, 256)
    assert max(len(piece) for piece in pieces) <= 256


def test_a_fact_is_found_by_the_words_of_its_predicate_and_by_its_event() -> None:
    fact = Fact(
        text="Ana moved to Lisbon",
        owner="Ana",
        speaker="Ana",
        predicate_key="lives_in",
        asserted_at=AT,
        event_from=AT - timedelta(days=30),
        event_text="last month",
    )
    (entry,) = build_fact_entries([fact])
    assert entry.text_to_embed == "moved to Lisbon"
    assert {"lisbon", "lives", "april", "8", "month"} <= set(entry.words.split())


def test_a_note_is_embedded_with_its_descriptors() -> None:
    note = Note(content="Boats", keywords=["sail"], tags=["sea"], context="A trip", occurred_at=AT)
    (entry,) = indexer.build_note_entries([note])
    assert (entry.text_to_embed, entry.beside) == ("Boats", ("sail sea A trip",))


def test_chinese_is_cut_into_words_without_function_words() -> None:
    words = build_lexical_text("我上周搬到了里斯本 with Ana").split()
    assert {"上周", "里斯本", "with", "ana"} <= set(words)
    assert "了" not in words


def test_chinese_dates_are_one_word_however_written() -> None:
    assert (
        build_lexical_text("5月8号").split()
        == build_lexical_text("5月8日").split()
        == ["5月", "8日"]
    )


def build_turn_entry(
    text: str, window: str = "", owner: UUID | None = None, chunk: int = 0
) -> EntryDraft:
    beside = (window,) if window else ()
    return EntryDraft("turn", owner or uuid4(), chunk, text, beside, text, window)


def test_the_vector_is_its_own_and_that_of_its_window_which_half_of_each_neighbour_makes() -> None:
    entries = [build_turn_entry("a", "bbb"), build_turn_entry("c"), build_turn_entry("d", "b")]
    vectors = embed_entries(entries, Letters())
    window = np.array([1, 1.5, 0, 0]) / np.hypot(1, 1.5)
    assert vectors[0].tolist() == pytest.approx(np.array([1, 0, 0, 0]) + window)
    assert vectors[1].tolist() == [0, 0, 2, 0]


def test_a_text_is_embedded_once_however_often_it_stands_beside_another() -> None:
    class Counting(Letters):
        seen: ClassVar[list[str]] = []

        def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
            self.seen.extend(texts)
            return super().embed(texts)

    embed_entries(
        build_turn_entries([build_turn("alpha"), build_turn("beta"), build_turn("gamma")], []),
        Counting(),
    )
    assert sorted(Counting.seen) == ["alpha", "beta", "gamma"]


def test_written_entries_hold_vectors_and_stems(space: Space) -> None:
    entries = [build_turn_entry("abbey boats", "sailing")]
    vectors = embed_entries(entries, Letters())
    write_entries(space, "letters", entries, vectors)
    row = IndexEntry.objects.get()
    assert row.embedding == pytest.approx(vectors[0].tolist(), abs=0.01)
    assert "'abbey'" in str(row.words)
    assert "'sail'" in str(row.window_words)
    assert "'boat'" in str(row.words)


def test_writing_again_replaces_and_drops_chunks_that_are_gone(space: Space) -> None:
    owner = uuid4()
    write_entries(
        space, "m", [build_turn_entry("one", owner=owner, chunk=n) for n in range(3)], None
    )
    write_entries(space, "m", [build_turn_entry("two", owner=owner)], None)
    assert [row.words for row in IndexEntry.objects.all()] == ["'two':1"]


def test_without_vectors_entries_wait_for_one_and_keep_a_fresh_one(space: Space) -> None:
    entries = [build_turn_entry("abc")]
    write_entries(space, "letters", entries, None)
    assert IndexEntry.objects.get().embedding is None
    write_entries(space, "letters", entries, embed_entries(entries, Letters()))
    write_entries(space, "letters", entries, None)
    assert IndexEntry.objects.get().embedding is not None
    changed = [build_turn_entry("abd", owner=entries[0].owner_id)]
    write_entries(space, "letters", changed, None)
    assert IndexEntry.objects.get().embedding is None


def test_a_megabyte_fits(space: Space) -> None:
    text = " ".join(f"w{n:06}" for n in range(120_000))
    sent = [Message(role="user", content=text), Message(role="assistant", content="noted")]
    talk = append_turns(space, sent, received=AT).turns
    write_entries(space, "m", build_turn_entries(talk, space.speakers), None)
    assert IndexEntry.objects.count() > 100
