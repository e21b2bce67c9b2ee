"""The language of what rows keep and models read."""

from __future__ import annotations

from django.conf import settings
from django.utils.translation import override


def use_stored_language() -> override:
    """For words that are kept or that a model reads, whoever's request writes them: programs read
    them as they are, and pages translate them where they show them."""
    return override(settings.LANGUAGE_CODE)
