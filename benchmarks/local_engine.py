"""Measures the local engine on LoCoMo-format data.

python benchmarks/local_engine.py dates PATH            when-questions, by resolved dates
python benchmarks/local_engine.py facts PATH            facts a turn, turns a second
python benchmarks/local_engine.py facts PATH --sample 40 --seed 7 --only 3,4,5
                                                        and facts to read beside their turns
"""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
import time
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

from dateutil import parser as dateparser

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from memoryhub.engines.local import LocalEngine
from memoryhub.engines.local.calendar import unit_of
from memoryhub.engines.local.dates import find_times
from memoryhub.engines.types import Exchange, FactCandidate, Utterance

WHEN = 2  # LoCoMo's category of temporal questions
BATCH = 32  # exchanges read together
_DURATION = re.compile(r"(?:\d+|a|one|two|three|four|five|six|seven) (?:day|week|month|year)s?")


class Interval(NamedTuple):
    start: datetime
    end: datetime


class Dialogue(NamedTuple):
    name: str
    speakers: tuple[str, str]
    turns: dict[str, Utterance]
    questions: list[dict[str, Any]]


def load(path: Path) -> list[Dialogue]:
    return [_dialogue(sample) for sample in json.loads(path.read_text())]


def _dialogue(sample: dict[str, Any]) -> Dialogue:
    talk = sample["conversation"]
    turns: dict[str, Utterance] = {}
    for key in (k for k in talk if re.fullmatch(r"session_\d+", k)):
        at = dateparser.parse(talk[f"{key}_date_time"]).replace(tzinfo=UTC)
        for turn in talk[key]:
            handle = turn["dia_id"]
            turns[handle] = Utterance(handle, turn["speaker"], "user", turn["text"], at)
    speakers = (talk["speaker_a"], talk["speaker_b"])
    return Dialogue(sample.get("sample_id", ""), speakers, turns, sample["qa"])


def exchanges(dialogue: Dialogue) -> Iterator[Exchange]:
    """Two turns at a time with the ten before as history, as the hub does it."""
    turns = list(dialogue.turns.values())
    for i in range(0, len(turns), 2):
        history = turns[max(0, i - 10) : i]
        yield Exchange(turns[i : i + 2], history, dialogue.speakers, dialogue.speakers[0])


def expected(answer: object, said: datetime) -> list[Interval]:
    """The intervals a gold answer names; none for an answer that is not a time."""
    text = re.sub(r"(?<=\d)(?=[A-Z])|(?<=[a-z])[.](?=\d)", " ", str(answer))
    text = text.replace("Janury", "January").strip()
    if _DURATION.fullmatch(text):
        text = f"{text} ago"
    return [Interval(span.start, span.end) for span in find_times(text, said)]


def compatible(found: Interval, gold: Interval) -> bool:
    """They overlap, with a day of slack on either side of the gold answer."""
    slack = timedelta(days=1)
    return found.start < gold.end + slack and gold.start - slack < found.end


def agrees(turn: Utterance, gold: Sequence[Interval]) -> bool:
    """A resolved expression of the turn fits, or the session's day when it has none."""
    found = [Interval(t.start, t.end) for t in find_times(turn.text, turn.at)]
    day = unit_of("day", turn.at)
    return any(compatible(f, g) for f in found or [Interval(day.start, day.end)] for g in gold)


def judged(dialogue: Dialogue) -> list[bool]:
    """For each when-question with an answer that is a time: whether its evidence agrees."""
    verdicts = []
    for question in (q for q in dialogue.questions if q["category"] == WHEN):
        turns = [dialogue.turns[e] for e in question["evidence"] if e in dialogue.turns]
        gold = expected(question["answer"], turns[0].at) if turns else []
        if gold:
            verdicts.append(any(agrees(turn, gold) for turn in turns))
    return verdicts


def measure_dates(dialogues: Sequence[Dialogue]) -> None:
    verdicts = {dialogue.name: judged(dialogue) for dialogue in dialogues}
    verdicts["all"] = [verdict for found in list(verdicts.values()) for verdict in found]
    for name, found in verdicts.items():
        print(f"{name}: {sum(found)} of {len(found)} = {sum(found) / max(1, len(found)):.3f}")


def read(engine: LocalEngine, dialogue: Dialogue) -> list[tuple[FactCandidate, Utterance]]:
    """The facts of a dialogue, each with the turn it was read from."""
    todo = list(exchanges(dialogue))
    made = [engine.construct(todo[i : i + BATCH]) for i in range(0, len(todo), BATCH)]
    facts = [fact for batch in made for construction in batch for fact in construction.facts]
    return [(fact, dialogue.turns[fact.sources[0].handle]) for fact in facts]


def measure_facts(dialogues: Sequence[Dialogue], sample: int, seed: int) -> None:
    engine = LocalEngine()
    engine.construct(list(exchanges(dialogues[0]))[:2])  # loads the model
    start = time.perf_counter()
    facts = [pair for dialogue in dialogues for pair in read(engine, dialogue)]
    seconds = time.perf_counter() - start
    turns = sum(len(dialogue.turns) for dialogue in dialogues)
    print(f"{len(facts)} facts of {turns} turns = {len(facts) / turns:.3f} a turn")
    print(f"{turns / seconds:.0f} turns a second")
    for fact, turn in random.Random(seed).sample(facts, min(sample, len(facts))):
        about = [
            fact.predicate_key,
            fact.kind,
            fact.polarity,
            fact.event.text if fact.event else "",
        ]
        print(f"- {fact.text} | {' '.join(filter(None, about))}\n      {turn.speaker}: {turn.text}")


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("what", choices=["dates", "facts"])
    arguments.add_argument("path", type=Path)
    arguments.add_argument("--only", default="", help="numbers of conversations, from 1")
    arguments.add_argument("--sample", type=int, default=0)
    arguments.add_argument("--seed", type=int, default=7)
    given = arguments.parse_args()
    dialogues = load(given.path)
    if given.only:
        dialogues = [dialogues[int(number) - 1] for number in given.only.split(",")]
    if given.what == "dates":
        measure_dates(dialogues)
    else:
        measure_facts(dialogues, given.sample, given.seed)


if __name__ == "__main__":
    main()
