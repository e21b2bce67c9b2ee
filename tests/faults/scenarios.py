"""What is done to a hub while it is fed and reads. Each is repeatable by its seed."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from threading import Event

from tests.faults.hub import FaultyHub

# Between two blows, drawn evenly from this range.
PAUSE_SECONDS = (1.0, 15.0)

Disturb = Callable[[FaultyHub, Random, Event], int]


@dataclass(frozen=True)
class Scenario:
    """`disturb` goes on until it has struck as often as it means to, or is told to end, and gives
    how often it did."""

    name: str
    disturb: Disturb


def leave_alone(hub: FaultyHub, chance: Random, ends: Event) -> int:
    return 0


def strike(blows: int, *parts: str) -> Disturb:
    """kill -9 to one of `parts` by lot, each time."""

    def disturb(hub: FaultyHub, chance: Random, ends: Event) -> int:
        struck = 0
        while struck < blows and not ends.wait(chance.uniform(*PAUSE_SECONDS)):
            part = chance.choice(parts)
            hub.revive()
            if not hub.kill_part(part):
                continue  # it is not back yet
            struck += 1
            if part == "launcher":
                hub.wait_until_gone()
        hub.revive()
        return struck

    return disturb


def restart(blows: int, *signals: signal.Signals) -> Disturb:
    """Stop in good order and start again, at any moment, each time by one of the signals."""

    def disturb(hub: FaultyHub, chance: Random, ends: Event) -> int:
        for struck in range(blows):
            if ends.wait(chance.uniform(*PAUSE_SECONDS)):
                return struck
            launcher = hub.find_launcher()
            if launcher is not None:
                hub.note_parts()
                launcher.send_signal(chance.choice(signals))
                hub.wait_until_gone()
            hub.revive()
        return blows

    return disturb


def freeze(blows: int, part: str, seconds: float) -> Disturb:
    """A part that stands still (SIGSTOP) for a while: a machine that is paused, memory swapped."""

    def disturb(hub: FaultyHub, chance: Random, ends: Event) -> int:
        for struck in range(blows):
            if ends.wait(chance.uniform(*PAUSE_SECONDS)):
                return struck
            found = hub.find_part(part)
            if found is None:
                continue
            found.suspend()
            time.sleep(seconds)
            found.resume()
        return blows

    return disturb


SCENARIOS = [
    Scenario("undisturbed", leave_alone),
    Scenario("worker killed", strike(30, "worker")),
    Scenario("web server killed", strike(30, "web")),
    Scenario("a database backend killed", strike(30, "backend")),
    Scenario("postmaster killed", strike(10, "postmaster")),
    Scenario("guard killed", strike(3, "guard")),
    Scenario("launcher killed", strike(8, "launcher")),
    Scenario("any of them killed", strike(30, "worker", "web", "backend", "postmaster")),
    Scenario("stopped and started", restart(8, signal.SIGTERM, signal.SIGINT, signal.SIGHUP)),
    Scenario("worker frozen", freeze(5, "worker", 8.0)),
]
