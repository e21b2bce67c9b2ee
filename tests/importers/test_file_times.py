"""Single fields of other systems' files."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from memoryhub.importers.fields import read_time

NOON = datetime(2024, 5, 15, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    "value", [1_715_774_400, 1_715_774_400_000, 1_715_774_400.0, "2024-05-15T12:00:00Z"]
)
def test_a_time_is_the_same_in_seconds_milliseconds_and_words(value: object) -> None:
    assert read_time({"created_at": value}, "created_at") == NOON
