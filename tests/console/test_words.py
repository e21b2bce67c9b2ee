"""Pure parts: wording, quoting, filters, charts, health."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import pytest
from django.utils.translation import override

from memoryhub.console.frame import charts
from memoryhub.console.frame.lists import FilterChoice, ListPage, read_filters
from memoryhub.console.frame.text.nouns import counted
from memoryhub.console.frame.text.quotes import QuotePiece, TextSpan, split_pieces
from memoryhub.console.frame.text.reasons import translate_reason
from memoryhub.console.frame.text.wording import (
    describe_validity,
    format_ago,
    format_day,
    format_erased_kind,
    shorten_text,
)
from memoryhub.console.frame.text.wording import format_kind_count as counted_rows
from memoryhub.console.pages.facts.lineage_chart import build_interval
from memoryhub.console.pages.overview.activity_chart import build_activity_chart
from memoryhub.console.pages.overview.notices import HubState, list_notices
from memoryhub.console.pages.overview.queries import ActivitySlot, QueueState
from memoryhub.dialogues.models import Turn
from memoryhub.pipeline.steps.derive.forget_requests import ForgetRequest, describe_request
from notes.history import row_kinds
from notes.models import Fact

NOW = datetime(2026, 6, 15, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("before", "words"),
    [
        (timedelta(seconds=20), "just now"),
        (timedelta(seconds=80), "1 minute ago"),
        (timedelta(minutes=59), "59 minutes ago"),
        (timedelta(hours=1), "1 hour ago"),
        (timedelta(hours=30), "1 day ago"),
        (timedelta(days=13), "13 days ago"),
        (timedelta(days=30), "4 weeks ago"),
        (timedelta(days=61), "15 Apr"),
        (timedelta(days=400), "11 May 2025"),
        (-timedelta(hours=3), "in 3 hours"),
    ],
)
def test_ago(before: timedelta, words: str) -> None:
    assert format_ago(NOW - before, NOW) == words


def test_the_year_is_said_when_it_is_another() -> None:
    assert format_day(datetime(2024, 5, 12, tzinfo=UTC), NOW) == "12 May 2024"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Nora keeps bees", "Nora keeps bees"),
        ("Nora keeps some bees", "Nora keeps some…"),
        ("Nora keeps several bees", "Nora keeps…"),
        ("Nora keeps two, or three", "Nora keeps two…"),
        ("Nora has bees. And cats.", "Nora has bees…"),
        ("Nora says she doesn't", "Nora says she…"),
        ("Donaudampfschifffahrt", "Donaudampfschif…"),
        ("诺拉在根特养蜜蜂已经有十五年多了", "诺拉在根特养蜜蜂已经有十五年多了"),
        ("诺拉在根特养蜜蜂，已经有十五年多了", "诺拉在根特养蜜蜂，已经有十五年…"),
    ],
)
def test_a_text_is_cut_where_a_word_ends(text: str, shown: str) -> None:
    assert shorten_text(text, 16) == shown


def build_fact_row(**values: object) -> Fact:
    return Fact(**{"text": "old", "valid_from": datetime(2026, 3, 1, tzinfo=UTC)} | values)


MAY = datetime(2026, 5, 12, tzinfo=UTC)
JULY = datetime(2026, 7, 3, tzinfo=UTC)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({}, "Believed since 1 Mar"),
        ({"valid_to": datetime(2026, 9, 1, tzinfo=UTC)}, "Believed since 1 Mar, until 1 Sep"),
        ({"valid_to": MAY}, "Believed until 12 May"),
        (
            {"valid_to": datetime(2027, 1, 1, tzinfo=UTC), "status": "superseded"},
            "Believed since 1 Mar, until 1 Jan 2027",
        ),
        ({"valid_from": datetime(2027, 1, 1, tzinfo=UTC)}, "Will be true from 1 Jan 2027"),
        (
            {"status": "retracted", "retired_at": MAY},
            "Marked as false on 12 May: it was never true",
        ),
        ({"retired_at": MAY}, "Hidden on 12 May: no search finds it any more"),
        ({"polarity": "ended", "text": "Ana and Rui broke up."}, "True since 1 Mar"),
        (
            {"polarity": "ended", "valid_from": datetime(2027, 1, 1, tzinfo=UTC)},
            "Will be true from 1 Jan 2027",
        ),
        ({"polarity": "planned"}, "Planned since 1 Mar"),
        (
            {"polarity": "planned", "event_from": JULY, "event_to": JULY + timedelta(days=1)},
            "Planned for 3 Jul",
        ),
        (
            {"polarity": "planned", "event_from": MAY, "event_to": MAY + timedelta(days=1)},
            "Was planned for 12 May",
        ),
        (
            {"polarity": "planned", "event_from": MAY, "event_to": MAY + timedelta(days=7)},
            "Was planned for 12 May to 18 May",
        ),
        ({"event_from": MAY, "event_to": MAY + timedelta(days=1)}, "Believed since 1 Mar"),
        ({"polarity": "denied", "text": "Ana eats no meat."}, "Believed since 1 Mar"),
    ],
)
def test_validity(values: dict[str, object], words: str) -> None:
    assert describe_validity(build_fact_row(**values), None, NOW, UTC) == words


def test_validity_names_the_successor() -> None:
    words = describe_validity(build_fact_row(valid_to=MAY), build_fact_row(text="new"), NOW, UTC)
    assert words == "Believed until 12 May, then replaced by “new”"
    words = describe_validity(build_fact_row(retired_at=MAY), build_fact_row(), NOW, UTC)
    assert words == "Reworded on 12 May: replaced by a more detailed version"
    corrected = build_fact_row(corrected_by="ida")
    words = describe_validity(build_fact_row(retired_at=MAY), corrected, NOW, UTC)
    assert words == "Reworded on 12 May: a person corrected it"


@pytest.mark.parametrize(
    ("spans", "marked"),
    [
        ([], []),
        ([(None, None)], []),
        ([(0, 5)], ["I moved"[:5]]),
        ([(0, 4), (2, 7)], ["I moved"]),
        ([(2, 7), (11, 13)], ["moved", "Li"]),
        ([(8, 99)], ["to Lisbon"]),
        ([(5, 5)], []),
        ([(-3, 1)], ["I"]),
    ],
)
def test_pieces_lose_no_character(spans: list[TextSpan], marked: list[str]) -> None:
    text = "I moved to Lisbon"
    found = split_pieces(text, spans)
    assert "".join(piece.text for piece in found) == text
    assert [piece.text for piece in found if piece.marked] == marked


def test_an_empty_text_has_no_pieces() -> None:
    assert split_pieces("", [(0, 3)]) == []
    assert split_pieces("a", []) == [QuotePiece("a", False)]


def test_filters_take_what_they_know() -> None:
    show = FilterChoice("show", "Show", (("new", "New"), ("all", "All")))
    filters = read_filters({"q": " a\0b ", "page": "3", "show": "all"}, [show])
    assert (filters.q, filters.page, filters["show"], filters.narrowed) == ("ab", 3, "all", True)
    plain = read_filters({"show": "odd", "page": "²"}, [show])
    assert (plain.page, plain["show"], plain.narrowed) == (1, "new", False)


def test_pages_know_their_place() -> None:
    page = ListPage(list(range(10)), 2, 60, 25)
    assert (page.first, page.last, page.pages, page.previous, page.next) == (26, 35, 3, 1, 3)
    empty: ListPage[int] = ListPage([], 1, 0)
    assert (empty.first, empty.last, empty.pages) == (0, 0, 1)
    assert (empty.previous, empty.next) == (None, None)


def test_bars_stay_within_the_chart_and_small_counts_are_seen() -> None:
    days = [ActivitySlot(date(2026, 6, at), turns, at) for at, turns in ((1, 4000), (2, 1), (3, 0))]
    chart = build_activity_chart(days)
    assert all(0 <= bar.turns_y <= charts.HEIGHT for bar in chart.bars)
    assert [bar.turns_height for bar in chart.bars] == [charts.HEIGHT - 4, 2.0, 0.0]
    assert (chart.turns, chart.facts) == (4001, 6)
    assert build_activity_chart([]).bars == []


def test_intervals_stay_on_the_line() -> None:
    start = NOW - timedelta(days=100)
    open_ended = build_interval(build_fact_row(valid_from=start + timedelta(days=50)), start, NOW)
    assert (open_ended.x, open_ended.width, open_ended.open) == (50.0, 50.0, True)
    closed = build_interval(build_fact_row(valid_from=start, valid_to=start), start, NOW)
    assert (closed.x, closed.width, closed.open) == (0.0, 1.5, False)
    future = build_interval(build_fact_row(valid_from=NOW + timedelta(days=9)), start, NOW)
    assert future.x + future.width <= 100.01


def test_a_claim_that_will_end_is_drawn_as_one_that_holds() -> None:
    start = NOW - timedelta(days=9)
    later = build_interval(
        build_fact_row(valid_to=NOW + timedelta(days=9), status="superseded"), start, NOW
    )
    ended = build_interval(build_fact_row(valid_to=MAY, status="superseded"), start, NOW)
    assert (later.status, ended.status) == ("active", "superseded")


def build_queue_row(**values: int) -> QueueState:
    counts = dict.fromkeys(("waiting", "running", "retrying", "dead", "unheard"), 0)
    return QueueState(**{**counts, **values}, oldest=None)


def test_health_names_the_trouble_and_the_cure() -> None:
    found = list_notices(build_queue_row(unheard=2, dead=1, retrying=1), llm=True, empty=False)
    assert [notice.level for notice in found] == ["bad", "bad", "warn"]
    assert "2 jobs overdue" in found[0].text
    assert found[0].command
    assert all(notice.todo for notice in found)


def test_webhooks_that_fail_are_told_of() -> None:
    (told,) = list_notices(build_queue_row(), llm=True, empty=False, unreached=2)
    assert (told.level, told.url_name, told.query) == ("warn", "webhooks", "state=failing")
    assert "2 webhooks" in told.text


@pytest.mark.parametrize(
    ("hub", "what", "todo"),
    [
        (HubState(unmigrated=2), "2 migrations behind", "until it is updated"),
        (HubState(model_unset=True), "none is configured", "Set an endpoint and a model"),
        (
            HubState(model_error="endpoint_refused: The model endpoint answered 401: key sk-1"),
            "refused the hub's key",
            "OPENAI_API_KEY",
        ),
        (HubState(model_error="unreachable: cannot be reached"), "cannot be reached", "server run"),
        (HubState(model_error="odd"), "failed: odd", "No more is known"),
    ],
)
def test_what_is_wrong_with_the_hub_is_told_first_with_what_to_do(
    hub: HubState, what: str, todo: str
) -> None:
    first, *_ = list_notices(build_queue_row(dead=1), llm=True, empty=False, hub=hub)
    assert what in first.text
    assert todo in first.todo
    assert "sk-1" not in first.text


def test_no_model_is_not_a_fault() -> None:
    found = list_notices(build_queue_row(), llm=False, empty=True)
    assert [notice.level for notice in found] == ["good", "info", "info"]
    assert (
        list_notices(build_queue_row(waiting=3), llm=True, empty=False)[0].text
        == "Working: 3 jobs to do."
    )


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("entity", "Entities"),
        ("entitys", "Entities"),
        ("fact", "Facts"),
        ("clauses", "Turns that lose one clause and keep the rest"),
        ("segmentpages", "Places in a topic"),
        ("model_calls", "Model calls"),
        ("withheld", "Left out until rewritten"),
        ("entities", "Entities"),
    ],
)
def test_what_an_erasure_counts(kind: str, words: str) -> None:
    assert format_erased_kind(kind) == words


def test_one_is_counted_as_one_and_thousands_are_grouped() -> None:
    assert [counted("entity", n) for n in (0, 1, 2)] == ["0 entities", "1 entity", "2 entities"]
    assert counted("entity", 1234) == "1,234 entities"


def test_every_kind_that_the_history_keeps_can_be_counted() -> None:
    for kind in row_kinds.list_row_kinds():
        assert counted_rows(kind.name, 2).startswith("2 ")


@pytest.mark.parametrize(
    ("count", "words"),
    [
        (0, "要求遗忘；需选定所指的是哪条记忆"),
        (1, "要求遗忘，找到 1 条可能所指的记忆"),
        (2, "要求遗忘，找到 2 条可能所指的记忆"),
    ],
)
def test_a_wish_to_forget_is_told_in_the_readers_language(count: int, words: str) -> None:
    reason = describe_request(ForgetRequest(Turn(), [build_fact_row()] * count))
    assert translate_reason(reason) == reason
    with override("zh-hans"):
        assert translate_reason(reason) == words


def test_a_doubt_is_said_in_the_readers_language_and_a_persons_words_as_they_are() -> None:
    with override("zh-hans"):
        said = translate_reason("the words it rests on were not found: no longer so")
        assert said == "没有找到所依据的原话：不再如此"
        assert translate_reason("wrong: it is York") == "wrong: it is York"
