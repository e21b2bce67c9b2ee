"""The answer to a question from what a system hands over: the hub's own way, failures apart."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from memoryhub.engines.ledger import current_ledger
from memoryhub.engines.types import Answer
from memoryhub.errors import EngineError
from memoryhub.inference.ledger import TenantLedger
from memoryhub.lab.readers.base import Place
from memoryhub.recall.answering import compose
from memoryhub.recall.packing import MOST_TOKENS
from memoryhub.recall.results import Item


def answered(place: Place, question: str, items: Sequence[Item], at: datetime) -> Answer:
    """By the run's engine, from all that was handed over.

    Raises EngineError: the quotation that the hub falls back on is no answer of the model's.
    """
    made = compose(place.space, question, items, at=at, budget_tokens=MOST_TOKENS, now=at)
    if made.failed:
        raise EngineError(f"the model gave no answer ({_why()})")
    return made.answer


def _why() -> str:
    """What the last call of the open account says went wrong."""
    ledger = current_ledger()
    calls = ledger.calls if isinstance(ledger, TenantLedger) else []
    return calls[-1][0].error if calls else "it could not be asked"
