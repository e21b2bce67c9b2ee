"""Chinese words and dates for the index, and the work that odd texts may cause."""

from __future__ import annotations

from time import thread_time

import pytest

from notes.index.lexemes import build_lexical_text

SHORT, LONG = 20_000, 80_000


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("2024年5月8号", ["2024年", "5月", "8日"]),
        ("5 月", ["5月"]),
        ("见于123456年", ["见于", "123456", "年"]),
        ("1" * 50, ["1" * 50]),
    ],
)
def test_dates_are_words_and_long_numbers_stay_whole(text: str, words: list[str]) -> None:
    assert build_lexical_text(text).split() == words


def measure_seconds(text: str) -> float:
    """Processor seconds of this thread, the least of three tries."""
    tries = []
    for _ in range(3):
        start = thread_time()
        build_lexical_text(text)
        tries.append(thread_time() - start)
    return min(tries)


@pytest.mark.parametrize("unit", ["1", "九", "猫狗", " ", "a", "1 ", "1234 "])
def test_the_work_grows_as_the_text_does(unit: str) -> None:
    """Four times the text, four times the work; sixteen if it were quadratic."""
    build_lexical_text(unit)
    short, long = (measure_seconds((unit * size)[:size]) for size in (SHORT, LONG))
    assert long < 10 * short + 0.01
