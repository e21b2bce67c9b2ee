"""Stand-ins for the web server and the worker; each notes its process id in a file."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path


class HealthHandler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200 if self.path == "/healthz" else 404)
        self.end_headers()

    def log_message(self, *args: object) -> None:
        pass


def record_pid(folder: str, name: str, pid: int) -> None:
    with (Path(folder) / "pids").open("a") as file:
        file.write(f"{name} {pid}\n")


def run_worker(behaviour: str, folder: str) -> None:
    record_pid(folder, "worker", os.getpid())
    if behaviour == "worker-broken":
        sys.exit(7)
    if behaviour == "worker-stubborn":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if behaviour == "worker-parent":
        ignores = ["sh", "-c", "trap '' TERM; while :; do sleep 0.1; done"]
        record_pid(folder, "grandchild", subprocess.Popen(ignores).pid)
    while True:
        time.sleep(1)


if __name__ == "__main__":
    if sys.argv[1] == "web":
        HTTPServer(("127.0.0.1", int(sys.argv[2])), HealthHandler).serve_forever()
    run_worker(*sys.argv[1:])
