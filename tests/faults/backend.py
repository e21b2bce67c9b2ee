"""An agent's backend, as one is written that means to lose nothing: it sends each exchange in its
turn, and again until it is told that it is stored.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx

from benchmarks.scale.server import API_KEY

_PAUSE = 0.3
# What says: later, perhaps. All else is a fault of ours.
_TRY_AGAIN = {409, 429, 500, 502, 503, 504, 507}


@dataclass(frozen=True)
class Exchange:
    """Messages that are sent together, as the API takes them."""

    subject: str
    session: str
    messages: Sequence[dict[str, Any]]


@dataclass
class Sent:
    """What became of a run's exchanges. Seconds; `refusals`: answers that said to come again."""

    longest: float = 0.0
    refusals: dict[str, int] = field(default_factory=dict)


class Backend:
    def __init__(self, port: int) -> None:
        self._url = f"http://127.0.0.1:{port}/api/v1"
        self._headers = {"Authorization": f"Bearer {API_KEY}"}
        self.sent = Sent()

    def send_all(self, exchanges: Sequence[Exchange], patience: float, pace: float) -> None:
        """In their order, one every `pace` seconds. Raises TimeoutError for one that was not stored
        in `patience` seconds, and RuntimeError for an answer that no repetition mends."""
        for exchange in exchanges:
            began = time.monotonic()
            self._send(exchange, patience)
            time.sleep(max(0.0, pace - (time.monotonic() - began)))

    def _send(self, exchange: Exchange, patience: float) -> None:
        body = {
            "subject": exchange.subject,
            "session": exchange.session,
            "messages": list(exchange.messages),
        }
        began = time.monotonic()
        while True:
            answer = self.ask("POST", "memories", json=body)
            if answer is not None and answer.status_code < 300:
                break
            code = "no answer" if answer is None else str(answer.status_code)
            if answer is not None and answer.status_code not in _TRY_AGAIN:
                raise RuntimeError(f"{code} {answer.text[:500]}")
            self.sent.refusals[code] = self.sent.refusals.get(code, 0) + 1
            if time.monotonic() - began > patience:
                raise TimeoutError(f"not stored in {patience:.0f} s: {code}")
            time.sleep(_PAUSE)
        self.sent.longest = max(self.sent.longest, time.monotonic() - began)

    def ask(self, method: str, path: str, **what: Any) -> httpx.Response | None:
        """None where nobody answers, or the answer breaks off."""
        try:
            with httpx.Client(headers=self._headers, timeout=60) as client:
                return client.request(method, f"{self._url}/{path}", **what)
        except httpx.TransportError:
            return None

    def read_all(self, path: str, **what: Any) -> httpx.Response:
        """As `ask`, again until it is answered with success. Raises TimeoutError in the end."""
        for _ in range(200):
            answer = self.ask("GET", path, **what)
            if answer is not None and answer.status_code == 200:
                return answer
            time.sleep(_PAUSE)
        raise TimeoutError(f"{path} is not answered")

    def wait_until_read(self, patience: float) -> None:
        """Until no job is due, runs or is to be tried again. Raises TimeoutError in the end."""
        deadline = time.monotonic() + patience
        while left := self._count_due_jobs():
            if time.monotonic() > deadline:
                raise TimeoutError(f"{left} jobs are left after {patience:.0f} s")
            time.sleep(1)

    def _count_due_jobs(self) -> int:
        """-1 where nobody answers."""
        body: dict[str, Any] = {"filter": {"state": ["queued", "running", "retry"]}, "limit": 200}
        due = 0
        while True:
            answer = self.ask("POST", "jobs/query", json=body)
            if answer is None or answer.status_code >= 500:
                return -1
            answer.raise_for_status()
            page = answer.json()
            due += sum(map(_is_due, page["items"]))
            if not page["next"]:
                return due
            body["cursor"] = page["next"]


def _is_due(job: dict[str, Any]) -> bool:
    """Not what only waits for its hour: a session that may still go on, say."""
    soon = datetime.now(UTC) + timedelta(seconds=30)
    when = job["run_after"]
    return job["state"] != "queued" or not when or datetime.fromisoformat(when) < soon
