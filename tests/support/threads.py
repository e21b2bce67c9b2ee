"""Doing the same at the same time."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from django.db import connection

R = TypeVar("R")


def run_in_threads(count: int, act: Callable[[int], R]) -> list[R]:
    """Run `act` in `count` threads, each with a connection of its own."""

    def run(number: int) -> R:
        try:
            return act(number)
        finally:
            connection.close()

    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(run, range(count)))
