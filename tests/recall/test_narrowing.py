"""Of a large space's memories only those with telling words are read, and ranked as ever."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import connection

from memoryhub.recall.candidates import common_words
from memoryhub.recall.candidates.common_words import build_narrow_tsquery, quote_lexeme
from memoryhub.recall.services import search_memories
from memoryhub.tenants.scope import tenant_scope
from tests.recall.conftest import AT, RecallWorld

SHARES = {"time": 0.1, "new": 0.08, "go": 0.12, "say": 0.2, "school": 0.01}


def test_all_are_read_where_they_are_few() -> None:
    assert build_narrow_tsquery(["time", "cello"], SHARES, 10_000, 2_000) == ""
    assert build_narrow_tsquery([], SHARES, 1_000_000, 2_000) == ""


def test_rare_words_are_looked_for_alone_and_frequent_ones_where_they_meet() -> None:
    found = build_narrow_tsquery(["time", "cello", "new", "say"], SHARES, 100_000, most=2_000)
    assert found == "'cello' | ('new' & 'time' & 'say')"


def test_two_frequent_words_are_enough_where_few_memories_have_both() -> None:
    shares = {"time": 0.05, "new": 0.05, "go": 0.05}
    found = build_narrow_tsquery(["go", "time", "new"], shares, 10_000, most=400)
    assert found == "('go' & 'new') | ('go' & 'time') | ('new' & 'time')"


def test_one_frequent_word_beside_rare_ones_only_ranks() -> None:
    assert build_narrow_tsquery(["school", "time"], SHARES, 60_000, most=2_000) == "'school'"


@pytest.mark.parametrize("size", [30_000, 100_000, 3_000_000])
def test_frequent_words_alone_are_still_looked_for(size: int) -> None:
    assert build_narrow_tsquery(["time"], SHARES, size, 2_000) == "('time')"
    assert "&" in build_narrow_tsquery(["time", "say"], SHARES, size, 2_000)


def test_at_most_four_frequent_words_are_combined() -> None:
    shares = {f"w{n}": 0.1 for n in range(30)}
    assert build_narrow_tsquery(list(shares), shares, 10_000_000, 2_000).count("&") == 3


@pytest.mark.parametrize("word", ["o'clock", "a\\b", "it's \\' & |"])
def test_words_are_quoted_as_a_tsquery_wants_them(word: str, world: RecallWorld) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT array_to_tsvector(%s) @@ %s::tsquery", [[word], quote_lexeme(word)])
        assert cursor.fetchone() == (True,)


def test_a_large_space_is_searched_by_its_rarer_words(
    world: RecallWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    for day in range(30):
        at = AT + timedelta(days=day)
        world.add_lines(f"Ana: bread again, loaf number {day}", "Ben: bread with a crust", at=at)
    world.add_lines("Ana: the bread knife is in the cello case", at=AT + timedelta(days=40))
    whole = search_memories(world.space, "Where is the bread knife, in the cello case?", limit=3)
    monkeypatch.setattr(common_words, "MAX_MEMORIES_READ", 10)
    with tenant_scope(world.tenant.id):
        assert "bread" in common_words._count_word_shares(world.space)
        sought = common_words.narrow_question(world.space, "bread knife cello", 200)
    assert sought == "'cello' | 'knife'"
    narrow = search_memories(world.space, "Where is the bread knife, in the cello case?", limit=3)
    assert "cello" in narrow.items[0].text
    assert narrow.items[0].id == whole.items[0].id
