#!/usr/bin/env python
"""MemoryHub's command line."""

from __future__ import annotations

import os
import sys

from django.core.management import execute_from_command_line

# These need no database, or see to it themselves.
_WITHOUT_DATABASE = {
    "help",
    "--help",
    "makemigrations",
    "collectstatic",
    "db",
    "hub",
    "mcp",
    "spectacular",
}


def start_database() -> None:
    """Start the embedded PostgreSQL on demand; the last user's end stops it."""
    from django.conf import settings

    if settings.EMBEDDED:
        from memoryhub.embedded import ensure_running

        ensure_running(settings.DATA_DIR)


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memoryhub.settings")
    if set(sys.argv[1:2]).isdisjoint(_WITHOUT_DATABASE):
        start_database()
    execute_from_command_line(sys.argv)
