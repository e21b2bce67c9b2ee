"""Measures the local engine on LoCoMo-format data.

python benchmarks/local_engine.py dates PATH     when-questions answered by resolved dates
python benchmarks/local_engine.py facts PATH     facts a turn, turns a second, a sample to read
"""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

from dateutil import parser as dateparser

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from memoryhub.engines.local import LocalEngine
from memoryhub.engines.local.calendar import unit_of
from memoryhub.engines.local.dates import find_times
from memoryhub.engines.types import Exchange, TimeSpan, Utterance

WHEN = 2  # LoCoMo's category of temporal questions
EXCHANGES_A_BATCH = 32


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


# Dates


def expected(answer: str, said: datetime) -> list[Interval]:
    """The intervals a gold answer names; several where it lists dates, none for other answers."""
    text = re.sub(r"\b(early|late|mid|around|about|few days before)\b", "", str(answer), flags=re.I)
    text = re.sub(r"(?<=\d)(?=[A-Z])|(?<=[a-z])[.](?=\d)", " ", text).replace("Janury", "January")
    duration = re.fullmatch(
        r"(\d+|a|one|two|three|four|five|six|seven) (day|week|month|year)s?", text.strip()
    )
    if duration:
        text = f"{text.strip()} ago"
    return [Interval(span.start, span.end) for span in find_times(text, said)]


def compatible(found: Interval, gold: Interval) -> bool:
    """They overlap, once the coarser is given a day on either side."""
    slack = timedelta(days=1)
    return found.start < gold.end + slack and gold.start - slack < found.end


def agrees(turn: Utterance, gold: list[Interval]) -> bool:
    """A resolved expression of the turn fits, or the session's day when it has none."""
    found = [Interval(t.start, t.end) for t in find_times(turn.text, turn.at)]
    day = unit_of("day", turn.at)
    return any(compatible(f, g) for f in found or [Interval(day.start, day.end)] for g in gold)


def measure_dates(dialogues: list[Dialogue], verbose: bool) -> None:
    for dialogue in dialogues:
        right, total = 0, 0
        for question in (q for q in dialogue.questions if q["category"] == WHEN):
            turns = [dialogue.turns[e] for e in question["evidence"] if e in dialogue.turns]
            gold = expected(question["answer"], turns[0].at) if turns else []
            if not gold:
                if verbose:
                    print("UNRESOLVED", question["answer"])
                continue
            total += 1
            ok = any(agrees(turn, gold) for turn in turns)
            right += ok
            if verbose and not ok:
                print(
                    "MISS",
                    question["question"],
                    "=>",
                    question["answer"],
                    [
                        (str(t.at)[:10], t.text, [x.text for x in find_times(t.text, t.at)])
                        for t in turns
                    ],
                )
        print(f"{dialogue.name}: {right} of {total} = {right / max(1, total):.3f}")


def main() -> None:
    p = argparse.ArgumentParser()
    p.add_argument("what", choices=["dates", "facts"])
    p.add_argument("path", type=Path)
    p.add_argument("--verbose", action="store_true")
    p.add_argument("--sample", type=int, default=40)
    p.add_argument("--only", default="")
    p.add_argument("--seed", type=int, default=7)
    a = p.parse_args()
    ds = load(a.path)
    if a.only:
        ds = [ds[int(i) - 1] for i in a.only.split(",")]
    if a.what == "dates":
        measure_dates(ds, a.verbose)
    else:
        engine = LocalEngine()
        engine.construct([])
        facts = []
        n = 0
        t = 0.0
        for d in ds:
            ex = list(exchanges(d))
            s = time.perf_counter()
            cs = [
                c
                for i in range(0, len(ex), EXCHANGES_A_BATCH)
                for c in engine.construct(ex[i : i + EXCHANGES_A_BATCH])
            ]
            t += time.perf_counter() - s
            n += len(d.turns)
            facts += [(f, d.turns[f.sources[0].handle]) for c in cs for f in c.facts]
        print(len(facts), n, len(facts) / n, n / t, "turns/s")
        for f, u in random.Random(a.seed).sample(facts, min(a.sample, len(facts))):
            print(
                "-",
                f.text,
                "|",
                f.predicate_key,
                f.kind,
                f.polarity,
                f.event.text if f.event else "",
            )
            if a.verbose:
                print("       ", u.speaker, ":", u.text)


if __name__ == "__main__":
    main()
