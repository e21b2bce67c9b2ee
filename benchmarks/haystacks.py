"""Puts haystacks in LongMemEval's format together out of the sessions of LoCoMo's conversations.

python -m benchmarks.haystacks locomo.json haystacks.json --questions 20 --sessions 50

Each question gets the sessions that hold its evidence, and others of all conversations by lot.
The same seed always draws the same ones.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import django

if TYPE_CHECKING:
    from memoryhub.dialogues.formats import NamedSession
    from memoryhub.lab.datasets.types import Dialogue

# LongMemEval's type of what LoCoMo numbers so; open-domain questions have no like.
TYPES = {1: "multi-session", 2: "temporal-reasoning", 4: "single-session-user"}


def build_haystacks(
    dialogues: Sequence[Dialogue], *, questions: int, sessions: int, seed: int
) -> Iterator[dict[str, Any]]:
    """A row a question, as LongMemEval has them."""
    from memoryhub.lab.datasets.sample import sample_questions

    lots = Random(seed)
    by_name = {dialogue.name: dialogue for dialogue in dialogues}
    for name, number in sample_questions(dialogues, questions, categories=list(TYPES), seed=seed):
        own = by_name[name]
        if own.questions[number].evidence:
            yield _build_row(own, number, _draw_sessions(dialogues, own, sessions, number, lots))


def _draw_sessions(
    dialogues: Sequence[Dialogue], own: Dialogue, most: int, number: int, lots: Random
) -> list[NamedSession]:
    """Those with the question's evidence, and others by lot, in the order of time."""
    evidence = own.questions[number].evidence
    needles = [s for s in own.conversation.sessions if _holds(s, evidence)]
    hay = [s for each in dialogues for s in each.conversation.sessions if s not in needles]
    drawn = needles + lots.sample(hay, min(len(hay), max(0, most - len(needles))))
    return sorted(drawn, key=lambda session: str(session.messages[0].timestamp))


def _holds(session: NamedSession, evidence: frozenset[str]) -> bool:
    return any(message.external_id in evidence for message in session.messages)


def _build_row(own: Dialogue, number: int, sessions: Sequence[NamedSession]) -> dict[str, Any]:
    question = own.questions[number]
    mine = [session in own.conversation.sessions for session in sessions]
    last = max(m.timestamp for s in sessions for m in s.messages if m.timestamp)
    evidence = [question.evidence if held else frozenset[str]() for held in mine]
    return {
        "question_id": f"{own.name}-{number}",
        "question_type": TYPES[question.category],
        "question": question.text,
        "answer": question.expected,
        "question_date": f"{last:%Y/%m/%d (%a) %H:%M}",
        "haystack_session_ids": [f"h{at}" for at, _ in enumerate(sessions, 1)],
        "haystack_dates": [f"{s.messages[0].timestamp:%Y/%m/%d (%a) %H:%M}" for s in sessions],
        "haystack_sessions": [
            _render_session(session, refs) for session, refs in zip(sessions, evidence, strict=True)
        ],
        "answer_session_ids": [
            f"h{at}"
            for at, (s, refs) in enumerate(zip(sessions, evidence, strict=True), 1)
            if _holds(s, refs)
        ],
    }


def _render_session(session: NamedSession, evidence: frozenset[str]) -> list[dict[str, Any]]:
    first = session.messages[0].speaker
    return [
        {
            "role": "user" if message.speaker == first else "assistant",
            "content": f"{message.speaker}: {message.content}",
            "has_answer": message.external_id in evidence,
        }
        for message in session.messages
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, help="LoCoMo's JSON")
    parser.add_argument("out", type=Path)
    parser.add_argument("--questions", type=int, default=20)
    parser.add_argument("--sessions", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    told = parser.parse_args()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memoryhub.settings")
    django.setup()
    from memoryhub.lab.datasets.read import read_dataset_dialogues

    rows = build_haystacks(
        read_dataset_dialogues(told.data),
        questions=told.questions,
        sessions=told.sessions,
        seed=told.seed,
    )
    told.out.write_text(json.dumps(list(rows), ensure_ascii=False))


if __name__ == "__main__":
    main()
