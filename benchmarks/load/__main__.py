"""Adds, searches and console pages of 1, 4, 16 and 64 clients at once, against a hub of its own.

`python -m benchmarks.load [--minutes 2]`

Starts a hub as `make run` does, on a database that is made and thrown away, and has it read some
hundred made-up turns. Then locust's clients ask, each as soon as it is answered, while idle
connections stay open and the worker reads what is added.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from pathlib import Path


def main() -> None:
    given = _parse_arguments()
    with tempfile.TemporaryDirectory(prefix="memoryhub-load-") as made:
        # The settings are read when Django is set up: from here on they are those of this database.
        os.environ |= {"DJANGO_SETTINGS_MODULE": "memoryhub.settings", "MEMORYHUB_DATA_DIR": made}
        os.environ.pop("DATABASE_URL", None)
        import django

        django.setup()
        from django.core.management import call_command

        from benchmarks.demo_tenant import skip_demo_data
        from benchmarks.load.run import run_benchmark
        from memoryhub.embedded import EmbeddedPostgres

        postgres = EmbeddedPostgres(Path(made))
        try:
            postgres.start()
            call_command("migrate", database="owner", interactive=False, verbosity=0)
            skip_demo_data()
            run_benchmark(given.minutes * 60, given.clients, given.idle)
        finally:
            postgres.erase()  # a root's cluster lies elsewhere


def _parse_arguments() -> argparse.Namespace:
    arguments = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    arguments.add_argument("--minutes", type=float, default=2.0, help="in all")
    arguments.add_argument("--clients", type=int, nargs="+", default=[1, 4, 16, 64])
    arguments.add_argument("--idle", type=int, default=0, help="connections that ask nothing")
    return arguments.parse_args()


if __name__ == "__main__":
    main()
