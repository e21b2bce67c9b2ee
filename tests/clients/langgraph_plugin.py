"""For pytest, run on LangGraph's own tests: what they call the in-memory store is the hub's.

Reads MEMORYHUB_URL and MEMORYHUB_KEY. Every store begins empty.
"""

from __future__ import annotations

import asyncio
import inspect
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from types import ModuleType
from typing import Any
from unittest.mock import Mock, patch

import pytest
from langgraph.store import memory
from langgraph.store.base import PutOp

from memoryhub_client import MemoryHub
from memoryhub_client.langgraph import MemoryHubStore

hub = MemoryHub(timeout=60)


class EmptyStore(MemoryHubStore):
    """With the members that are to be compared; the vectors are the hub's own."""

    def __init__(self, *, index: Any = None) -> None:
        super().__init__(hub, index=(index or {}).get("fields"))
        while found := self.search((), limit=1000):
            self.batch([PutOp(item.namespace, item.key, None) for item in found])


memory.InMemoryStore = EmptyStore  # type: ignore[assignment,misc]  # in place of the class


class Mocker:
    """As much of pytest-mock as the tests use."""

    def __init__(self, stack: ExitStack) -> None:
        self._stack = stack

    def spy(self, of: Any, name: str) -> Any:
        own = getattr(of, name)
        return self._stack.enter_context(patch.object(of, name, autospec=True, side_effect=own))

    def stub(self) -> Any:
        return Mock()


sys.modules["pytest_mock"] = ModuleType("pytest_mock")
sys.modules["pytest_mock"].MockerFixture = Mocker  # type: ignore[attr-defined]  # it has none yet


@pytest.fixture
def mocker() -> Iterator[Mocker]:
    with ExitStack() as stack:
        yield Mocker(stack)


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: Any) -> bool | None:
    """Those that are coroutines, on a loop of their own."""
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    given = {name: pyfuncitem.funcargs[name] for name in pyfuncitem._fixtureinfo.argnames}
    asyncio.run(pyfuncitem.obj(**given))
    return True
