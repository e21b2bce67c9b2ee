"""Breaking off long work that nobody wants any more: at places where it says that it could be.

A thread can't be ended from outside. So who gives work out sets a mark, and the work looks for it
between one piece and the next: before each question to a model, and between portions of a text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_check: ContextVar[Callable[[], None] | None] = ContextVar("stop_check", default=None)


@contextmanager
def allow_stopping(check: Callable[[], None]) -> Iterator[None]:
    """`check` raises where the work inside is to be broken off."""
    token = _check.set(check)
    try:
        yield
    finally:
        _check.reset(token)


def stop_if_unwanted() -> None:
    """Raises what the work's owner wants raised; does nothing where it may go on."""
    if check := _check.get():
        check()
