"""One question put to one system, and what came of it."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.conf import settings
from django.utils import timezone

from memoryhub.engines.embedding.packaged import count_tokens
from memoryhub.engines.ledger import Call, accounted
from memoryhub.engines.types import Answer, Engine
from memoryhub.inference.ledger import accounting
from memoryhub.inference.prices import cost
from memoryhub.lab.answering import answered
from memoryhub.lab.datasets import Question
from memoryhub.lab.measuring import summed
from memoryhub.lab.models import LabOutcome
from memoryhub.lab.readers.base import Handed, Place, Reader
from memoryhub.lab.scoring import refusal, scores
from memoryhub.recall.results import Item

MOST_SHOWN = 30  # items of a context that are kept to be read
LONGEST_SHOWN = 500  # characters of each


@dataclass(slots=True)
class Tally:
    """Keeps the account of calls that belong to no tenant: the judge's."""

    calls: list[Call] = field(default_factory=list)

    def allow(self, purpose: str, model: str) -> None:
        """No budget but the operator's patience."""

    def record(self, call: Call) -> None:
        self.calls.append(call)

    def reject(self, purpose: str, count: int) -> None:
        """A reply with a verdict has nothing to reject."""


def outcome_of(
    place: Place, reader: Reader, question: Question, judge: Engine | None
) -> LabOutcome:
    """The row, not yet saved and of no run yet. Raises EngineError: then there is no outcome."""
    asked_at = question.asked_at or place.now
    space = place.space
    with accounting(space.tenant_id, space_id=space.id, at=asked_at) as ledger:
        start = time.perf_counter()
        handed = reader.recall(question.text, asked_at)
        recalled = time.perf_counter()
        given = answered(place, question.text, handed.items, asked_at)
        ended = time.perf_counter()
        calls = called(call for call, _ in ledger.calls)
    graded, judging = _graded(judge, question, given)
    return LabOutcome(
        category=question.category,
        unanswerable=question.unanswerable,
        question=question.text,
        expected=question.expected,
        answer=given.text,
        abstained=given.abstained,
        evidence=sorted(question.evidence),
        scores=_scores(question, given),
        graded=graded,
        calls=summed([calls, judging]),
        recall_ms=round((recalled - start) * 1000, 2),
        answer_ms=round((ended - recalled) * 1000, 2),
        created_at=timezone.now(),
        **_shown(question, handed),
    )


def _shown(question: Question, handed: Handed) -> dict[str, Any]:
    return {
        "places": places(question.evidence, handed.items),
        "shown": shown(question.evidence, handed.items),
        "items": len(handed.items),
        "tokens": handed.tokens,
        "insufficient": handed.insufficient,
        "degraded": list(handed.degraded),
    }


def places(evidence: frozenset[str], items: Sequence[Item]) -> dict[str, tuple[int, int]]:
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


def shown(evidence: frozenset[str], items: Sequence[Item]) -> list[dict[str, Any]]:
    """What a person reads of a context: its beginning, and wherever it shows evidence."""
    found = []
    for place, item in enumerate(items, 1):
        met = sorted({s.external_id for s in item.sources if s.external_id in evidence})
        if place <= MOST_SHOWN or met:
            text = item.text.replace("\0", "")[:LONGEST_SHOWN]
            found.append({"place": place, "kind": item.kind, "text": text, "evidence": met})
    return found


def _scores(question: Question, given: Answer) -> dict[str, float]:
    if question.unanswerable:
        return refusal(given.text, abstained=given.abstained, quoted=given.quoted)
    if not question.expected:
        return {}
    return scores(question.expected, given.text, category=question.category)


def _graded(
    judge: Engine | None, question: Question, given: Answer
) -> tuple[bool | None, dict[str, dict[str, float]]]:
    """(the judge's word, what it cost). Where nothing is expected it has nothing to say."""
    if judge is None or question.unanswerable or not question.expected:
        return None, {}
    tally = Tally()
    with accounted(tally):
        verdict = judge.grade(question.text, question.expected, given.text)
    return verdict, called(tally.calls)


def called(calls: Iterable[Call]) -> dict[str, dict[str, float]]:
    """By purpose. Money is by the operator's price list."""
    return summed({call.purpose: _figures(call)} for call in calls)


def _figures(call: Call) -> dict[str, float]:
    price = cost(settings.MODEL_PRICES, call.model, call.prompt_tokens, call.completion_tokens)
    return {
        "calls": 1,
        "failed": int(call.status == "failed"),
        "prompt_tokens": call.prompt_tokens,
        "completion_tokens": call.completion_tokens,
        "milliseconds": round(call.milliseconds, 1),
        "money": float(price),
    }
