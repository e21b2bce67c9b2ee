from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any

import numpy as np
import pytest
from django.db import connection
from numpy.typing import NDArray
from pytest_django import DjangoAssertNumQueries

from memoryhub.errors import EngineError, InvalidInput
from memoryhub.inference import selection
from memoryhub.policies.compose import compose_policy
from memoryhub.policies.services import load_effective_policy
from memoryhub.recall.log import reinforcement
from memoryhub.recall.render.results import SearchResult
from memoryhub.recall.services import search_memories
from memoryhub.tenants.scope import tenant_scope
from tests.recall.conftest import AT, RecallWorld


def list_texts(result: SearchResult) -> list[str]:
    return [item.text for item in result.items]


def test_the_move_to_lisbon_comes_first_with_its_source(chatty: RecallWorld) -> None:
    (turn,) = chatty.add_lines("Ana: I moved to Lisbon last week", at=AT + timedelta(days=1))
    chatty.add_fact("Ana moved to Lisbon", turn, predicate_key="lives_in")
    chatty.add_fact("Ana repaired the old bicycle")
    result = search_memories(chatty.space, "where does she live")
    best = result.items[0]
    assert (best.kind, best.text) == ("fact", "Ana moved to Lisbon")
    assert best.parts["predicate"] > 0
    (source,) = best.sources
    assert (source.ref, source.text) == ("D2:1", "I moved to Lisbon last week")
    assert source.span == (0, len(turn.text))
    assert not result.insufficient


def test_a_turn_is_found_by_meaning(chatty: RecallWorld) -> None:
    assert (
        "cello"
        in list_texts(search_memories(chatty.space, "Which musical instrument does she practise?"))[
            0
        ]
    )


def test_a_turn_is_found_by_its_words(chatty: RecallWorld) -> None:
    assert "sourdough" in list_texts(search_memories(chatty.space, "sourdough"))[0]


def test_the_named_speaker_s_own_words_come_first(world: RecallWorld) -> None:
    world.add_lines(
        "Ana: I love hiking in the mountains", "Ben: I love hiking in the mountains too"
    )
    assert search_memories(world.space, "What does Ben love?").items[0].speaker == "Ben"
    assert search_memories(world.space, "What does Ana love?").items[0].speaker == "Ana"


def test_scores_are_the_sum_of_their_parts(chatty: RecallWorld) -> None:
    for item in search_memories(chatty.space, "What broke on Ana's bicycle?").items:
        assert item.score == pytest.approx(sum(item.parts.values()))


def test_a_fact_that_tells_what_is_asked_for_has_a_part_too(chatty: RecallWorld) -> None:
    chatty.add_fact("Ana's brother is Rui", owner="Ana", polarity="holds")
    items = search_memories(chatty.space, "What do you know about me?").items
    told = [item for item in items if "asked" in item.parts]
    assert told
    for item in items:
        assert item.score == pytest.approx(sum(item.parts.values()))


def test_a_superseded_fact_is_hidden_unless_the_past_is_asked_for(chatty: RecallWorld) -> None:
    moved = AT + timedelta(days=30)
    chatty.add_fact("Ana lives in Porto", valid_to=moved, status="superseded")
    chatty.add_fact("Ana lives in Lisbon", valid_from=moved)
    now = list_texts(search_memories(chatty.space, "Where does Ana live?", kinds=["fact"]))
    past = list_texts(
        search_memories(chatty.space, "Where does Ana live?", kinds=["fact"], include_past=True)
    )
    assert now == ["Ana lives in Lisbon"]
    assert set(past) == {"Ana lives in Porto", "Ana lives in Lisbon"}


def test_as_of_reads_what_was_true_then(chatty: RecallWorld) -> None:
    moved = AT + timedelta(days=30)
    chatty.add_fact("Ana lives in Porto", valid_to=moved, status="superseded")
    chatty.add_fact("Ana lives in Lisbon", valid_from=moved)
    ask = "Where does Ana live?"
    before = search_memories(chatty.space, ask, kinds=["fact"], as_of=moved - timedelta(days=1))
    after = search_memories(chatty.space, ask, kinds=["fact"], as_of=moved)
    assert list_texts(before) == ["Ana lives in Porto"]
    assert list_texts(after) == ["Ana lives in Lisbon"]


def test_as_of_leaves_out_what_was_said_later(chatty: RecallWorld) -> None:
    chatty.add_lines("Ana: The cello was stolen", at=AT + timedelta(days=9))
    found = list_texts(search_memories(chatty.space, "cello", as_of=AT + timedelta(days=1)))
    assert found
    assert "The cello was stolen" not in found


@pytest.mark.parametrize("how", [{"status": "retracted"}, {"retired_at": AT}])
def test_what_never_was_true_or_was_replaced_is_never_shown(
    chatty: RecallWorld, how: dict[str, Any]
) -> None:
    chatty.add_fact("Ana lives in Paris", **how)
    ways: list[dict[str, Any]] = [{}, {"include_past": True}, {"as_of": AT + timedelta(days=1)}]
    for options in ways:
        result = search_memories(chatty.space, "Does Ana live in Paris?", **options)
        assert "Ana lives in Paris" not in list_texts(result)


def test_a_redacted_turn_is_not_shown(chatty: RecallWorld) -> None:
    (turn,) = chatty.add_lines("Ana: The safe's code is swordfish")
    with tenant_scope(chatty.tenant.id):
        type(turn).objects.filter(id=turn.id).update(state="redacted")
    assert not [
        t for t in list_texts(search_memories(chatty.space, "code of the safe")) if "swordfish" in t
    ]


def test_another_tenant_s_memories_never_appear(
    chatty: RecallWorld, new_world: Callable[[str], RecallWorld]
) -> None:
    stranger = new_world("charlie")
    stranger.add_lines("Ana: The treasure is under the lighthouse")
    stranger.add_fact("Ana hid the treasure under the lighthouse")
    result = search_memories(chatty.space, "Where is the treasure under the lighthouse?")
    assert not [text for text in list_texts(result) if "treasure" in text]


def test_another_space_of_the_tenant_stays_apart(chatty: RecallWorld) -> None:
    other = RecallWorld(chatty.tenant, "other")
    other.add_lines("Ana: The treasure is under the lighthouse")
    assert not [
        t for t in list_texts(search_memories(chatty.space, "the treasure")) if "treasure" in t
    ]
    assert "treasure" in list_texts(search_memories(other.space, "the treasure"))[0]


def test_the_word_search_reads_no_tenant_but_the_one_in_scope(
    chatty: RecallWorld, new_world: Callable[[str], RecallWorld]
) -> None:
    stranger = new_world("charlie")
    sql = "SELECT count(*) FROM memoryhub_by_words(%s, %s, '{turn}', 'bicycl'::tsquery, 10)"
    for tenant, count in ((chatty.tenant, 1), (stranger.tenant, 0)):
        with tenant_scope(tenant.id), connection.cursor() as cursor:
            cursor.execute(sql, [chatty.tenant.id, chatty.space.id])
            assert (cursor.fetchone()[0] > 0) == bool(count)
    with connection.cursor() as cursor:
        cursor.execute(sql, [chatty.tenant.id, chatty.space.id])
        assert cursor.fetchone() == (0,)


def test_a_chinese_question_finds_chinese_words(chatty: RecallWorld) -> None:
    """X9."""
    chatty.add_lines(
        "林: 我上周搬到了里斯本，房子离海很近。", "林: 我的猫叫豆豆。", "林: 昨天我做了红烧肉。"
    )
    result = search_memories(chatty.space, "我的猫叫什么名字？")
    assert result.items[0].text == "我的猫叫豆豆。"
    assert result.items[0].parts["lexical"] > 0


def test_an_empty_query_is_refused(chatty: RecallWorld) -> None:
    """E31."""
    for query in ("", "  \n", "\0", "\ud800"):
        with pytest.raises(InvalidInput) as caught:
            search_memories(chatty.space, query)
        assert caught.value.field == "query"


def test_a_long_query_is_cut_for_the_vector_and_read_whole_for_words(chatty: RecallWorld) -> None:
    """E31."""
    long = "Please tell me what I heard about this. " * 100 + "Who baked sourdough bread?"
    result = search_memories(chatty.space, long)
    assert result.query_truncated
    assert "sourdough" in list_texts(result)[0]
    assert not search_memories(chatty.space, "sourdough").query_truncated


@pytest.mark.parametrize(
    "query",
    [
        "bread " * 200_000,
        "x" * 5000,
        "1" * 20_000,
        "九" * 20_000,
        "猫狗" * 500_000,
        "-".join(str(n) for n in range(9_000)),
        " ".join(f"w{n}" for n in range(9_000)),
        "bread \ud83d",
        "'; & | !( <-> \\:*",
        r"it's \ http://a.b/c'd\e",
    ],
)
def test_odd_queries_are_answered(chatty: RecallWorld, query: str) -> None:
    assert search_memories(chatty.space, query).pending_turns == 6


def test_nothing_relevant_is_nothing_at_all(chatty: RecallWorld) -> None:
    """E32."""
    result = search_memories(chatty.space, "quarterly semiconductor export tariffs in Mongolia")
    assert list(result.items) == []
    assert result.insufficient


def test_an_empty_space_has_nothing(world: RecallWorld) -> None:
    result = search_memories(world.space, "Where does Ana live?")
    assert (list(result.items), result.insufficient) == ([], True)


class BrokenEmbedder:
    """An embedder whose model is gone. Its name is the real one's."""

    dimension, max_tokens = 384, 256

    def __init__(self) -> None:
        self.name = selection.get_configured_embedder().name

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        raise EngineError("down")

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return [0 for _ in texts]


def test_without_an_embedder_words_are_searched(
    chatty: RecallWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    """E16."""
    broken = BrokenEmbedder()
    monkeypatch.setattr(selection, "get_configured_embedder", lambda: broken)
    result = search_memories(chatty.space, "Who baked sourdough bread?")
    assert list(result.degraded) == ["dense"]
    assert "sourdough" in list_texts(result)[0]


def test_an_embedder_that_can_not_be_made_degrades_too(
    chatty: RecallWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail() -> None:
        raise EngineError("no weights", permanent=True)

    monkeypatch.setattr(selection, "get_configured_embedder", fail)
    assert list(search_memories(chatty.space, "sourdough bread").degraded) == ["dense"]


def test_a_turn_without_a_vector_is_found_by_its_words(chatty: RecallWorld) -> None:
    """E18."""
    (turn,) = chatty.add_lines("Ana: The plumber comes on Thursday")
    with tenant_scope(chatty.tenant.id), connection.cursor() as cursor:
        cursor.execute(
            "UPDATE notes_indexentry SET embedding = NULL WHERE owner_id = %s", [turn.id]
        )
    assert list_texts(search_memories(chatty.space, "When does the plumber come?"))[0] == turn.text


def test_the_embedder_runs_outside_any_transaction(
    chatty: RecallWorld,
    monkeypatch: pytest.MonkeyPatch,
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    real = selection.get_configured_embedder()

    class Watching(BrokenEmbedder):
        def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
            depth.append(len(connection.savepoint_ids))
            return real.embed(texts)

    depth: list[int] = []
    watching = Watching()
    monkeypatch.setattr(selection, "get_configured_embedder", lambda: watching)
    before = len(connection.savepoint_ids)
    search_memories(chatty.space, "bread")
    assert depth == [before]


def test_a_fact_stands_for_its_turn_and_shows_it_as_evidence(chatty: RecallWorld) -> None:
    (turn,) = chatty.add_lines("Ana: I adopted a kitten called Biscuit")
    fact = chatty.add_fact("Ana adopted a kitten called Biscuit", turn)
    result = search_memories(chatty.space, "Which kitten did Ana adopt?")
    assert result.items[0].id == fact.id
    assert [source.turn_id for source in result.items[0].sources] == [turn.id]
    assert turn.id not in [item.id for item in result.items]


def test_a_note_and_its_turn_are_shown_once(chatty: RecallWorld) -> None:
    (turn,) = chatty.add_lines("Ana: I adopted a kitten called Biscuit")
    chatty.add_note("I adopted a kitten called Biscuit", turn, keywords=["kitten"])
    found = [
        t
        for t in list_texts(search_memories(chatty.space, "Which kitten was adopted?"))
        if "Biscuit" in t
    ]
    assert len(found) == 1


def test_pending_turns_are_counted(chatty: RecallWorld) -> None:
    assert search_memories(chatty.space, "bread").pending_turns == 6


def test_the_stages_are_timed_and_the_route_explained(chatty: RecallWorld) -> None:
    result = search_memories(chatty.space, "When did Ben bake on 3 May 2026?", explain=True)
    assert set(result.took_ms) == {"route", "embed", "candidates", "rank", "hydrate"}
    assert result.explain is not None
    route = result.explain.route
    assert route.speaker == "Ben"
    assert route.asks_when
    assert "Ben" not in route.embedded


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"limit": 0}, "limit"),
        ({"limit": 101}, "limit"),
        ({"kinds": ["rumour"]}, "kinds"),
        ({"channels": []}, "channels"),
        ({"channels": ["gossip"]}, "channels"),
        ({"select": "best"}, "select"),
    ],
)
def test_bad_options_are_refused(world: RecallWorld, options: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        search_memories(world.space, "bread", **options)
    assert caught.value.field == field


def test_a_search_takes_few_statements(
    chatty: RecallWorld, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    (turn,) = chatty.add_lines("Ana: I adopted a kitten called Biscuit")
    chatty.add_fact("Ana adopted a kitten", turn)
    chatty.add_note("A kitten called Biscuit", keywords=["kitten"])
    search_memories(chatty.space, "kitten bread")
    # Two scopes, as the vector is made outside: savepoint, set, unset, release. Policy, model
    # and what waits in the first; candidates, those that wait, sources, three kinds, and what took
    # the place of what turns told in the second.
    with django_assert_num_queries(17):
        search_memories(chatty.space, "kitten bread")


def test_a_question_may_be_asked_under_another_policy_and_leaves_no_trace(
    chatty: RecallWorld,
) -> None:
    chatty.add_fact("Ana plays the cello")
    rag = compose_policy("rag", {})
    own = search_memories(chatty.space, "Who plays the cello?", reinforce=False)
    other = search_memories(chatty.space, "Who plays the cello?", policy=rag, reinforce=False)
    narrow = search_memories(
        chatty.space, "Who plays the cello?", channels=["facts"], reinforce=False
    )
    assert {item.kind for item in own.items} == {"fact", "turn"}
    assert {item.kind for item in other.items} == {"turn"}
    assert {item.kind for item in narrow.items} == {"fact"}
    with tenant_scope(chatty.tenant.id):
        assert load_effective_policy(chatty.space).policy.preset == "balanced"
    assert reinforcement.flush_recalls() == 0


def test_only_some_memories_are_looked_at_however_many_others_are_nearer(
    world: RecallWorld,
) -> None:
    wanted = world.add_fact("Ana plays the violin in an orchestra")
    for number in range(70):
        world.add_fact(f"Ana plays the cello, part {number}")
    asked = "Ana plays the cello"
    assert "violin" not in " ".join(
        list_texts(search_memories(world.space, asked, kinds=["fact"], limit=60))
    )
    (item,) = search_memories(world.space, asked, kinds=["fact"], only=[wanted.id]).items
    assert item.id == wanted.id
    assert search_memories(world.space, asked, kinds=["fact"], only=[]).items == []


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("who is Edda", "Edda is Ana's sister."),
        ("what is my sister called", "Edda is Ana's sister."),
        ("what's my dog's name", "Wuff is Ana's dog."),
    ],
)
def test_who_somebody_is_comes_first(chatty: RecallWorld, question: str, first: str) -> None:
    chatty.add_lines("Ana: Edda came to see me", "Ana: my dog barked at Edda", "Ana: dog, sister")
    chatty.add_fact("Edda is tired.", owner="Edda", verb="is", complement="tired")
    chatty.add_fact("Edda is Ana's sister.", owner="Edda", verb="is", complement="Ana's sister")
    chatty.add_fact("Wuff is Ana's dog.", owner="Wuff", verb="is", complement="Ana's dog")
    assert search_memories(chatty.space, question).items[0].text == first


def test_what_took_the_place_of_what_a_message_told_comes_before_it(world: RecallWorld) -> None:
    (turn,) = world.add_lines("Ana: I go to Iron Works gym on Tuesdays")
    (later,) = world.add_lines(
        "Ana: climbing centre now, not that place", at=AT + timedelta(days=9)
    )
    gone: dict[str, Any] = {"valid_to": AT + timedelta(days=9), "status": "superseded"}
    old = world.add_fact("Ana goes to Iron Works gym", turn, **gone)
    since = AT + timedelta(days=9)
    new = world.add_fact("Ana climbs at Mill Road", later, supersedes=old, valid_from=since)
    found = search_memories(
        world.space, "Which gym on Tuesdays?", now=AT + timedelta(days=30)
    ).items
    places = [item.id for item in found]
    assert places.index(new.id) < places.index(turn.id)
    once = search_memories(world.space, "Which gym?", as_of=AT + timedelta(days=1)).items
    assert new.id not in [item.id for item in once]


def test_where_a_message_tells_what_holds_as_well_it_stays_before_what_took_a_place(
    world: RecallWorld,
) -> None:
    (turn,) = world.add_lines("Ana: my rent is 850 and my gym is Iron Works")
    gone: dict[str, Any] = {"valid_to": AT + timedelta(days=9), "status": "superseded"}
    old = world.add_fact("Ana pays 850", turn, **gone)
    world.add_fact("Ana trains at Iron Works", turn)
    new = world.add_fact("Ana pays 920", None, supersedes=old)
    found = search_memories(world.space, "my rent and my gym", now=AT + timedelta(days=30)).items
    places = [item.id for item in found]
    assert new.id in places
    assert turn.id not in places or places.index(turn.id) < places.index(new.id)
