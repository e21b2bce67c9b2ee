"""`python -m tests.cells`: starts two cells, and looks whether anything is lost while a database
fails over and a tenant moves under load. Ends with 1 where something is."""

from __future__ import annotations

import os
import signal
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import httpx

from memoryhub.embedded.provision import OWNER
from tests.cells.processes import FRONT, ROOT, Cell, Deployment

EXCHANGES = int(os.environ.get("MEMORYHUB_CELLS_EXCHANGES", "40"))
PATIENCE = 300.0
PAUSE = 0.2  # between two messages of one client, in seconds
_PLACES = ("Porto", "Ghent", "Turku", "Graz", "Split", "Delft", "Cork", "Brno")
FIRST, SECOND = Cell("a1", 8064, members=2), Cell("b2", 8084, members=1)
API = f"http://127.0.0.1:{FRONT}/api/v1"


@dataclass
class Client:
    """A careful backend of one subject: what is not stored is sent again."""

    key: str
    subject: str
    sent: list[str] = field(default_factory=list)
    waits: list[float] = field(default_factory=list)
    refusals: dict[str, int] = field(default_factory=dict)

    def send(self, least: int, done: threading.Event | None = None) -> None:
        """So many, and on until `done`."""
        sent = 0
        while sent < least or not (done is None or done.is_set()):
            self._send_one()
            time.sleep(PAUSE if done else 0)
            sent += 1

    def _send_one(self) -> None:
        number = len(self.sent)
        place = _PLACES[number % len(_PLACES)]
        text = f"Parcel {self.subject}-{number} went to {place} this morning."
        said = {"role": "user", "content": text, "external_id": f"{self.subject}-{number}"}
        body = {"subject": self.subject, "session": "day", "messages": [said]}
        began = time.monotonic()
        while not self._ask("POST", "memories", body):
            if time.monotonic() - began > PATIENCE:
                raise TimeoutError(text)
            time.sleep(0.2)
        self.waits.append(time.monotonic() - began)
        self.sent.append(text)

    def _ask(self, method: str, path: str, body: Mapping[str, object]) -> httpx.Response | None:
        """None where it is to be tried again."""
        try:
            answer = httpx.request(
                method, f"{API}/{path}", json=body, timeout=70, headers=self._auth
            )
        except httpx.TransportError as error:
            self._count(type(error).__name__)
            return None
        if answer.status_code in (409, 429, 502, 503, 504):
            self._count(f"{answer.status_code} {_read_code(answer)}".strip())
            return None
        answer.raise_for_status()
        return answer

    @property
    def _auth(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.key}"}

    def _count(self, what: str) -> None:
        self.refusals[what] = self.refusals.get(what, 0) + 1

    def search(self, text: str) -> list[str]:
        body = {"subject": self.subject, "query": text, "kinds": ["turn"]}
        while (answer := self._ask("POST", "search", body)) is None:
            time.sleep(0.2)
        return [str(item["text"]) for item in answer.json()["items"]]


def _read_code(answer: httpx.Response) -> str:
    try:
        return str(answer.json().get("code", ""))
    except ValueError:
        return "proxy"


def main() -> None:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # what was started is stopped then, too
    folder = Path(tempfile.mkdtemp(prefix="cells-"))
    deployment = Deployment(folder, (FIRST, SECOND))
    print(f"logs in {folder}", flush=True)
    try:
        deployment.start()
        print("both cells answer", flush=True)
        failures = _run(deployment)
    finally:
        deployment.stop()
    sys.exit("\n".join(failures) or 0)


def _run(deployment: Deployment) -> list[str]:
    keys = {
        cell.name: deployment.run_command(cell, "create_tenant", name, "--admin", admin)
        for cell, name, admin in ((FIRST, "Alpha", "eva"), (SECOND, "Beta", "ben"))
    }
    found = {name: _find_key(told) for name, told in keys.items()}
    wrong = [name for name, key in found.items() if not key.startswith(f"mh_{name}")]
    failures = [f"a key does not say its cell: {name}" for name in wrong]
    ana, bea = Client(found["a1"], "ana"), Client(found["b2"], "bea")
    failures += _check_reads(deployment, ana)
    failures += _fail_over(deployment, [ana, bea])
    failures += _move(deployment, [ana, bea])
    failures += _check_kept(deployment, FIRST, SECOND, ana, bea)
    return failures


def _find_key(told: str) -> str:
    return next(word for word in told.split() if word.startswith("mh_"))


def _check_reads(deployment: Deployment, client: Client) -> list[str]:
    """What was said a moment ago is found, by whichever process, and the copy serves it."""
    began, missed, took = _count_reads(deployment), 0, []
    for _ in range(EXCHANGES):
        client.send(1)
        at = time.monotonic()
        missed += client.sent[-1] not in client.search(f"Parcel ana-{len(client.sent) - 1}")
        took.append(time.monotonic() - at)
    time.sleep(2)
    served = _count_reads(deployment) - began
    print(
        f"reads: {EXCHANGES} searches right after a write, {missed} without it; median "
        f"{statistics.median(took) * 1000:.0f} ms; the copy read {served:,} rows for them",
        flush=True,
    )
    return ["a search missed a write"] * bool(missed) + ["the copy served nothing"] * (not served)


def _count_reads(deployment: Deployment) -> int:
    """Rows that the copy has read from tables and indexes for whoever asks it."""
    statement = "SELECT sum(tup_returned)::bigint FROM pg_stat_database WHERE datname='memoryhub'"
    return int(str(deployment.ask_database(FIRST, "copy", statement)[0][0]))


def _while_sending(clients: list[Client], act: Callable[[], None]) -> float:
    """The longest wait of a client for one message to be stored, from the act's begin to its end
    and for some messages more."""
    known, done = [len(client.waits) for client in clients], threading.Event()
    threads = [threading.Thread(target=client.send, args=(EXCHANGES, done)) for client in clients]
    for thread in threads:
        thread.start()
    time.sleep(2)
    try:
        act()
    finally:
        done.set()
        for thread in threads:
            thread.join()
    return max(max(c.waits[n:]) for c, n in zip(clients, known, strict=True))


def _fail_over(deployment: Deployment, clients: list[Client]) -> list[str]:
    leader = deployment.find_leader(FIRST)

    def act() -> None:
        deployment.kill_member(FIRST, leader)
        began = time.monotonic()
        while deployment.find_leader(FIRST) in (-1, leader):
            time.sleep(0.1)
        print(f"failover: the copy took over after {time.monotonic() - began:.1f} s", flush=True)

    longest = _while_sending(clients, act)
    deployment.start_member(FIRST, leader)  # as a copy, from where it was
    print(
        f"failover: longest wait {longest:.1f} s, to be repeated: {clients[0].refusals}", flush=True
    )
    clients[0].refusals.clear()
    return []


def _move(deployment: Deployment, clients: list[Client]) -> list[str]:
    switch = f"{sys.executable} {ROOT}/deploy/cells/switch.py {deployment.folder}"

    def act() -> None:
        told = deployment.run_command(
            FIRST, "tenant", "move", "alpha", "--cell", SECOND.name, "--switch", switch,
            MEMORYHUB_MOVE_TO=SECOND.locate(OWNER, "primary"),
        )  # fmt: skip
        print(f"move: {' '.join(told.split())}", flush=True)

    longest = _while_sending(clients, act)
    print(f"move: longest wait {longest:.1f} s, to be repeated: {clients[0].refusals}", flush=True)
    told = deployment.run_command(FIRST, "tenant", "purge", "alpha")
    print(f"move: left behind and deleted: {told.strip()}", flush=True)
    return []


_TURNS = """
SELECT t.text, t.state FROM dialogues_turn t JOIN tenants_space s ON s.id = t.space_id
WHERE s.subject = '{}' ORDER BY t.seq
"""
_DOUBLED = """
SELECT count(*) FROM (SELECT 1 FROM notes_fact WHERE retired_at IS NULL
GROUP BY space_id, text HAVING count(*) > 1) AS found
"""


def _check_kept(deployment: Deployment, left: Cell, here: Cell, *clients: Client) -> list[str]:
    """In the cell where both are now, once all is read: every message once, in its order."""
    failures = []
    deadline = time.monotonic() + PATIENCE
    for client in clients:
        while True:
            rows = deployment.ask_database(here, "primary", _TURNS.format(client.subject))
            if all(state == "processed" for _, state in rows) or time.monotonic() > deadline:
                break
            time.sleep(1)
        texts = [str(text) for text, _ in rows]
        lost = len(set(client.sent) - set(texts))
        doubled = len(texts) - len(set(texts))
        unread = sum(state != "processed" for _, state in rows)
        is_ordered = texts == client.sent
        print(
            f"{client.subject}: {len(client.sent)} sent, {lost} lost, {doubled} doubled, "
            f"{unread} unread, {'in order' if is_ordered else 'OUT OF ORDER'}",
            flush=True,
        )
        failures += [f"{client.subject}: not as it was sent"] * (not is_ordered)
        failures += [f"{client.subject}: unread"] * bool(unread)
    doubled_facts = deployment.ask_database(here, "primary", _DOUBLED)[0][0]
    left_rows = deployment.ask_database(left, "primary", "SELECT count(*) FROM dialogues_turn")
    print(
        f"facts held twice: {doubled_facts}; turns left in {left.name}: {left_rows[0][0]}",
        flush=True,
    )
    failures += ["facts are held twice"] * bool(doubled_facts)
    return failures + ["something was left behind"] * bool(left_rows[0][0])


if __name__ == "__main__":
    main()
