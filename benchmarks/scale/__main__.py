"""Search in a database of a million memories, measured over HTTP.

`python -m benchmarks.scale [--memories 1000000] [--data DIR] [--out FILE] [--load-only]`

Loads a database of its own once and keeps it; starts the hub on it; asks on-topic, off-topic,
rare and frequent questions of spaces of every size, and prints what they took.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent


def main() -> None:
    given = _parse_arguments()
    # The settings are read when Django is set up: from here on they are those of this database.
    os.environ |= {
        "DJANGO_SETTINGS_MODULE": "memoryhub.settings",
        "MEMORYHUB_DATA_DIR": str(given.data.absolute()),
    }
    os.environ.pop("DATABASE_URL", None)
    import django

    django.setup()
    from benchmarks.scale.run import run_benchmark

    run_benchmark(given.memories, given.questions, given.out, measure=not given.load_only)


def _parse_arguments() -> argparse.Namespace:
    arguments = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    arguments.add_argument("--memories", type=int, default=1_000_000, help="in the whole database")
    arguments.add_argument("--questions", type=int, default=100, help="asked of each space")
    arguments.add_argument("--data", type=Path, default=ROOT / "var" / "scale", help="kept here")
    arguments.add_argument("--out", type=Path, help="the figures as JSON")
    arguments.add_argument("--load-only", action="store_true")
    return arguments.parse_args()


if __name__ == "__main__":
    main()
