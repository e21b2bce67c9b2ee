"""Typed readers of environment variables. A bad value fails at start and names itself."""

from __future__ import annotations

import os
import secrets
import tempfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import unquote, urlsplit

from psycopg.conninfo import conninfo_to_dict

T = TypeVar("T")


class BadSetting(ValueError):
    """An environment variable holds a value that cannot be used."""


def _read_variable(name: str, default: T, parse: Callable[[str], T]) -> T:
    raw = os.environ.get(name, "").strip()
    if not raw:
        return default
    try:
        return parse(raw)
    except ValueError as error:
        raise BadSetting(f"{name}={raw!r}: {error}") from error


def read_text(name: str, default: str = "") -> str:
    return _read_variable(name, default, str)


def read_integer(name: str, default: int, *, least: int = 0) -> int:
    def parse(raw: str) -> int:
        value = int(raw)
        if value < least:
            raise ValueError(f"must be at least {least}")
        return value

    return _read_variable(name, default, parse)


def read_number(name: str, default: float) -> float:
    return _read_variable(name, default, float)


def read_flag(name: str, default: bool) -> bool:
    def parse(raw: str) -> bool:
        if raw.lower() in {"1", "true", "yes", "on"}:
            return True
        if raw.lower() in {"0", "false", "no", "off"}:
            return False
        raise ValueError("use true or false")

    return _read_variable(name, default, parse)


def read_choice(name: str, default: str, allowed: tuple[str, ...]) -> str:
    def parse(raw: str) -> str:
        if raw not in allowed:
            raise ValueError(f"use one of {', '.join(allowed)}")
        return raw

    return _read_variable(name, default, parse)


def read_names(name: str, default: tuple[str, ...] = ()) -> list[str]:
    return _read_variable(
        name, list(default), lambda raw: [part.strip() for part in raw.split(",")]
    )


def read_path(name: str, default: Path) -> Path:
    return _read_variable(name, default, lambda raw: Path(raw).expanduser().resolve())


def read_parsed(name: str, parse: Callable[[str], T]) -> T:
    """What `parse` makes of the text, also of none."""
    return _read_variable(name, parse(""), parse)


def parse_database_url(url: str, **options: Any) -> dict[str, Any]:
    """From a postgresql:// address to Django's DATABASES entry: with libpq's own rules, so that
    sockets, ports and options work as in psql."""
    parts = {key: str(value) for key, value in conninfo_to_dict(url).items() if value is not None}
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": parts.pop("dbname", ""),
        "USER": parts.pop("user", ""),
        "PASSWORD": parts.pop("password", ""),
        "HOST": parts.pop("host", ""),
        "PORT": parts.pop("port", ""),
        "OPTIONS": {**parts, **options.pop("OPTIONS", {})},
        **options,
    }


@dataclass(frozen=True, slots=True)
class MailServer:
    """Where mail is handed over; nowhere without a host."""

    host: str = ""
    port: int = 25
    user: str = ""
    password: str = ""
    starts_tls: bool = False
    is_tls: bool = False


def parse_mail_url(url: str) -> MailServer:
    """From `smtp://` (with STARTTLS, but on this machine) or `smtps://`."""
    if not url:
        return MailServer()
    parts = urlsplit(url)
    is_tls = parts.scheme == "smtps"
    if parts.scheme not in ("smtp", "smtps") or not parts.hostname:
        raise ValueError("use smtp://name:password@host:587 or smtps://…")
    return MailServer(
        parts.hostname,
        parts.port or (465 if is_tls else 587),
        unquote(parts.username or ""),
        unquote(parts.password or ""),
        starts_tls=not is_tls and parts.hostname not in ("localhost", "127.0.0.1", "::1"),
        is_tls=is_tls,
    )


def parse_cell(name: str) -> str:
    """Two lower-case letters or digits, or none."""
    if name and not (len(name) == 2 and name.isascii() and name.isalnum() and name == name.lower()):
        raise ValueError("use two lower-case letters or digits")
    return name


def ensure_secret_key(data_dir: Path) -> str:
    """The signing key of an installation that was not given one: made on first use and kept under
    `data_dir`, in a 0600 file."""
    file = data_dir / "secret_key"
    if not file.exists():
        data_dir.mkdir(parents=True, exist_ok=True)
        # A hard link appears whole or not at all, and the first of several makers wins.
        descriptor, name = tempfile.mkstemp(dir=file.parent)
        with os.fdopen(descriptor, "w") as target:
            target.write(secrets.token_urlsafe(48))
        with suppress(FileExistsError):
            os.link(name, file)
        os.unlink(name)
    return file.read_text()
