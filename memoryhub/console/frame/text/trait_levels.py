"""Levels of traits in the reader's language: the words of the pole, never the bare level."""

from __future__ import annotations

from django.utils.translation import gettext, pgettext

from personas.dimensions import DIMENSIONS, Dimension, describe_trait

TRAIT_CONTEXT = "trait"


def describe_level(dimension: Dimension, level: str) -> str:
    """The level in words, as `Dimension.describe_level` has it."""
    high, low = pgettext(TRAIT_CONTEXT, dimension.high), pgettext(TRAIT_CONTEXT, dimension.low)
    if level in ("high", "low"):
        return high if level == "high" else low
    if dimension.category == "interests":
        topic = pgettext(TRAIT_CONTEXT, dimension.label).lower()
        return gettext("some interest in %(topic)s") % {"topic": topic}
    return gettext("between %(low)s and %(high)s") % {"low": low, "high": high}


def describe_key_level(key: str, level: str) -> str:
    """The same by the dimension's key, which need not be registered any more."""
    dimension = DIMENSIONS.get(key)
    return describe_level(dimension, level) if dimension else describe_trait(key, level)
