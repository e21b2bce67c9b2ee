"""Where engines report what they asked of models, and are told when to stop.

Engines know no database: the caller lends them a ledger for the time of its work.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Protocol


@dataclass(slots=True)
class CallRecord:
    """One question to a model with its repair, if one was needed (spec §11.2 ModelCall).

    `template` names the prompt's version ("construct.v1"), `status` is ok, repaired or failed,
    `attempts` counts requests, tokens are summed over them, `rejected` are items of the reply
    that were dropped (spec E13).
    """

    purpose: str
    template: str
    model: str
    messages: Sequence[Mapping[str, str]]
    output: str = ""
    status: str = "ok"
    attempts: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    milliseconds: float = 0.0
    rejected: int = 0
    error: str = ""


class Ledger(Protocol):
    def check_allowed(self, purpose: str, model: str) -> None:
        """Raises EngineError when nothing more may be asked: a spent budget, an open breaker."""

    def record_call(self, call: CallRecord) -> None:
        """Called once a call has ended, well or badly."""

    def count_rejected_items(self, purpose: str, count: int) -> None:
        """Items of the last reply for this purpose that were dropped."""


class _OpenLedger:
    """Allows everything and forgets it."""

    def check_allowed(self, purpose: str, model: str) -> None: ...

    def record_call(self, call: CallRecord) -> None: ...

    def count_rejected_items(self, purpose: str, count: int) -> None: ...


_current: ContextVar[Ledger] = ContextVar("ledger", default=_OpenLedger())  # noqa: B039  # stateless


def get_current_ledger() -> Ledger:
    return _current.get()


@contextmanager
def use_ledger(ledger: Ledger) -> Iterator[None]:
    """Calls made inside are reported to `ledger`."""
    token = _current.set(ledger)
    try:
        yield
    finally:
        _current.reset(token)
