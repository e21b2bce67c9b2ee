"""A hub is fed turns of real dialogue while its parts are killed.

`python -m tests.faults DATA [--turns 1000] [--pace 0.3] [--seed 7] [SCENARIO ...]`

DATA is a file in LoCoMo's format. An exchange is sent every `--pace` seconds, slower than the hub
reads: what it makes of a dialogue depends on what it has read when the next exchange comes. For
each scenario a hub is started on a database that is made and thrown away. What it holds in the end
is compared with what the undisturbed one holds, which is always run first (content.py). The exit
status is 1 where anything was lost, doubled or changed.
"""

from __future__ import annotations

import argparse
import logging
import os
import shutil
import tempfile
import time
from pathlib import Path
from random import Random
from threading import Event, Thread
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.faults.backend import Exchange
    from tests.faults.content import Content
    from tests.faults.hub import FaultyHub
    from tests.faults.scenarios import Disturb, Scenario

SEND_SECONDS, READ_SECONDS = 300.0, 1800.0
HEAD = (
    "| Scenario | blows | refused | longest wait, s | in all, s | lost | added | what differs "
    "| gathered otherwise |"
)


def main() -> None:
    given = _parse_arguments()
    with tempfile.TemporaryDirectory(prefix="memoryhub-faults-") as made:
        Path(made).chmod(0o711)  # the database's account has to come by
        template = str(Path(made, "template"))
        os.environ |= {
            "DJANGO_SETTINGS_MODULE": "memoryhub.settings",
            "MEMORYHUB_DATA_DIR": template,
        }
        os.environ.pop("DATABASE_URL", None)
        import django

        django.setup()
        logging.getLogger("httpx").setLevel(logging.WARNING)  # it tells of every request
        raise SystemExit(_run_all(given))


def _parse_arguments() -> argparse.Namespace:
    arguments = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    arguments.add_argument("data", type=Path)
    arguments.add_argument("only", nargs="*", help="scenarios by name, without one all")
    arguments.add_argument("--turns", type=int, default=1000)
    arguments.add_argument("--pace", type=float, default=0.3)
    arguments.add_argument("--show", type=int, default=0, help="rows of each kind that differ")
    arguments.add_argument("--seed", type=int, default=7)
    return arguments.parse_intermixed_args()


def _run_all(given: argparse.Namespace) -> int:
    from tests.faults.content import compare
    from tests.faults.scenarios import SCENARIOS

    exchanges = _read_exchanges(given.data, given.turns)
    template = _make_template()
    chosen = [each for each in SCENARIOS if not given.only or each.name in given.only]
    wanted = {each.like for each in chosen} | {each.name for each in chosen}
    print(HEAD + "\n" + "|---" * 9 + "|", flush=True)
    held: dict[str, Content] = {}
    faults = 0
    for scenario in SCENARIOS:
        if scenario.name not in wanted:
            continue
        began = time.monotonic()
        try:
            content, row = _run_scenario(scenario, template, exchanges, given)
        except (RuntimeError, TimeoutError) as error:
            print(f"| {scenario.name} | {error} |", flush=True)
            faults += 1
            continue
        held[scenario.name] = content
        found = compare(held.get(scenario.like, content), content)
        differs = [each for each in found if not each.is_of_the_moment]
        gathered = sum(each.lost.total() for each in found if each.is_of_the_moment)
        lost = sum(each.lost.total() for each in differs)
        more = sum(each.added.total() for each in differs)
        told = ", ".join(map(str, differs)) or "nothing"
        took = time.monotonic() - began
        print(
            f"| {scenario.name} | {row} | {took:.0f} | {lost} | {more} | {told} | {gathered} |",
            flush=True,
        )
        faults += bool(differs)
        for each in found if given.show else ():
            print(f"  {each}", flush=True)
        for each in differs:
            for sign, rows in (("-", each.lost), ("+", each.added)):
                for line in sorted(rows)[: given.show]:
                    print(f"  {sign} {each.kind} {line}", flush=True)
    return 1 if faults else 0


def _read_exchanges(path: Path, turns: int) -> list[Exchange]:
    """The first turns of the file, two at a time."""
    from memoryhub.lab.datasets.read import read_dataset_dialogues
    from tests.faults.backend import Exchange

    found: list[Exchange] = []
    for dialogue in read_dataset_dialogues(path):
        for session in dialogue.conversation.sessions:
            messages = [
                {
                    "role": each.role,
                    "content": each.content,
                    "speaker": each.speaker,
                    "timestamp": each.timestamp.isoformat() if each.timestamp else None,
                    "external_id": f"{session.name}-{n}",
                }
                for n, each in enumerate(session.messages)
            ]
            for at in range(0, len(messages), 2):
                if turns <= 0:
                    return found
                found.append(Exchange(dialogue.name, session.name, messages[at : at + 2]))
                turns -= len(messages[at : at + 2])
    return found


def _run_scenario(
    scenario: Scenario, template: Path, exchanges: list[Exchange], given: argparse.Namespace
) -> tuple[Content, str]:
    """What the hub held in the end, and the columns of the table about the way there.

    Raises RuntimeError and TimeoutError where an exchange, a job or an end did not come, and where
    a process was left over.
    """
    from memoryhub.embedded import EmbeddedPostgres
    from tests.faults.hub import FaultyHub
    from tests.support.processes import find_free_port

    folder = template.parent / "hub"
    with scenario.stage(template, folder) as (around, disturb):
        hub = FaultyHub(around.folder, find_free_port(), around.env)
        try:
            content, row = _feed(hub, disturb, exchanges, given)
        finally:
            hub.stop()
            _keep_logs(scenario.name, around.folder)
        orphans = hub.wait_until_gone()
        EmbeddedPostgres(folder).erase()
    shutil.rmtree(folder, ignore_errors=True)
    if orphans:
        raise RuntimeError(f"left over: {orphans}")
    return content, row


def _feed(
    hub: FaultyHub, disturb: Disturb, exchanges: list[Exchange], given: argparse.Namespace
) -> tuple[Content, str]:
    from tests.faults.backend import Backend
    from tests.faults.content import now, read_content

    began, ends, blows, chance = now(), Event(), [0], Random(given.seed)
    hub.start()
    backend = Backend(hub.port)
    striker = Thread(target=lambda: blows.append(disturb(hub, chance, ends)), daemon=True)
    striker.start()
    try:
        backend.send_all(exchanges, SEND_SECONDS, given.pace)
        striker.join(READ_SECONDS)
        backend.wait_until_read(READ_SECONDS)
        content = read_content(backend, sorted({each.subject for each in exchanges}), began)
    finally:
        ends.set()
        striker.join(60)
    refused = ", ".join(f"{k}: {n}" for k, n in sorted(backend.sent.refusals.items())) or "0"
    return content, f"{sum(blows)} | {refused} | {backend.sent.longest:.1f}"


def _keep_logs(name: str, folder: Path) -> None:
    """For who wants to know why: where MEMORYHUB_FAULT_LOGS says."""
    kept = os.environ.get("MEMORYHUB_FAULT_LOGS")
    for log in (folder / "hub.log", folder / "postgres" / "postgres.log") if kept else ():
        if log.exists():
            shutil.copyfile(log, Path(str(kept)) / f"{name.replace(' ', '-')}.{log.name}")


def _make_template() -> Path:
    """A data folder with a database that is ready, without the demo."""
    from django.core.management import call_command
    from django.db import connections

    from benchmarks.demo_tenant import skip_demo_data
    from memoryhub.embedded import EmbeddedPostgres

    template = Path(os.environ["MEMORYHUB_DATA_DIR"])
    postgres = EmbeddedPostgres(template)
    postgres.start()
    call_command("migrate", database="owner", interactive=False, verbosity=0)
    skip_demo_data()
    connections.close_all()
    postgres.stop()
    return template


if __name__ == "__main__":
    main()
