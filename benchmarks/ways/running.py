"""The whole of it: start the hub, let it read, ask and tell by every way in turn, report."""

from __future__ import annotations

import functools
import itertools
import logging
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from random import Random

from django.utils import timezone
from langgraph.store.base import PutOp

from benchmarks.scale.serving import KEY, hub
from benchmarks.ways.report import Took, table
from benchmarks.ways.served import served_seconds
from benchmarks.ways.talk import QUESTIONS, turns
from benchmarks.ways.ways import NAMESPACE, SUBJECT, Call, chats, ways
from memoryhub.bootstrap import DEMO
from memoryhub.tenants.models import Tenant
from memoryhub.tenants.scope import tenant_scope
from memoryhub.tenants.services import create_tenant
from memoryhub_client import MemoryHub
from memoryhub_client.langgraph import MemoryHubStore
from tests.support.openai_server import OpenAIServer

REPLY = "I see. That is good to know."
_BATCH, _PAUSE = 50, 0.2


def without_the_demo() -> None:
    """The demo's tenant, as if its dialogues had been loaded: the worker would read them
    meanwhile."""
    tenant = create_tenant("Demo", DEMO)
    with tenant_scope(tenant.id):
        Tenant.objects.update(seeded_at=timezone.now())


async def run(rounds: int, count: int) -> None:
    logging.getLogger("httpx").setLevel(logging.WARNING)  # it tells of every request
    logging.getLogger("httpx2").setLevel(logging.WARNING)
    with OpenAIServer() as upstream:
        os.environ |= {"OPENAI_BASE_URL": upstream.url, "MEMORYHUB_PROXY_MODELS": "scripted"}
        upstream.chat(*[REPLY] * (4 * rounds + 40))
        with hub() as served:
            url = f"http://127.0.0.1:{served.port}"
            with MemoryHub(url, KEY, timeout=60) as client:
                _tell(client, turns(count))
                print(f"{count} turns are read, {rounds} rounds", flush=True)
                await _measure(url, client, chats(upstream.url, url, KEY), rounds)


def _tell(client: MemoryHub, said: Sequence[str]) -> None:
    for part in _parts(said):
        client.add(SUBJECT, [{"content": text} for text in part])
    store = MemoryHubStore(client)
    for part in _parts(said):
        store.batch([PutOp(NAMESPACE, str(hash(text)), {"text": text}) for text in part])
    _until_read(client)


def _parts(said: Sequence[str]) -> Iterator[Sequence[str]]:
    return (said[n : n + _BATCH] for n in range(0, len(said), _BATCH))


def _until_read(client: MemoryHub) -> None:
    """Until nothing that was told is unread, and nothing runs that follows from it."""
    unread = {"step": "derive", "NOT": {"state": "done"}}
    waits = {"OR": [unread, {"state": "running"}]}
    while client.jobs.list(filter=waits).page().total:
        time.sleep(_PAUSE)


async def _measure(url: str, client: MemoryHub, talks: Mapping[str, Call], rounds: int) -> None:
    asked, told = itertools.cycle(QUESTIONS), map(_news, itertools.count())
    settle = functools.partial(_until_read, client)
    async with ways(url, KEY) as each:
        searched = await _rounds({way.name: way.search for way in each}, asked, rounds, settle)
        added = await _rounds({way.name: way.add for way in each}, told, rounds, settle)
    chatted = await _rounds(talks, asked, rounds, settle)
    for name, took in (("search", searched), ("add", added), ("chat", chatted)):
        print(table(name, took), flush=True)


def _news(number: int) -> str:
    return f"Number {number} in the queue was {number % 90} years old."


async def _rounds(
    calls: Mapping[str, Call], words: Iterator[str], rounds: int, settle: Callable[[], None]
) -> dict[str, Took]:
    """Every call once a round, each time in another order, with other words. `settle` lets the
    worker finish what a round gave it to do. The first round warms up and is not counted."""
    took, chance = {name: Took() for name in calls}, Random(7)
    for counted in [False, *[True] * rounds]:
        for name in chance.sample(list(calls), len(calls)):
            await _timed(calls[name], next(words), took[name] if counted else Took())
        settle()
    return took


async def _timed(call: Call, text: str, took: Took) -> None:
    served, own, start = served_seconds(), time.process_time(), time.perf_counter()
    await call(text)
    took.waited.append((time.perf_counter() - start) * 1000)
    took.client.append((time.process_time() - own) * 1000)
    took.served.append((served_seconds() - served) * 1000)
