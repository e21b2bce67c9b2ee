from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import psycopg

PROJECT = Path(__file__).resolve().parents[2]


def query_value(dsn: str, query: str) -> Any:
    with psycopg.connect(dsn, autocommit=True) as connection:
        row = connection.execute(query).fetchone()
    return row[0] if row else None


def execute_statement(dsn: str, query: str) -> None:
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute(query)


def run_command(
    *arguments: str, python: str = sys.executable, **options: Any
) -> subprocess.CompletedProcess[str]:
    """`python -m memoryhub.embedded …`, its streams together in `stdout`."""
    return subprocess.run(
        [python, "-m", "memoryhub.embedded", *arguments],
        cwd=PROJECT,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(PROJECT), *sys.path])},
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=60,
        **options,
    )
