"""python -m memoryhub.embedded status|start|stop [--data-dir PATH] [--port N]"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from memoryhub.embedded import EmbeddedError, EmbeddedPostgres


def main(arguments: list[str] | None = None) -> int:
    options = build_parser().parse_args(arguments)
    server = EmbeddedPostgres(options.data_dir, port=options.port)
    try:
        return run_action(server, options.action)
    except EmbeddedError as error:
        print(error.message, file=sys.stderr)
        return 1


def run_action(server: EmbeddedPostgres, action: str) -> int:
    """`start` leaves the server running. Exit 3, as service scripts do, when it is not."""
    if action == "start":
        print("started" if server.start(keep=True) else "already running")
    elif action == "stop":
        print("stopped" if server.stop() else "not running")
    elif not server.is_running():
        print(f"not running ({server.data_dir})")
        return 3
    if action != "stop":
        print(server.dsn("app"))
    return 0


def build_parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(prog="python -m memoryhub.embedded", description=__doc__)
    made.add_argument("action", choices=["status", "start", "stop"])
    default = Path(os.environ.get("MEMORYHUB_DATA_DIR") or "var")
    made.add_argument("--data-dir", type=Path, default=default)
    made.add_argument("--port", type=int, help="listen on 127.0.0.1 too; 0: socket only")
    return made


if __name__ == "__main__":
    sys.exit(main())
