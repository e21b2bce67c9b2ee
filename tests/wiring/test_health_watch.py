"""Health is told from the event loop, of what a thread beside it sees."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial
from threading import Event
from typing import Any

import pytest

from memoryhub.health import DOWN, Health
from memoryhub.serving import health_watch
from memoryhub.serving.health_watch import HealthWatch
from tests.support.event_loop import run_coroutine
from tests.support.processes import wait_until

WELL, FULL = Health(200, {"status": "ok"}), Health(503, {"status": "full", "disk": "full"})


def ask(watch: HealthWatch) -> Health:
    sent: list[Mapping[str, Any]] = []

    async def send(message: Mapping[str, Any]) -> None:
        sent.append(message)

    run_coroutine(watch.answer(send))
    head, body = sent
    assert dict(head["headers"])[b"Content-Length"] == str(len(body["body"])).encode()
    return Health(head["status"], json.loads(body["body"]))


def is_told(watch: HealthWatch, health: Health) -> bool:
    return ask(watch) == health


def test_the_first_to_ask_is_told_what_is_so_and_later_ones_what_has_become_of_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(health_watch, "LOOK_SECONDS", 0.01)
    seen = [WELL]
    watch = HealthWatch(lambda: seen[-1])
    assert ask(watch) == WELL
    for now in (DOWN, FULL, WELL):
        seen.append(now)
        wait_until(partial(is_told, watch, now), 10)


def test_many_who_ask_are_one_look(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(health_watch, "LOOK_SECONDS", 3600)
    to_see = [DOWN, WELL]
    watch = HealthWatch(to_see.pop)
    assert [ask(watch) for _ in range(50)] == [WELL] * 50
    assert to_see == [DOWN]


def test_a_database_that_never_answers_is_one_that_is_down(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(health_watch, "LOOK_SECONDS", 0.01)
    monkeypatch.setattr(health_watch, "STALE_SECONDS", 0.2)
    hangs, answers = Event(), Event()
    answers.set()

    def look() -> Health:
        if not answers.is_set():
            hangs.wait(60)
        return WELL

    watch = HealthWatch(look)
    try:
        assert ask(watch) == WELL
        answers.clear()
        wait_until(lambda: ask(watch) == DOWN, 10)
        answers.set()
        hangs.set()
        wait_until(lambda: ask(watch) == WELL, 10)
    finally:
        hangs.set()
