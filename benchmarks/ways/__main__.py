"""Add and search through every way in, side by side, over HTTP.

`python -m benchmarks.ways [--rounds 40] [--turns 300]`

Starts a hub as `make run` does, on a database of its own that is made and thrown away; has it
read some hundred made-up turns; then asks and tells, each way in turn, in an order that changes
every round. A model's stand-in on loopback answers what goes through the OpenAI proxy.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent


def main() -> None:
    given = _parse_arguments()
    with tempfile.TemporaryDirectory(prefix="memoryhub-ways-") as made:
        # The settings are read when Django is set up: from here on they are those of this database.
        os.environ |= {"DJANGO_SETTINGS_MODULE": "memoryhub.settings", "MEMORYHUB_DATA_DIR": made}
        os.environ.pop("DATABASE_URL", None)
        import django

        django.setup()
        # The clients of this folder, as it stands.
        sys.path.insert(0, str(ROOT / "clients" / "python" / "src"))
        from django.core.management import call_command

        from benchmarks.demo_tenant import skip_demo_data
        from benchmarks.ways.run import run_benchmark
        from memoryhub.embedded import EmbeddedPostgres

        postgres = EmbeddedPostgres(Path(made))
        try:
            postgres.start()
            call_command("migrate", database="owner", interactive=False, verbosity=0)
            skip_demo_data()
            asyncio.run(run_benchmark(given.rounds, given.turns))
        finally:
            postgres.erase()  # a root's cluster lies elsewhere


def _parse_arguments() -> argparse.Namespace:
    arguments = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    arguments.add_argument("--rounds", type=int, default=40, help="calls of each kind and way")
    arguments.add_argument("--turns", type=int, default=300, help="read before it begins")
    return arguments.parse_args()


if __name__ == "__main__":
    main()
