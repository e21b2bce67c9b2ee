"""The whole of it: start the hub, let it read, ask and tell by every way in turn, report."""

from __future__ import annotations

import functools
import itertools
import logging
import os
import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from random import Random

from langgraph.store.base import PutOp

from benchmarks.scale import processor_time
from benchmarks.scale.server import API_KEY, run_hub
from benchmarks.ways.clients import NAMESPACE, SUBJECT, Call, build_chats, open_ways
from benchmarks.ways.sentences import QUESTIONS, build_sentences
from memoryhub_client import MemoryHub
from memoryhub_client.langgraph import MemoryHubStore
from tests.support.openai_server import OpenAIServer


def read_server_milliseconds() -> float:
    """Processor time of the hub's web server, of all its processes since they began. In steps of a
    hundredth of a second, so that only sums over many requests mean something."""
    return processor_time.measure_milliseconds(_find_server_pids()) or 0.0


@cache
def _find_server_pids() -> tuple[int, ...]:
    """granian and its workers, of this process's hub."""
    below = processor_time.find_ticks_below([os.getpid()])
    return tuple(pid for pid in below if "granian" in Path(f"/proc/{pid}/cmdline").read_text())


@dataclass(slots=True)
class CallTimes:
    """Milliseconds a call: waited, and of processor time the client's and the web server's."""

    waited: list[float] = field(default_factory=list)
    client: list[float] = field(default_factory=list)
    served: list[float] = field(default_factory=list)


def format_table(title: str, took: Mapping[str, CallTimes]) -> str:
    """Markdown; the median of what was waited, its 95th percentile, and means of processor time."""
    rows = [
        f"| {name} | {statistics.median(one.waited):.1f} "
        f"| {sorted(one.waited)[int(len(one.waited) * 0.95)]:.1f} "
        f"| {statistics.mean(one.client):.1f} | {statistics.mean(one.served):.1f} |"
        for name, one in took.items()
    ]
    heads = f"| {title} | p50 ms | p95 ms | client's processor ms | web server's |"
    return "\n".join(["", heads, "|---|---|---|---|---|", *rows])


REPLY = "I see. That is good to know."
_BATCH, _PAUSE = 50, 0.2


async def run_benchmark(rounds: int, count: int) -> None:
    logging.getLogger("httpx").setLevel(logging.WARNING)  # it tells of every request
    logging.getLogger("httpx2").setLevel(logging.WARNING)
    with OpenAIServer() as upstream:
        os.environ |= {"OPENAI_BASE_URL": upstream.url, "MEMORYHUB_PROXY_MODELS": "scripted"}
        upstream.script_chat(*[REPLY] * (4 * rounds + 40))
        with run_hub() as served:
            url = f"http://127.0.0.1:{served.port}"
            with MemoryHub(url, API_KEY, timeout=60) as client:
                _add_memories(client, build_sentences(count))
                print(f"{count} turns are read, {rounds} rounds", flush=True)
                await _measure_ways(url, client, build_chats(upstream.url, url, API_KEY), rounds)


def _add_memories(client: MemoryHub, said: Sequence[str]) -> None:
    for part in _split_batches(said):
        client.add(SUBJECT, [{"content": text} for text in part])
    store = MemoryHubStore(client)
    for part in _split_batches(said):
        store.batch([PutOp(NAMESPACE, str(hash(text)), {"text": text}) for text in part])
    _wait_until_read(client)


def _split_batches(said: Sequence[str]) -> Iterator[Sequence[str]]:
    return (said[n : n + _BATCH] for n in range(0, len(said), _BATCH))


def _wait_until_read(client: MemoryHub) -> None:
    """Until nothing that was told is unread, and nothing runs that follows from it."""
    unread = {"step": "derive", "NOT": {"state": "done"}}
    waits = {"OR": [unread, {"state": "running"}]}
    while client.jobs.list(filter=waits).page().total:
        time.sleep(_PAUSE)


async def _measure_ways(
    url: str, client: MemoryHub, talks: Mapping[str, Call], rounds: int
) -> None:
    asked, told = itertools.cycle(QUESTIONS), map(_build_news, itertools.count())
    settle = functools.partial(_wait_until_read, client)
    async with open_ways(url, API_KEY) as each:
        searched = await _run_rounds({way.name: way.search for way in each}, asked, rounds, settle)
        added = await _run_rounds({way.name: way.add for way in each}, told, rounds, settle)
    chatted = await _run_rounds(talks, asked, rounds, settle)
    for name, took in (("search", searched), ("add", added), ("chat", chatted)):
        print(format_table(name, took), flush=True)


def _build_news(number: int) -> str:
    return f"Number {number} in the queue was {number % 90} years old."


async def _run_rounds(
    calls: Mapping[str, Call], words: Iterator[str], rounds: int, settle: Callable[[], None]
) -> dict[str, CallTimes]:
    """Every call once a round, each time in another order, with other words. `settle` lets the
    worker finish what a round gave it to do. The first round warms up and is not counted."""
    took, chance = {name: CallTimes() for name in calls}, Random(7)
    for counted in [False, *[True] * rounds]:
        for name in chance.sample(list(calls), len(calls)):
            await _time_call(calls[name], next(words), took[name] if counted else CallTimes())
        settle()
    return took


async def _time_call(call: Call, text: str, took: CallTimes) -> None:
    served, own, start = read_server_milliseconds(), time.process_time(), time.perf_counter()
    await call(text)
    took.waited.append((time.perf_counter() - start) * 1000)
    took.client.append((time.process_time() - own) * 1000)
    took.served.append(read_server_milliseconds() - served)
