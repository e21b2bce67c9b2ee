"""Secrets that only the hub's own key opens, while that key is rotated too."""

from __future__ import annotations

from typing import Any

import pytest

from memoryhub.tenants.sealing import SealBroken, open_sealed, reseal, seal_secret

SECRET = "sk-very-secret-1234"


def test_a_secret_is_kept_so_that_it_can_not_be_read(settings: Any) -> None:
    settings.SECRET_KEY = "one"
    sealed = seal_secret(SECRET)
    assert SECRET not in sealed
    assert open_sealed(sealed) == SECRET
    assert seal_secret(SECRET) != sealed
    assert seal_secret("") == open_sealed("") == reseal("") == ""


def test_a_key_of_before_opens_until_it_is_gone(settings: Any) -> None:
    settings.SECRET_KEY = "one"
    sealed = seal_secret(SECRET)
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = "two", ["one"]
    assert open_sealed(sealed) == SECRET
    anew = reseal(sealed)
    settings.SECRET_KEY_FALLBACKS = []
    assert open_sealed(anew) == SECRET
    for work in (open_sealed, reseal):
        with pytest.raises(SealBroken, match="another key of the hub"):
            work(sealed)


def test_what_was_changed_does_not_open(settings: Any) -> None:
    sealed = seal_secret(SECRET)
    with pytest.raises(SealBroken):
        open_sealed(f"{sealed[:-8]}AAAAAAA=")
