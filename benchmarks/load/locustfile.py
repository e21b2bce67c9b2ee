"""What clients do to the hub at once: locust runs this file."""

from __future__ import annotations

import itertools
import re
from random import Random
from typing import Any

import requests
from locust import FastHttpUser, constant, constant_pacing, events, task

from benchmarks.ways.sentences import QUESTIONS

SUBJECTS = tuple(f"person-{n}" for n in range(8))
PAGES = ("/", "/spaces/", "/jobs/")
_numbers, _chance = itertools.count(), Random(7)
_cookies: dict[str, str] = {}


@events.init_command_line_parser.add_listener
def add_arguments(parser: Any) -> None:
    parser.add_argument("--key")
    parser.add_argument("--password")


@events.test_start.add_listener
def sign_in(environment: Any, **more: Any) -> None:
    """Once for all who read the console: what a password costs is not what is measured."""
    session, address = requests.Session(), f"{environment.host}/sign-in"
    found = re.search(r'csrfmiddlewaretoken" value="(\w+)"', session.get(address, timeout=30).text)
    assert found is not None
    sent = {
        "username": "operator",
        "password": environment.parsed_options.password,
        "csrfmiddlewaretoken": found[1],
    }
    session.post(address, sent, headers={"Referer": address}, timeout=30).raise_for_status()
    _cookies.update((each.name, each.value or "") for each in session.cookies)


class Client(FastHttpUser):  # type: ignore[misc]  # locust has no types
    """An agent, which searches more than it tells, and now and then a person at the console; the
    next request follows at once."""

    wait_time = constant(0)

    def on_start(self) -> None:
        self.headers = {"Authorization": f"Bearer {self.environment.parsed_options.key}"}

    @task(6)
    def search(self) -> None:
        asked = f"{_chance.choice(QUESTIONS)} {next(_numbers)}"
        body = {"subject": _chance.choice(SUBJECTS), "query": asked}
        self.client.post("/api/v1/search", json=body, headers=self.headers, name="search")

    @task(2)
    def add(self) -> None:
        text = f"Number {next(_numbers)} in the queue was {_chance.randrange(90)} years old."
        body = {"subject": _chance.choice(SUBJECTS), "messages": [{"content": text}]}
        self.client.post("/api/v1/memories", json=body, headers=self.headers, name="add")

    @task(2)
    def open_page(self) -> None:
        kept = "; ".join(f"{name}={value}" for name, value in _cookies.items())
        self.client.get(_chance.choice(PAGES), headers={"Cookie": kept}, name="console page")


class HealthProbe(FastHttpUser):  # type: ignore[misc]
    """What looks after the hub, five times a second."""

    fixed_count = 1
    wait_time = constant_pacing(0.2)

    @task
    def look(self) -> None:
        self.client.get("/healthz", name="health")
