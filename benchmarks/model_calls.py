"""How often a model is asked while a LoCoMo conversation is read, by purpose, and what it takes.

`python benchmarks/model_calls.py PATH [--preset balanced] [--pace 20] [--sessions N] [--only I]
[--set SWITCH=VALUE ...] [--way session|turn]`

The conversation is delivered twice, session by session and turn by turn with `--pace` seconds
between turns. See calls.py. Not on the data folder of a hub that runs: its worker would help.
"""

from __future__ import annotations

import argparse
import os
import sys
from dataclasses import replace
from pathlib import Path

import django

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("path", type=Path)
    arguments.add_argument("--preset", default="balanced")
    arguments.add_argument("--pace", type=float, default=20.0, help="seconds between turns")
    arguments.add_argument("--sessions", type=int, help="only the first so many")
    arguments.add_argument("--only", type=int, default=0, help="which conversation, from 0")
    arguments.add_argument("--set", action="append", default=[], metavar="SWITCH=VALUE")
    arguments.add_argument("--way", choices=("session", "turn", "both"), default="both")
    given = arguments.parse_args()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memoryhub.settings")
    django.setup()
    _count_calls(given)


def _count_calls(given: argparse.Namespace) -> None:
    """Imports what needs Django to be set up."""
    from django.conf import settings
    from django.core.management import call_command

    from benchmarks.count_model_calls import format_tally, measure_model_calls
    from memoryhub.embedded import ensure_running
    from memoryhub.lab.datasets.read import read_dataset_dialogues

    if settings.EMBEDDED:
        ensure_running(settings.DATA_DIR)
        call_command("migrate", database="owner", verbosity=0)
    talk = read_dataset_dialogues(given.path)[given.only].conversation
    talk = replace(talk, sessions=list(talk.sessions)[: given.sessions])
    for way in ("session", "turn") if given.way == "both" else (given.way,):
        tally = measure_model_calls(
            talk,
            preset=given.preset,
            overrides=dict(each.split("=", 1) for each in given.set),
            by_turn=way == "turn",
            pace=given.pace,
        )
        print("\n".join(format_tally(f"{way} by {way}", tally)), flush=True)


if __name__ == "__main__":
    main()
