"""The web server as it is deployed, in a process of its own, and raw connections to it."""

from __future__ import annotations

import json
import socket
import string
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memoryhub.management.commands.hub import build_web_program
from tests.support.processes import build_environment, find_free_port, run_process, wait_until

PATIENCE = 30.0


@dataclass(frozen=True)
class WebServer:
    port: int
    key: str
    log: Path

    def connect(self) -> RawConnection:
        return RawConnection(socket.create_connection(("127.0.0.1", self.port), PATIENCE), self.key)

    def ask(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        """Over a connection of its own: the status, and what was answered."""
        with self.connect() as connection:
            connection.send_request(method, path, body)
            return connection.read_answer()

    def is_well(self) -> bool:
        try:
            return self.ask("GET", "/healthz")[0] == 200
        except OSError:
            return False


class RawConnection:
    """What a client that behaves badly sends is written byte by byte."""

    def __init__(self, connected: socket.socket, key: str) -> None:
        self.socket, self._key = connected, key
        self._file = connected.makefile("rb")

    def __enter__(self) -> RawConnection:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        self._file.close()
        self.socket.close()

    def send_request(self, method: str, path: str, body: Any = None) -> None:
        content = b"" if body is None else json.dumps(body).encode()
        self.send_head(method, path, len(content))
        self.socket.sendall(content)

    def send_head(self, method: str, path: str, length: int) -> None:
        lines = [
            f"{method} {path} HTTP/1.1",
            "Host: localhost",
            f"Authorization: Bearer {self._key}",
            "Content-Type: application/json",
            f"Content-Length: {length}",
        ]
        self.socket.sendall("\r\n".join([*lines, "", ""]).encode())

    def read_head(self) -> tuple[int, Mapping[str, str]]:
        status = int(self._file.readline().split()[1])
        headers = {}
        while line := self._file.readline().strip():
            name, _, value = line.decode().partition(":")
            headers[name.lower()] = value.strip()
        return status, headers

    def read_answer(self) -> tuple[int, Any]:
        """Of an answer with a length."""
        status, headers = self.read_head()
        content = self._file.read(int(headers.get("content-length", 0)))
        if "json" in headers.get("content-type", ""):
            return status, json.loads(content)
        return status, content.decode()

    def read_line(self) -> str:
        """Of a stream, without the sizes of its pieces; empty once the other end has closed."""
        while line := self._file.readline():
            text = line.strip().decode()
            if text and not all(letter in string.hexdigits for letter in text):
                return text
        return ""

    def is_closed_by_server(self) -> bool:
        """Waits for it."""
        return self._file.read() is not None


@contextmanager
def run_web_server(folder: Path, key: str, **env: str) -> Iterator[WebServer]:
    """With the command that the hub starts it with."""
    port = find_free_port()
    command = [*build_web_program().command]
    command[command.index("--port") + 1] = str(port)
    assert command[0] == sys.executable
    server = WebServer(port, key, folder / "web.log")
    environment = build_environment(MEMORYHUB_PROCESS="web", **env)
    with run_process(command, environment, server.log):
        wait_until(server.is_well, 60, server.log)
        yield server
