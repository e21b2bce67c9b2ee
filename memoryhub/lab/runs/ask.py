"""One question put to one system, and what came of it."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.utils import timezone

from memoryhub.engines.embedding.model_files import count_tokens
from memoryhub.engines.ledger import CallRecord, get_current_ledger, use_ledger
from memoryhub.engines.types import Embedder, Engine, GroundedAnswer
from memoryhub.errors import EngineError
from memoryhub.inference.connections import load_prices
from memoryhub.inference.ledger import TenantLedger, open_ledger
from memoryhub.inference.models import ModelCall
from memoryhub.inference.prices import compute_call_cost
from memoryhub.lab.datasets.types import DatasetQuestion
from memoryhub.lab.metrics.aggregate import sum_calls
from memoryhub.lab.metrics.answers import score_answer, score_refusal, select_expected
from memoryhub.lab.models import LabOutcome
from memoryhub.lab.readers.base import MemoryReader, ReaderInputs
from memoryhub.lab.readers.chunks import embed_texts
from memoryhub.recall.answers import compose_answer
from memoryhub.recall.render.pack import MOST_TOKENS
from memoryhub.recall.render.results import MemoryItem

MOST_KEPT_ITEMS = 30  # items of a context that are kept to be read
LONGEST_KEPT_TEXT = 500  # characters of each


def answer_from_items(
    place: ReaderInputs, question: str, items: Sequence[MemoryItem], at: datetime
) -> GroundedAnswer:
    """By the run's engine, from all that was handed over.

    Raises EngineError: the quotation that the hub falls back on is no answer of the model's.
    """
    made = compose_answer(place.space, question, items, at=at, budget_tokens=MOST_TOKENS, now=at)
    if made.failed:
        ledger = get_current_ledger()
        calls = ledger.calls if isinstance(ledger, TenantLedger) else []
        why = calls[-1][0].error if calls else "it could not be asked"
        raise EngineError(f"the model gave no answer ({why})")
    return made.answer


@dataclass(slots=True)
class JudgeLedger:
    """Keeps the account of calls that belong to no tenant: the judge's."""

    calls: list[CallRecord] = field(default_factory=list)

    def check_allowed(self, purpose: str, model: str) -> None:
        """No budget but the operator's patience."""

    def record_call(self, call: CallRecord) -> None:
        self.calls.append(call)

    def count_rejected_items(self, purpose: str, count: int) -> None:
        """A reply with a verdict has nothing to reject."""


def ask_question(
    place: ReaderInputs, reader: MemoryReader, question: DatasetQuestion, judge: Engine | None
) -> LabOutcome:
    """The row, not yet saved and of no run yet. Raises EngineError: then there is no outcome."""
    asked_at = question.asked_at or place.now
    space = place.space
    with open_ledger(space.tenant_id, space_id=space.id, at=asked_at) as ledger:
        start = time.perf_counter()
        handed = reader.recall(question.text, asked_at)
        recalled = time.perf_counter()
        given = answer_from_items(place, question.text, handed.items, asked_at)
        ended = time.perf_counter()
        calls = sum_ledger_calls(call for call, _ in ledger.calls)
    graded, judging = _grade_answer(judge, question, given)
    return LabOutcome(
        category=question.category,
        unanswerable=question.unanswerable,
        question=question.text,
        expected=question.expected,
        answer=given.text,
        abstained=given.abstained,
        evidence=sorted(question.evidence),
        scores=_score_answer(question, given, place.embedder),
        graded=graded,
        calls=sum_calls([calls, judging]),
        recall_ms=round((recalled - start) * 1000, 2),
        answer_ms=round((ended - recalled) * 1000, 2),
        created_at=timezone.now(),
        places=locate_evidence(question.evidence, handed.items),
        shown=build_excerpts(question.evidence, handed.items),
        items=len(handed.items),
        tokens=handed.tokens,
        insufficient=handed.insufficient,
        degraded=list(handed.degraded),
    )


def locate_evidence(
    evidence: frozenset[str], items: Sequence[MemoryItem]
) -> dict[str, tuple[int, int]]:
    """For each turn of the evidence that an item shows: the item's place, from 1, and the tokens
    of the texts up to it.

    What sums turns up, an episode or the summary so far, shows none of them.
    """
    found: dict[str, tuple[int, int]] = {}
    sizes = count_tokens([item.text for item in items])
    total = 0
    for place, (item, size) in enumerate(zip(items, sizes, strict=True), 1):
        total += size
        for source in item.sources:
            if source.external_id in evidence:
                found.setdefault(source.external_id, (place, total))
    return found


def build_excerpts(evidence: frozenset[str], items: Sequence[MemoryItem]) -> list[dict[str, Any]]:
    """What a person reads of a context: its beginning, and wherever it shows evidence."""
    found = []
    for place, item in enumerate(items, 1):
        met = sorted({s.external_id for s in item.sources if s.external_id in evidence})
        if place <= MOST_KEPT_ITEMS or met:
            text = item.text.replace("\0", "")[:LONGEST_KEPT_TEXT]
            found.append({"place": place, "kind": item.kind, "text": text, "evidence": met})
    return found


def _score_answer(
    question: DatasetQuestion, given: GroundedAnswer, embedder: Embedder
) -> dict[str, float]:
    if question.unanswerable:
        return score_refusal(given.text, abstained=given.abstained, quoted=given.quoted)
    if not question.expected:
        return {}
    scores = score_answer(question.expected, given.text, category=question.category)
    wanted = select_expected(question.expected, question.category)
    return scores | {"sbert": compute_similarity(wanted, given.text, embedder)}


def compute_similarity(expected: str, answer: str, embedder: Embedder) -> float:
    """Of the two as sentences: the cosine of their vectors by the hub's sentence embedder
    (SBERT; Reimers and Gurevych, 2019)."""
    one, other = embed_texts([expected, answer], embedder)
    return round(float(one @ other), 4)


def _grade_answer(
    judge: Engine | None, question: DatasetQuestion, given: GroundedAnswer
) -> tuple[bool | None, dict[str, dict[str, float]]]:
    """(the judge's word, what it cost). Where nothing is expected it has nothing to say."""
    if judge is None or question.unanswerable or not question.expected:
        return None, {}
    tally = JudgeLedger()
    with use_ledger(tally):
        verdict = judge.grade_answer(question.text, question.expected, given.text)
    return verdict, sum_ledger_calls(tally.calls)


def sum_ledger_calls(calls: Iterable[CallRecord]) -> dict[str, dict[str, float]]:
    """By purpose. Money is by the operator's price list."""
    prices = load_prices()
    return sum_measured_calls(
        (c, compute_call_cost(prices, c.model, c.prompt_tokens, c.completion_tokens)) for c in calls
    )


def sum_measured_calls(
    calls: Iterable[tuple[CallRecord | ModelCall, Decimal]],
) -> dict[str, dict[str, float]]:
    """By purpose, of calls with what each cost."""
    return sum_calls(
        {
            call.purpose: {
                "calls": 1,
                "failed": int(call.status == ModelCall.Status.FAILED),
                "prompt_tokens": call.prompt_tokens,
                "completion_tokens": call.completion_tokens,
                "milliseconds": round(call.milliseconds, 1),
                "money": float(cost),
            }
        }
        for call, cost in calls
    )
