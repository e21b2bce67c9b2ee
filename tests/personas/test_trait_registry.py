"""The registered traits (spec §8.5)."""

from __future__ import annotations

from collections import Counter

from personas.dimensions import (
    CANONICAL_DIMENSIONS,
    DIMENSIONS,
    EXTRA_DIMENSIONS,
    list_allowed_keys,
)

SENSITIVE = {"health", "political_concern", "religious_interest", "age_group", "gender"}


def test_MO15_registry_of_90_in_three_categories_and_12_extras() -> None:
    assert Counter(each.category for each in CANONICAL_DIMENSIONS.values()) == {
        "personality": 40,
        "alignment": 7,
        "interests": 43,
    }
    assert len(CANONICAL_DIMENSIONS) == 90
    assert len(EXTRA_DIMENSIONS) == 12
    assert not CANONICAL_DIMENSIONS.keys() & EXTRA_DIMENSIONS.keys()


def test_MO15_extras_and_sensitive_ones_are_off_by_default() -> None:
    assert {key for key, each in DIMENSIONS.items() if each.sensitive} == SENSITIVE
    usual = set(list_allowed_keys(extras=False, sensitive=False))
    assert usual == CANONICAL_DIMENSIONS.keys() - SENSITIVE
    assert set(list_allowed_keys(extras=True, sensitive=False)) == DIMENSIONS.keys() - SENSITIVE
    assert set(list_allowed_keys(extras=True, sensitive=True)) == DIMENSIONS.keys()


def test_every_dimension_names_both_its_poles_and_fits_its_column() -> None:
    for each in DIMENSIONS.values():
        assert each.high
        assert each.low
        assert each.high != each.low
        assert len(each.key) <= 40
        assert len({each.describe_level(level) for level in ("high", "medium", "low")}) == 3
    assert DIMENSIONS["music"].describe_level("medium") == "some interest in music"
    assert (
        DIMENSIONS["openness"]
        .describe_level("medium")
        .startswith("between fond of the familiar and")
    )
