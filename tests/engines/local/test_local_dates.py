"""Time expressions against a known Wednesday, 15 May 2024, 14:30."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from memoryhub.engines.local.dates.english import find_times
from memoryhub.engines.types import TimeSpan
from tests.engines.local.dialogue import AT


def find_time(text: str) -> TimeSpan:
    (span,) = find_times(text, AT)
    return span


@pytest.mark.parametrize(
    ("text", "start", "end", "granularity"),
    [
        ("We met yesterday.", "2024-05-14", "2024-05-15", "day"),
        ("We met the day before yesterday.", "2024-05-13", "2024-05-14", "day"),
        ("See you tomorrow!", "2024-05-16", "2024-05-17", "day"),
        ("I slept badly last night.", "2024-05-14", "2024-05-15", "day"),
        ("I ran this morning.", "2024-05-15", "2024-05-16", "day"),
        ("I ran last Friday.", "2024-05-10", "2024-05-11", "day"),
        ("I'm having the operation on December 3rd.", "2024-12-03", "2024-12-04", "day"),
        ("I've got my scan on December 3rd.", "2024-12-03", "2024-12-04", "day"),
        ("I had the operation on December 3rd.", "2023-12-03", "2023-12-04", "day"),
        ("We want to get married on December 3rd.", "2024-12-03", "2024-12-04", "day"),
        ("The shop opens on December 3rd.", "2024-12-03", "2024-12-04", "day"),
        ("New flat, move in on the 20th!", "2024-05-20", "2024-05-21", "day"),
        ("I raised my rate to 0.13 from July.", "2024-07-01", "2024-08-01", "month"),
        ("The pool closed for the winter.", "2024-12-01", "2025-03-01", "season"),
        ("I ran last Wed.", "2024-05-08", "2024-05-09", "day"),
        ("We leave next Friday.", "2024-05-17", "2024-05-18", "day"),
        ("We leave next Wednesday.", "2024-05-22", "2024-05-23", "day"),
        ("I saw him on Monday.", "2024-05-13", "2024-05-14", "day"),
        ("I fell off my bike on Saturday.", "2024-05-11", "2024-05-12", "day"),
        ("quit the bakery on Friday", "2024-05-10", "2024-05-11", "day"),
        ("My mum broke her hip on Friday.", "2024-05-10", "2024-05-11", "day"),
        ("I get paid on Friday.", "2024-05-17", "2024-05-18", "day"),
        ("I'm broke till Friday.", "2024-05-17", "2024-05-18", "day"),
        ("three days a week from January", "2025-01-01", "2025-02-01", "month"),
        ("maternity leave from 20 April", "2025-04-20", "2025-04-21", "day"),
        ("I found a flatmate, she moves in on 1 March", "2025-03-01", "2025-03-02", "day"),
        ("viewing a flat tmrw", "2024-05-16", "2024-05-17", "day"),
        ("The party is the 20th.", "2024-05-20", "2024-05-21", "day"),
        ("I will see him on Monday.", "2024-05-20", "2024-05-21", "day"),
        ("It rained last week.", "2024-05-06", "2024-05-13", "week"),
        ("I'm on leave next week.", "2024-05-20", "2024-05-27", "week"),
        ("It was the week before last.", "2024-04-29", "2024-05-06", "week"),
        ("We hiked last weekend.", "2024-05-11", "2024-05-13", "day"),
        ("We will hike this weekend.", "2024-05-18", "2024-05-20", "day"),
        ("I worked over the weekend.", "2024-05-11", "2024-05-13", "day"),
        ("I moved last month.", "2024-04-01", "2024-05-01", "month"),
        ("I move next month.", "2024-06-01", "2024-07-01", "month"),
        ("I moved last year.", "2023-01-01", "2024-01-01", "year"),
        ("We married last summer.", "2023-06-01", "2023-09-01", "season"),
        ("We marry next summer.", "2024-06-01", "2024-09-01", "season"),
        ("It was the summer of 2021.", "2021-06-01", "2021-09-01", "season"),
        ("I graduated last May.", "2023-05-01", "2023-06-01", "month"),
        ("I graduated in April.", "2024-04-01", "2024-05-01", "month"),
        ("I graduated in October.", "2023-10-01", "2023-11-01", "month"),
        ("I will graduate in October.", "2024-10-01", "2024-11-01", "month"),
        ("We met two days ago.", "2024-05-13", "2024-05-14", "day"),
        ("We met two weeks ago.", "2024-04-29", "2024-05-06", "week"),
        ("We met a month ago.", "2024-04-01", "2024-05-01", "month"),
        ("We met three years ago.", "2021-01-01", "2022-01-01", "year"),
        ("We met a few days ago.", "2024-05-10", "2024-05-14", "day"),
        ("We met two weekends ago.", "2024-05-04", "2024-05-06", "day"),
        ("We met two Fridays ago.", "2024-05-03", "2024-05-04", "day"),
        ("We fly in two weeks.", "2024-05-27", "2024-06-03", "week"),
        ("The party is on Saturday the 25th.", "2024-05-25", "2024-05-26", "day"),
        ("The interview was moved to Tuesday 21 May.", "2024-05-21", "2024-05-22", "day"),
        ("It got rescheduled to Friday at 10.", "2024-05-17", "2024-05-18", "day"),
        ("The wedding was put back to September.", "2024-09-01", "2024-10-01", "month"),
        ("My flight got moved to the 3rd, same time.", "2024-06-03", "2024-06-04", "day"),
        ("They have shoved it back to the 2nd of July.", "2024-07-02", "2024-07-03", "day"),
        ("We booked Crete, flying from Stansted on 4 June.", "2024-06-04", "2024-06-05", "day"),
        ("We took the flat, moving on 5 July.", "2024-07-05", "2024-07-06", "day"),
        ("Some guy called Damon takes over in July.", "2024-07-01", "2024-08-01", "month"),
        ("We loved moving in July.", "2023-07-01", "2023-08-01", "month"),
        ("I moved in 2019.", "2019-01-01", "2020-01-01", "year"),
        # What stands behind a comma says less of a time than what it is told with.
        ("Cal is leaving us at Christmas, gutted.", "2024-12-25", "2024-12-26", "day"),
        ("Ife is coming home in April, she found a post.", "2025-04-01", "2025-05-01", "month"),
        ("Rhys got his grades, off to college in April.", "2025-04-01", "2025-05-01", "month"),
        ("I've found a studio for 790, moving on the 24th.", "2024-05-24", "2024-05-25", "day"),
        ("I got the keys, moved in on the 4th.", "2024-05-04", "2024-05-05", "day"),
        ("I've felt better since the move in April.", "2024-04-01", "2024-05-01", "month"),
        ("We move in April.", "2025-04-01", "2025-05-01", "month"),
        ("Moving from Hull in April, I got a post.", "2025-04-01", "2025-05-01", "month"),
        ("Moving in April was hard.", "2024-04-01", "2024-05-01", "month"),
        ("I grew up in the 1990s.", "1990-01-01", "2000-01-01", "decade"),
        ("I was born on the 5th of May 1990.", "1990-05-05", "1990-05-06", "day"),
        ("The wedding is 12 September next year.", "2025-09-12", "2025-09-13", "day"),
        ("We met in March last year.", "2023-03-01", "2023-04-01", "month"),
        ("She is getting married on 3 March this year.", "2024-03-03", "2024-03-04", "day"),
        ("She is getting married on 3 June.", "2024-06-03", "2024-06-04", "day"),
        ("It's on May 5, 2025.", "2025-05-05", "2025-05-06", "day"),
        ("It was on 3 June 2023.", "2023-06-03", "2023-06-04", "day"),
        ("It was on the 5th of May.", "2024-05-05", "2024-05-06", "day"),
        ("It will be on June 3rd.", "2024-06-03", "2024-06-04", "day"),
        ("It happened in June, 2023.", "2023-06-01", "2023-07-01", "month"),
        ("It was 2023-11-02.", "2023-11-02", "2023-11-03", "day"),
        ("It was 25/12/2023.", "2023-12-25", "2023-12-26", "day"),
        ("We met on the 3rd.", "2024-05-03", "2024-05-04", "day"),
        ("We skied last Christmas.", "2023-12-25", "2023-12-26", "day"),
        ("I gave up smoking at Easter.", "2024-03-31", "2024-04-01", "day"),
        ("We moved in on Good Friday.", "2024-03-29", "2024-03-30", "day"),
        ("We will fly home next Easter.", "2025-04-20", "2025-04-21", "day"),
        ("We met on Easter Monday 2019.", "2019-04-22", "2019-04-23", "day"),
        ("The Friday before 15 July 2023", "2023-07-14", "2023-07-15", "day"),
        ("the week of 23 August 2023", "2023-08-21", "2023-08-28", "week"),
        ("two weekends before 17 July 2023", "2023-07-08", "2023-07-10", "day"),
    ],
)
def test_resolved(text: str, start: str, end: str, granularity: str) -> None:
    span = find_time(text)
    assert (span.start.date().isoformat(), span.end.date().isoformat()) == (start, end)
    assert span.granularity == granularity


@pytest.mark.parametrize(
    ("text", "start"),
    [
        ("I have lived here since 2016.", "2016-01-01"),
        ("I have known them for 4 years.", "2020-05-15"),
        ("Seven years now!", "2017-05-15"),
        ("The past two months have been hard.", "2024-03-15"),
        ("I've been sick since last Friday.", "2024-05-10"),
    ],
)
def test_a_span_up_to_the_conversation(text: str, start: str) -> None:
    span = find_time(text)
    assert (span.start.date().isoformat(), span.end) == (start, AT)


@pytest.mark.parametrize(
    "text",
    [
        "I may march on.",
        "It costs 2019 dollars.",
        "We stayed for two weeks.",
        "The sun was out, spring water is cold.",
        "On 31 February nothing happens.",
        "A second helping, please.",
        "",
        "🎂",
    ],
)
def test_no_time(text: str) -> None:
    assert find_times(text, AT) == ()


def test_a_clock_time_narrows_the_day() -> None:
    span = find_time("The train leaves tomorrow at 5:15 pm.")
    assert span.start == datetime(2024, 5, 16, 17, 15, tzinfo=UTC)
    assert (span.granularity, span.text) == ("minute", "tomorrow at 5:15 pm")
    assert find_time("See you on Friday at 9 am.").granularity == "hour"


def test_long_blanks_between_what_is_read_of_a_book_change_nothing() -> None:
    text = f"I moved last year.{' ' * 5000}We met on 7 May 2023{' ' * 64}and left in June 2024."
    found = find_times(text, AT)
    assert [each.text for each in found] == ["last year", "7 May 2023", "June 2024"]
    assert all(text[each.at :].startswith(each.text) for each in found)


def test_several_expressions_in_order_without_overlap() -> None:
    spans = find_times("I left last year, came back in March 2024 and moved yesterday.", AT)
    assert [s.text for s in spans] == ["last year", "March 2024", "yesterday"]


def test_the_expression_is_found_where_it_says() -> None:
    text = "So – last year’s party, and the week before 9 June 2023, were fun."
    for span in find_times(text, AT):
        assert text[span.at : span.at + len(span.text)] == span.text


def test_the_time_zone_is_the_conversations() -> None:
    zone = timezone(timedelta(hours=9))
    (span,) = find_times("yesterday", datetime(2024, 1, 1, 0, 30, tzinfo=zone))
    assert span.start == datetime(2023, 12, 31, tzinfo=zone)


def test_weekends_and_weeks_seen_from_a_sunday() -> None:
    sunday = datetime(2024, 5, 19, 12, tzinfo=UTC)
    (weekend,) = find_times("last weekend", sunday)
    assert weekend.start.date().isoformat() == "2024-05-11"
    (day,) = find_times("I ran last Sunday", sunday)
    assert day.start.date().isoformat() == "2024-05-12"


def test_before_the_first_year_there_is_nothing() -> None:
    assert find_times("9000 years ago", AT) == ()


def test_a_team_is_no_day() -> None:
    assert not find_times("He moved to the 1st team.", AT)


def test_evenings_that_come_round_are_no_date() -> None:
    assert not find_times("I do choir on Wednesday evenings.", AT)
    assert find_times("We met on Wednesday evening.", AT)
