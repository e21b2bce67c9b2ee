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
from memoryhub.engines.local.dates.calendar import resolve_unit
from memoryhub.engines.local.dates.english import find_times
from memoryhub.engines.types import Exchange, FactCandidate, Utterance

TEMPORAL_CATEGORY = 2  # LoCoMo's category of temporal questions
BATCH_SIZE = 32  # exchanges read together
_DURATION = re.compile(r"(?:\d+|a|one|two|three|four|five|six|seven) (?:day|week|month|year)s?")


class TimeInterval(NamedTuple):
    start: datetime
    end: datetime


class LocomoDialogue(NamedTuple):
    name: str
    speakers: tuple[str, str]
    turns: dict[str, Utterance]
    questions: list[dict[str, Any]]


def read_dialogues(path: Path) -> list[LocomoDialogue]:
    return [_build_dialogue(sample) for sample in json.loads(path.read_text())]


def _build_dialogue(sample: dict[str, Any]) -> LocomoDialogue:
    talk = sample["conversation"]
    turns: dict[str, Utterance] = {}
    for key in (k for k in talk if re.fullmatch(r"session_\d+", k)):
        at = dateparser.parse(talk[f"{key}_date_time"]).replace(tzinfo=UTC)
        for turn in talk[key]:
            handle = turn["dia_id"]
            turns[handle] = Utterance(handle, turn["speaker"], "user", turn["text"], at)
    speakers = (talk["speaker_a"], talk["speaker_b"])
    return LocomoDialogue(sample.get("sample_id", ""), speakers, turns, sample["qa"])


def build_exchanges(dialogue: LocomoDialogue) -> Iterator[Exchange]:
    """Two turns at a time with the ten before as history, as the hub does it."""
    turns = list(dialogue.turns.values())
    for i in range(0, len(turns), 2):
        history = turns[max(0, i - 10) : i]
        yield Exchange(turns[i : i + 2], history, dialogue.speakers, dialogue.speakers[0])


def parse_gold_intervals(answer: object, said: datetime) -> list[TimeInterval]:
    """The intervals a gold answer names; none for an answer that is not a time."""
    text = re.sub(r"(?<=\d)(?=[A-Z])|(?<=[a-z])[.](?=\d)", " ", str(answer))
    text = text.replace("Janury", "January").strip()
    if _DURATION.fullmatch(text):
        text = f"{text} ago"
    return [TimeInterval(span.start, span.end) for span in find_times(text, said)]


def is_compatible(found: TimeInterval, gold: TimeInterval) -> bool:
    """They overlap, with a day of slack on either side of the gold answer."""
    slack = timedelta(days=1)
    return found.start < gold.end + slack and gold.start - slack < found.end


def has_agreeing_time(turn: Utterance, gold: Sequence[TimeInterval]) -> bool:
    """A resolved expression of the turn fits, or the session's day when it has none."""
    found = [TimeInterval(t.start, t.end) for t in find_times(turn.text, turn.at)]
    day = resolve_unit("day", turn.at)
    return any(
        is_compatible(f, g) for f in found or [TimeInterval(day.start, day.end)] for g in gold
    )


def judge_time_questions(dialogue: LocomoDialogue) -> list[bool]:
    """For each when-question with an answer that is a time: whether its evidence agrees."""
    verdicts = []
    for question in (q for q in dialogue.questions if q["category"] == TEMPORAL_CATEGORY):
        turns = [dialogue.turns[e] for e in question["evidence"] if e in dialogue.turns]
        gold = parse_gold_intervals(question["answer"], turns[0].at) if turns else []
        if gold:
            verdicts.append(any(has_agreeing_time(turn, gold) for turn in turns))
    return verdicts


def measure_dates(dialogues: Sequence[LocomoDialogue]) -> None:
    verdicts = {dialogue.name: judge_time_questions(dialogue) for dialogue in dialogues}
    verdicts["all"] = [verdict for found in list(verdicts.values()) for verdict in found]
    for name, found in verdicts.items():
        print(f"{name}: {sum(found)} of {len(found)} = {sum(found) / max(1, len(found)):.3f}")


def read_facts(
    engine: LocalEngine, dialogue: LocomoDialogue
) -> list[tuple[FactCandidate, Utterance]]:
    """The facts of a dialogue, each with the turn it was read from."""
    todo = list(build_exchanges(dialogue))
    made = [
        engine.extract_memories(todo[i : i + BATCH_SIZE]) for i in range(0, len(todo), BATCH_SIZE)
    ]
    facts = [fact for batch in made for construction in batch for fact in construction.facts]
    return [(fact, dialogue.turns[fact.sources[0].handle]) for fact in facts]


def measure_facts(dialogues: Sequence[LocomoDialogue], sample: int, seed: int) -> None:
    engine = LocalEngine()
    engine.extract_memories(list(build_exchanges(dialogues[0]))[:2])  # loads the model
    start = time.perf_counter()
    facts = [pair for dialogue in dialogues for pair in read_facts(engine, dialogue)]
    seconds = time.perf_counter() - start
    turns = sum(len(dialogue.turns) for dialogue in dialogues)
    print(f"{len(facts)} facts of {turns} turns = {len(facts) / turns:.3f} a turn")
    print(f"{turns / seconds:.0f} turns a second")
    for fact, turn in random.Random(seed).sample(facts, min(sample, len(facts))):
        event = fact.event.text if fact.event else ""
        about = filter(None, (fact.predicate_key, fact.kind, fact.polarity, event))
        print(f"- {fact.text} | {' '.join(about)}\n      {turn.speaker}: {turn.text}")


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("what", choices=["dates", "facts"])
    arguments.add_argument("path", type=Path)
    arguments.add_argument("--only", default="", help="numbers of conversations, from 1")
    arguments.add_argument("--sample", type=int, default=0)
    arguments.add_argument("--seed", type=int, default=7)
    given = arguments.parse_args()
    dialogues = read_dialogues(given.path)
    if given.only:
        dialogues = [dialogues[int(number) - 1] for number in given.only.split(",")]
    if given.what == "dates":
        measure_dates(dialogues)
    else:
        measure_facts(dialogues, given.sample, given.seed)


if __name__ == "__main__":
    main()
