"""A receiver of webhooks on loopback that answers from a script.

    with Receiver() as receiver:
        receiver.script(Answer(500), Answer(200))
        ...
        assert receiver.got[0].headers["webhook-id"]

What is not scripted is answered with 200. `hold` answers when it is let go.
"""

from __future__ import annotations

import json
import threading
from collections import deque
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any


@dataclass(frozen=True)
class ScriptedAnswer:
    """`drips`: the body comes a byte at a time, until the sender has enough or is gone."""

    status: int = 200
    body: bytes = b"ok"
    headers: dict[str, str] = field(default_factory=dict)
    hold: bool = False
    drips: bool = False
    hangs_up: bool = False


@dataclass(frozen=True)
class ReceivedRequest:
    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> dict[str, Any]:
        return dict(json.loads(self.body))


@dataclass
class WebhookReceiver:
    requests: list[ReceivedRequest] = field(default_factory=list)
    release_event: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        self._script: deque[ScriptedAnswer] = deque()
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), _build_handler(self))
        self._http.daemon_threads = True

    @property
    def port(self) -> int:
        return int(self._http.server_port)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/hook"

    def script(self, *answers: ScriptedAnswer) -> None:
        self._script.extend(answers)

    def next_answer(self) -> ScriptedAnswer:
        return self._script.popleft() if self._script else ScriptedAnswer()

    def __enter__(self) -> WebhookReceiver:
        threading.Thread(target=self._http.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.release_event.set()
        self._http.shutdown()
        self._http.server_close()


def _build_handler(receiver: WebhookReceiver) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            length = int(self.headers["Content-Length"])
            headers = {name.lower(): value for name, value in self.headers.items()}
            receiver.requests.append(ReceivedRequest(self.path, headers, self.rfile.read(length)))
            with suppress(OSError):  # the sender may be gone
                self._reply(receiver.next_answer())

        def _reply(self, answer: ScriptedAnswer) -> None:
            if answer.hold:
                receiver.release_event.wait(30)
            if answer.hangs_up:
                self.connection.close()
                return
            self.send_response(answer.status)
            for name, value in answer.headers.items():
                self.send_header(name, value)
            if answer.drips:
                self._drip()
                return
            self.send_header("Content-Length", str(len(answer.body)))
            self.end_headers()
            self.wfile.write(answer.body)

        def _drip(self) -> None:
            """Headers without an end."""
            self.flush_headers()
            while not receiver.release_event.wait(0.05):
                self.wfile.write(b"X-More: x\r\n")
                self.wfile.flush()

        def log_message(self, *args: Any) -> None:
            """Silent."""

    return Handler
