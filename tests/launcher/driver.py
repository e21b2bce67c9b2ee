"""Runs a hub of stand-in programs: `driver.py DATA_DIR PORT BEHAVIOUR…`."""

from __future__ import annotations

import os
import sys
import time
from functools import partial
from pathlib import Path

from memoryhub.embedded import EmbeddedPostgres
from memoryhub.embedded.server import THROWAWAY_SETTINGS
from memoryhub.launcher import Hub, LauncherError, LaunchPlan, Program, children

PARTS = Path(__file__).with_name("parts.py")
# As a hub waits, only shorter: as many tries, and a grace that is over sooner.
children.RESTART_PAUSES = (0.5,) * len(children.RESTART_PAUSES)
children.STOP_GRACE_SECONDS = 2.5


def build_program(name: str, *arguments: object) -> Program:
    command = [sys.executable, "-S", str(PARTS), name, *map(str, arguments)]
    return Program(name, command, {"PART": name})


def prepare_hub(behaviour: set[str], say: object) -> None:
    if "slow-preparation" in behaviour:
        print("preparing", flush=True)
        time.sleep(60)
    if "torn-preparation" in behaviour:
        try:
            print("preparing", flush=True)
            time.sleep(60)
        finally:
            raise OSError("the connection is lost")  # as a transaction that can't be rolled back
    if "failing-preparation" in behaviour:
        raise LauncherError("The migration cannot be done.")


def main() -> int:
    data_dir, port, behaviour = Path(sys.argv[1]), int(sys.argv[2]), set(sys.argv[3:])
    worker = next((b for b in behaviour if b.startswith("worker-")), "worker-plain")
    postgres = EmbeddedPostgres(data_dir, settings=THROWAWAY_SETTINGS)
    plan = LaunchPlan(
        data_dir=data_dir,
        host="127.0.0.1",
        port=port,
        programs=[build_program("web", port), build_program(worker, data_dir)],
        postgres=postgres if "postgres" in behaviour else None,
        prepare=partial(prepare_hub, behaviour),
        urls=[("Pages", "/pages")],
    )
    return Hub(plan, partial(print, flush=True)).run()


if __name__ == "__main__":
    os.umask(0o022)
    sys.exit(main())
