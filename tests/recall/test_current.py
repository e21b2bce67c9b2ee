"""What holds now: the filter, the SQL and the look at a row in hand agree."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from memoryhub.engines.local.answers.kinds import KINDS, AskedKind
from memoryhub.policies.schema import Channel
from memoryhub.recall.answers import answer_question
from memoryhub.recall.candidates.channels.at_hand import format_sql_pattern
from memoryhub.recall.services import search_memories
from memoryhub.tenants.scope import tenant_scope
from notes.facts.validity import (
    build_fact_current_sql,
    build_future_q,
    build_past_q,
    build_plan_over_q,
    filter_current,
    is_fact_current,
    is_fact_over,
    is_plan_over,
)
from notes.models import Fact
from tests.recall.conftest import AT, RecallWorld

NOW = timezone.now()
YEAR = timedelta(days=365)
CASES: list[tuple[dict[str, Any], str]] = [
    ({}, "current"),
    ({"valid_to": NOW + YEAR}, "current"),
    ({"valid_to": NOW + YEAR, "status": "superseded"}, "current"),
    ({"polarity": "planned", "event_from": NOW + YEAR}, "current"),
    ({"valid_from": NOW}, "current"),
    ({"valid_from": NOW + YEAR}, "ahead"),
    ({"valid_from": NOW + YEAR, "valid_to": NOW + 2 * YEAR, "status": "superseded"}, "ahead"),
    ({"valid_from": NOW - YEAR, "valid_to": NOW}, "past"),
    ({"valid_from": NOW - YEAR, "valid_to": NOW - YEAR, "status": "superseded"}, "past"),
    ({"retired_at": NOW}, "past"),
    ({"status": "retracted"}, "never"),
    ({"status": "retracted", "valid_from": NOW + YEAR}, "never"),
]


@pytest.mark.parametrize(("values", "standing"), CASES)
def test_every_form_of_the_rule_says_the_same(
    world: RecallWorld, values: dict[str, Any], standing: str
) -> None:
    fact = world.add_fact("Ana lives in Porto", **values)
    with tenant_scope(world.tenant.id):
        everything = Fact.objects.all()
        found = {
            "current": filter_current(everything, NOW).exists(),
            "ahead": everything.filter(build_future_q(NOW)).exists(),
            "past": everything.filter(build_past_q(NOW)).exists(),
        }
        sql = f"SELECT f.id FROM notes_fact f WHERE {build_fact_current_sql('f', '%s')}"
        by_sql = list(Fact.objects.raw(sql, [NOW, NOW]))
    assert found == {name: name == standing for name in found}
    assert bool(by_sql) == is_fact_current(fact, NOW) == (standing == "current")
    assert is_fact_over(fact, NOW) == (standing in ("past", "never"))


@pytest.mark.parametrize(
    ("values", "is_over"),
    [
        ({"polarity": "planned", "event_to": NOW}, True),
        ({"polarity": "planned", "event_to": NOW + YEAR}, False),
        ({"polarity": "planned"}, False),
        ({"event_to": NOW}, False),
    ],
)
def test_both_forms_say_the_same_of_a_plan(
    world: RecallWorld, values: dict[str, Any], is_over: bool
) -> None:
    fact = world.add_fact("Ana goes to Porto", **values)
    with tenant_scope(world.tenant.id):
        found = Fact.objects.filter(build_plan_over_q(NOW)).exists()
    assert found == is_plan_over(fact, NOW) == is_over


@pytest.mark.parametrize("channels", [None, ["stm"], ["raw"], ["notes"]])
def test_what_bears_a_time_of_days_to_come_is_left_out_until_then(
    world: RecallWorld, channels: list[Channel] | None
) -> None:
    (turn,) = world.add_lines("Ana: I keep bees in Porto.", at=AT + timedelta(days=9))
    world.add_note("Ana keeps bees in Porto", turn, occurred_at=turn.occurred_at)

    def search(now: datetime, as_of: datetime | None = None) -> bool:
        asked: dict[str, Any] = {"channels": channels, "now": now, "as_of": as_of}
        return bool(search_memories(world.space, "bees in Porto", **asked).items)

    assert not search(AT)
    assert search(AT + timedelta(days=9))
    assert search(AT, as_of=AT + timedelta(days=10))


def test_a_clock_that_is_ahead_hides_nothing(world: RecallWorld) -> None:
    world.add_lines("Ana: I keep bees in Porto.", at=AT + timedelta(hours=20))
    assert search_memories(world.space, "bees in Porto", now=AT).items


def test_an_answer_leaves_out_what_a_search_does(world: RecallWorld) -> None:
    world.add_lines("Ana: I live in Porto.", at=AT + timedelta(days=9))
    ask = "Where does Ana live?"
    assert answer_question(world.space, ask, now=AT).abstained
    assert not answer_question(world.space, ask, now=AT, as_of=AT + timedelta(days=10)).abstained


def test_a_move_next_year_leaves_the_present_as_it_is(world: RecallWorld) -> None:
    moves = NOW + YEAR
    world.add_fact("Ana lives in Paris", valid_to=moves, status="superseded")
    world.add_fact("Ana lives in Rome", valid_from=moves)
    ask = "Where does Ana live?"

    def found(**how: Any) -> set[str]:
        return {
            item.text for item in search_memories(world.space, ask, kinds=["fact"], **how).items
        }

    assert found() == {"Ana lives in Paris"}
    assert found(as_of=moves) == {"Ana lives in Rome"}
    assert found(as_of=AT) == {"Ana lives in Paris"}
    assert found(include_past=True) == {"Ana lives in Paris", "Ana lives in Rome"}


def test_a_plan_is_known_before_its_day_comes(world: RecallWorld) -> None:
    world.add_fact("Ana will run a marathon", polarity="planned", event_from=NOW + YEAR)
    (item,) = search_memories(world.space, "marathon", kinds=["fact"]).items
    assert item.text == "Ana will run a marathon"


def test_what_tells_a_kind_that_is_asked_for_comes_first_whatever_its_words(
    world: RecallWorld,
) -> None:
    world.add_talk_with_assistant()
    world.add_fact("Ana does soup for living rooms")
    world.add_fact("Ana runs a two-chair clinic")
    world.add_fact("Rita runs a bakery", owner="Rita")
    found = search_memories(world.space, "what does Ana do for a living").items
    assert found[0].text == "Ana runs a two-chair clinic"
    assert not any(item.text == "Rita runs a bakery" for item in found[:2])
    before = search_memories(world.space, "what did Ana do for a living before").items
    assert not before or before[0].text != "Ana runs a two-chair clinic"


def test_a_kind_is_found_where_no_word_of_the_question_is(world: RecallWorld) -> None:
    world.add_talk_with_assistant()
    world.add_fact("安娜是铁路局的列车员。", owner="Ana")
    (first, *_) = search_memories(world.space, "Ana是干什么的").items
    assert first.text == "安娜是铁路局的列车员。"


def test_a_kind_is_found_of_whom_the_question_names_though_they_never_spoke(
    world: RecallWorld,
) -> None:
    world.add_talk_with_assistant()
    world.add_fact("Ros is a postwoman", owner="Ros")
    (first, *_) = search_memories(world.space, "what is Ros's job").items
    assert first.text == "Ros is a postwoman"


def test_what_two_people_tell_each_other_is_found_by_what_they_say(world: RecallWorld) -> None:
    world.add_lines("Ana: Hello there.", "Ben: Hi.")
    world.add_fact("Ana runs a two-chair clinic")
    world.add_fact("Ana likes living by the sea")
    found = search_memories(world.space, "what does Ana like for a living").items
    assert found[0].text == "Ana likes living by the sea"


def test_a_relatives_kind_is_found_by_what_they_are(world: RecallWorld) -> None:
    world.add_talk_with_assistant()
    world.add_fact("Ana works at a bank")
    world.add_fact("Ana's husband runs a garage", owner="Ana's husband")
    (first, *_) = search_memories(world.space, "what is my husband's job").items
    assert first.text == "Ana's husband runs a garage"


SAID = (
    "Ana runs a two-chair clinic in Kochi.",
    "Ana is allergic to penicillin.",
    "Ana's husband has arthritis and drives a Yaris.",
    "Ana lives in Porto with two flatmates, she is 34.",
    "Ana is in the second year at college; her birthday is on 12 June.",
    "安娜是铁路局的列车员，老家在含山，住滨江花园。",
    "安娜对芒果过敏，有十二指肠溃疡，今年三十八。",
    "安娜开一台五菱，养了一条狗，会弹吉他，月租520镑。",
    "安娜的女儿叫朵朵，上小学二年级，生日是3月6日。",
    "安娜和老乡合租，喜欢打羽毛球。",
    "Ana is a Rotherham fan.",
    "Ana likes soup.",
    "Ana comes from Recife and takes 10 mg of ramipril.",
)


@pytest.mark.django_db
@pytest.mark.parametrize("kind", KINDS)
def test_the_database_reads_every_kind_as_python_does(kind: AskedKind) -> None:
    pattern = format_sql_pattern(kind.tells)
    assert r"\b" not in pattern
    assert re.search(r"\(\?<", pattern) is None
    with connection.cursor() as cursor:
        cursor.execute("SELECT said ~* %s FROM unnest(%s::text[]) AS said", [pattern, list(SAID)])
        found = [row[0] for row in cursor.fetchall()]
    assert found == [bool(kind.tells.search(said)) for said in SAID]
    assert any(found)
    assert not all(found)
