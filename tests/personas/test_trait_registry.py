"""The registered traits (spec §8.5)."""

from __future__ import annotations

from collections import Counter

from personas.registry import CANONICAL, DIMENSIONS, EXTRAS, allowed

SENSITIVE = {"health", "political_concern", "religious_interest", "age_group", "gender"}


def test_MO15_registry_of_90_in_three_categories_and_12_extras() -> None:
    assert Counter(each.category for each in CANONICAL.values()) == {
        "personality": 40,
        "alignment": 7,
        "interests": 43,
    }
    assert len(CANONICAL) == 90
    assert len(EXTRAS) == 12
    assert not CANONICAL.keys() & EXTRAS.keys()


def test_MO15_extras_and_sensitive_ones_are_off_by_default() -> None:
    assert {key for key, each in DIMENSIONS.items() if each.sensitive} == SENSITIVE
    usual = set(allowed(extras=False, sensitive=False))
    assert usual == CANONICAL.keys() - SENSITIVE
    assert set(allowed(extras=True, sensitive=False)) == DIMENSIONS.keys() - SENSITIVE
    assert set(allowed(extras=True, sensitive=True)) == DIMENSIONS.keys()


def test_every_dimension_names_both_its_poles_and_fits_its_column() -> None:
    for each in DIMENSIONS.values():
        assert each.high
        assert each.low
        assert each.high != each.low
        assert len(each.key) <= 40
        assert len({each.says(level) for level in ("high", "medium", "low")}) == 3
    assert DIMENSIONS["music"].says("medium") == "some interest in music"
    assert DIMENSIONS["openness"].says("medium").startswith("between fond of the familiar and")
