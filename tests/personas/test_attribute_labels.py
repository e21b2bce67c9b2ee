"""What the values of a profile are called."""

from __future__ import annotations

import pytest
from django.utils.translation import override

from personas.models import format_attribute_key


@pytest.mark.parametrize(
    ("key", "language", "label"),
    [
        ("lives_in", "en", "Lives in"),
        ("lives_in", "zh-hans", "住在"),
        ("shoe_size", "en", "Shoe size"),
        ("shoe_size", "zh-hans", "Shoe size"),
    ],
)
def test_what_is_known_of_everybody_is_in_the_readers_language(
    key: str, language: str, label: str
) -> None:
    with override(language):
        assert format_attribute_key(key) == label
