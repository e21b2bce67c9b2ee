"""Every kind of memory that is searched can be indexed anew (E17)."""

from __future__ import annotations

import pytest

from notes.history import row_kinds
from notes.models import IndexEntry


@pytest.mark.parametrize("kind", [kind for kind in IndexEntry.Kind if kind != "turn"])
def test_E17_every_searched_kind_has_a_maker_of_its_entries(kind: str) -> None:
    """Turns are made anew with their neighbours, by `remaking` itself."""
    assert row_kinds.get_row_kind(kind).entries is not None
