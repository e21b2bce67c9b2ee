"""Days written out, and stretches of days with both ends."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from memoryhub.engines.local.dates.times import find_times

AT = datetime(2026, 4, 2, 10, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "told", "start", "end"),
    [
        ("I handed back the key on the first of May last year", "", "2025-05-01", "2025-05-02"),
        ("it closes on the twenty-first of June", "", "2026-06-21", "2026-06-22"),
        ("booked for May the second", "May the second", "2026-05-02", "2026-05-03"),
        (
            "booked from the second to the ninth of May",
            "from the second to the ninth of May",
            "2026-05-02",
            "2026-05-10",
        ),
        ("caravan, 25 July to the first of August", "", "2026-07-25", "2026-08-02"),
        ("the fair is May 2-9", "May 2-9", "2026-05-02", "2026-05-10"),
        ("we went 2-9 May 2025", "2-9 May 2025", "2025-05-02", "2025-05-10"),
        ("we've had to shift it to 15 to 22 August", "", "2026-08-15", "2026-08-23"),
        ("Mel shifted it to 15 to 22 August", "", "2026-08-15", "2026-08-23"),
        ("moved from the 2nd to the 9th of May", "the 9th of May", "2026-05-09", "2026-05-10"),
        ("away 30 December to 3 January", "", "2025-12-30", "2026-01-04"),
        ("We have moved Madeira to September", "September", "2026-09-01", "2026-10-01"),
        ("wedding may 1 at the barn", "may 1", "2026-05-01", "2026-05-02"),
        ("Ned's got a big roof all through July", "July", "2026-07-01", "2026-08-01"),
    ],
)
def test_days_and_stretches_are_read(text: str, told: str, start: str, end: str) -> None:
    (found,) = find_times(text, AT)
    assert (found.start.date().isoformat(), found.end.date().isoformat()) == (start, end)
    assert told in found.text


@pytest.mark.parametrize(
    "text",
    [
        "my first of many",
        "open 2019-2021",
        "I work 9-5",
        "the second one",
        "rooms 2-9",
        "8 to 4 mon to thurs",
    ],
)
def test_what_counts_is_no_day(text: str) -> None:
    assert find_times(text, AT) == ()
