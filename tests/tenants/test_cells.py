"""Keys say the cell that made them."""

from __future__ import annotations

from typing import Any

import pytest

from memoryhub import env
from memoryhub.tenants.keys import extract_prefix, generate_key


def test_a_key_begins_with_its_cell(settings: Any) -> None:
    settings.CELL = "b2"
    key, prefix, _ = generate_key()
    assert prefix.startswith("b2")
    assert extract_prefix(key) == prefix


@pytest.mark.parametrize("name", ["b", "b23", "B2", "é1", "b-"])
def test_a_cell_has_two_letters_or_digits(name: str) -> None:
    with pytest.raises(ValueError, match="two"):
        env.parse_cell(name)
