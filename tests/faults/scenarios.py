"""What is done to a hub while it is fed and reads. Each is repeatable by its seed."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from random import Random
from threading import Event

import psutil

from tests.faults import surroundings
from tests.faults.hub import FaultyHub
from tests.faults.surroundings import Surroundings

# Between two blows, drawn evenly from this range.
PAUSE_SECONDS = (0.5, 6.0)
# A start and a stop in good order take less, on a busy machine too.
LIFE_SECONDS = 30.0

# Goes on until it has struck as often as it means to, or is told to end, and gives how often it
# did.
Disturb = Callable[[FaultyHub, Random, Event], int]
Stage = Callable[[Path, Path], AbstractContextManager[tuple[Surroundings, Disturb]]]


@dataclass(frozen=True)
class Scenario:
    """`stage` makes a data folder of a template and what stands around the hub. `like`: the name
    of the scenario that this one is compared with."""

    name: str
    stage: Stage
    like: str = "undisturbed"


def leave_alone(hub: FaultyHub, chance: Random, ends: Event) -> int:
    return 0


def alone(disturb: Disturb) -> Stage:
    """The hub with a database of its own, and nothing else."""

    @contextmanager
    def stage(template: Path, folder: Path) -> Iterator[tuple[Surroundings, Disturb]]:
        surroundings.copy_template(template, folder)
        yield Surroundings(folder), disturb

    return stage


def repeat(blows: int, strike: Callable[[FaultyHub, Random], bool]) -> Disturb:
    """`strike` at random moments, and again where there was nothing to strike."""

    def disturb(hub: FaultyHub, chance: Random, ends: Event) -> int:
        struck = 0
        while struck < blows and not ends.wait(chance.uniform(*PAUSE_SECONDS)):
            struck += strike(hub, chance)
        return struck

    return disturb


def kill(blows: int, *parts: str) -> Disturb:
    """kill -9 to one of `parts` by lot, each time; every other one once the hub answers, as the
    rest may all meet it at its start."""

    def disturb(hub: FaultyHub, chance: Random, ends: Event) -> int:
        struck = 0
        while struck < blows and not ends.wait(chance.uniform(*PAUSE_SECONDS)):
            while struck % 2 and not ends.is_set() and not hub.is_answering():
                time.sleep(0.2)
            struck += hub.signal_part(chance.choice(parts), signal.SIGKILL)
        return struck

    return disturb


def ask_to_stop(blows: int) -> Disturb:
    """A stop signal at any moment of a life: of its start, its work and, as every other time a
    second one comes soon after, its stop."""
    signals = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)

    def disturb(hub: FaultyHub, chance: Random, ends: Event) -> int:
        struck = 0
        while struck < blows:
            age = chance.uniform(0.0, LIFE_SECONDS)
            if ends.wait(max(0.0, hub.began_at + age - time.monotonic())):
                break
            struck += hub.signal_part("launcher", chance.choice(signals))
            if chance.random() < 0.5:
                time.sleep(chance.uniform(0.0, 3.0))
                hub.signal_part("launcher", chance.choice(signals))
            ends.wait(1.0)
        return struck

    return disturb


def freeze(part: str, seconds: float, hub: FaultyHub, chance: Random) -> bool:
    """A part that stands still (SIGSTOP) for a while: a machine that is paused, memory swapped."""
    found = hub.find_part(part)
    if found is None:
        return False
    with suppress(psutil.NoSuchProcess):
        found.suspend()
        time.sleep(seconds)
        found.resume()
    return True


def starve(part: str, seconds: float, hub: FaultyHub, chance: Random) -> bool:
    """A part that gets no more memory than it has (RLIMIT_AS) for a while."""
    found = hub.find_part(part)
    if found is None:
        return False
    endless = (psutil.RLIM_INFINITY, psutil.RLIM_INFINITY)
    with suppress(psutil.NoSuchProcess):
        found.rlimit(psutil.RLIMIT_AS, (found.memory_info().vms + 2**20, psutil.RLIM_INFINITY))
        time.sleep(seconds)
        found.rlimit(psutil.RLIMIT_AS, endless)
    return True


@contextmanager
def on_redis(template: Path, folder: Path) -> Iterator[tuple[Surroundings, Disturb]]:
    """Redis as the broker, killed, stopped or emptied."""
    surroundings.copy_template(template, folder)
    with surroundings.run_redis() as redis:

        def strike(hub: FaultyHub, chance: Random) -> bool:
            act = chance.choice((redis.flush, redis.restart, partial(redis.restart, 5.0)))
            act()
            return True

        yield Surroundings(folder, {"CELERY_BROKER_URL": redis.url}), repeat(12, strike)


@contextmanager
def on_restarting_database(template: Path, folder: Path) -> Iterator[tuple[Surroundings, Disturb]]:
    """A database elsewhere that is started anew, in good order or not."""
    with surroundings.run_database(template, folder) as database:

        def strike(hub: FaultyHub, chance: Random) -> bool:
            database.restart(chance.choice((signal.SIGINT, signal.SIGQUIT)), chance.uniform(0, 5))
            return True

        yield database.surroundings, repeat(8, strike)


@contextmanager
def on_failing_over_database(
    template: Path, folder: Path
) -> Iterator[tuple[Surroundings, Disturb]]:
    """A database elsewhere that dies, and whose synchronous copy takes its place."""
    with surroundings.run_database(template, folder) as database:
        database.add_copy()

        def strike(hub: FaultyHub, chance: Random) -> bool:
            database.fail_over()
            database.add_copy()
            return True

        yield database.surroundings, repeat(3, strike)


@contextmanager
def on_small_disk(template: Path, folder: Path) -> Iterator[tuple[Surroundings, Disturb]]:
    """A file system of its own, filled to the last byte for some seconds."""
    with surroundings.mount_disk(folder):
        surroundings.copy_template(template, folder)

        def strike(hub: FaultyHub, chance: Random) -> bool:
            surroundings.fill_disk(folder, chance.uniform(4.0, 12.0))
            return True

        yield Surroundings(folder), repeat(4, strike)


@contextmanager
def with_jumping_clock(template: Path, folder: Path) -> Iterator[tuple[Surroundings, Disturb]]:
    """The clock of all processes, two minutes ahead or behind for some seconds."""
    surroundings.copy_template(template, folder)
    with surroundings.fake_clock(folder) as clock:

        def strike(hub: FaultyHub, chance: Random) -> bool:
            clock.set_offset(chance.choice((-120, 120)))
            time.sleep(chance.uniform(3.0, 12.0))
            clock.set_offset(0)
            return True

        yield Surroundings(folder, clock.env), repeat(8, strike)


def with_model(*moods: str) -> Stage:
    """A model and an embedder behind an endpoint, which by turns is in one of `moods`."""

    @contextmanager
    def stage(template: Path, folder: Path) -> Iterator[tuple[Surroundings, Disturb]]:
        from tests.faults.endpoint import MoodyModel

        surroundings.copy_template(template, folder)
        with MoodyModel() as model:
            coming = iter(moods)

            def strike(hub: FaultyHub, chance: Random) -> bool:
                model.mood = next(coming)
                time.sleep(chance.uniform(4.0, 10.0))
                model.mood = "well"
                return True

            yield Surroundings(folder, model.env), repeat(len(moods), strike)

    return stage


MOODS = ("slow", "dripping", "refusing", "limited", "failing", "cutting", "garbage", "enormous")
SCENARIOS = [
    Scenario("undisturbed", alone(leave_alone)),
    Scenario("undisturbed again", alone(leave_alone)),  # what differs by itself
    Scenario("worker killed", alone(kill(30, "worker"))),
    Scenario("web server killed", alone(kill(30, "web"))),
    Scenario("a database backend killed", alone(kill(30, "backend"))),
    Scenario("postmaster killed", alone(kill(10, "postmaster"))),
    Scenario("guard killed", alone(kill(3, "guard"))),
    Scenario("launcher killed", alone(kill(8, "launcher"))),
    Scenario("any of them killed", alone(kill(30, "worker", "web", "backend", "postmaster"))),
    Scenario("asked to stop", alone(ask_to_stop(16))),
    Scenario("worker frozen", alone(repeat(5, partial(freeze, "worker", 8.0)))),
    Scenario("worker short of memory", alone(repeat(8, partial(starve, "worker", 5.0)))),
    Scenario("Redis stopped and flushed", on_redis),
    Scenario("database restarted", on_restarting_database),
    Scenario("database failed over", on_failing_over_database),
    Scenario("disk full", on_small_disk),
    Scenario("clock set", with_jumping_clock),
    Scenario("undisturbed model", with_model()),
    Scenario("undisturbed model again", with_model(), like="undisturbed model"),
    Scenario("model unwell", with_model(*MOODS * 2), like="undisturbed model"),
]
