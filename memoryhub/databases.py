"""From a postgresql:// address to Django's DATABASES entry."""

from __future__ import annotations

from typing import Any

from psycopg.conninfo import conninfo_to_dict


def database(url: str, **options: Any) -> dict[str, Any]:
    """Parse with libpq's own rules, so that sockets, ports and options work as in psql."""
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
