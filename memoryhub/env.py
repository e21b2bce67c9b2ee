"""Typed readers of environment variables. A bad value fails at start and names itself."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")


class BadSetting(ValueError):
    """An environment variable holds a value that cannot be used."""


def _read(name: str, default: T, parse: Callable[[str], T]) -> T:
    raw = os.environ.get(name, "").strip()
    if not raw:
        return default
    try:
        return parse(raw)
    except ValueError as error:
        raise BadSetting(f"{name}={raw!r}: {error}") from error


def text(name: str, default: str = "") -> str:
    return _read(name, default, str)


def integer(name: str, default: int, *, least: int = 0) -> int:
    def parse(raw: str) -> int:
        value = int(raw)
        if value < least:
            raise ValueError(f"must be at least {least}")
        return value

    return _read(name, default, parse)


def number(name: str, default: float) -> float:
    return _read(name, default, float)


def flag(name: str, default: bool) -> bool:
    def parse(raw: str) -> bool:
        if raw.lower() in {"1", "true", "yes", "on"}:
            return True
        if raw.lower() in {"0", "false", "no", "off"}:
            return False
        raise ValueError("use true or false")

    return _read(name, default, parse)


def choice(name: str, default: str, allowed: tuple[str, ...]) -> str:
    def parse(raw: str) -> str:
        if raw not in allowed:
            raise ValueError(f"use one of {', '.join(allowed)}")
        return raw

    return _read(name, default, parse)


def names(name: str, default: tuple[str, ...] = ()) -> list[str]:
    return _read(name, list(default), lambda raw: [part.strip() for part in raw.split(",")])


def path(name: str, default: Path) -> Path:
    return _read(name, default, lambda raw: Path(raw).expanduser().resolve())


def parsed(name: str, parse: Callable[[str], T]) -> T:
    """What `parse` makes of the text, also of none."""
    return _read(name, parse(""), parse)
