"""`lab train-changes`: MiniLM learns to read what is told beside a claim held, and to say how sure
it is that the claim holds no longer.

From lives (`benchmarks/changes`, docs/reference/truth.md): what one person tells over a year, with
the claims that each message makes and those that it ends. As a question has texts that answer it, a
message has claims that it ends; most end none.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from memoryhub.engines.local.comparison.reading import write_message
from memoryhub.engines.types import ToldMessage
from memoryhub.lab.training.claim_pairs import PairGroup
from memoryhub.lab.training.reader import ReadQuestion

ROUNDS, PACE = 1, 1.5e-4
# Where what was learned before is gone on with: at a slower pace, and with so much of that again.
FURTHER_PACE, _OF_EARLIER = 1e-4, 0.3
# Longer messages are left out: of what is told so much is read, and no more.
_MOST_CHARACTERS = 260
_USER = {"en": "The user", "zh": "用户"}
# Of what ends nothing, this share is learned from: of lives, and of dialogues with readings, which
# have more of it.
_QUIET_OF_LIVES, _QUIET_OF_DIALOGUES = 0.6, 0.12


class LifeMessage(NamedTuple):
    """`ends`: which claims of the life, by their number in it, hold no longer. `asked`: what the
    assistant asked just before."""

    asked: str
    said: str
    claims: Sequence[str]
    ends: frozenset[int]


class Life(NamedTuple):
    name: str
    language: str
    told: Sequence[LifeMessage]


def load_lives(folder: Path, without: Sequence[str] = (), only: Sequence[str] = ()) -> list[Life]:
    """Of all authors below `folder` but those named, or of those alone: folders such as `zh-1`."""
    return [
        _parse_life(json.loads(line))
        for file in sorted(folder.rglob("*.jsonl"))
        if file.parent.name not in without and (not only or file.parent.name in only)
        for line in file.read_text(encoding="utf-8").splitlines()
    ]


def _parse_life(life: Mapping[str, object]) -> Life:
    told = life["told"]
    assert isinstance(told, list)
    return Life(
        str(life["name"]),
        str(life["language"]),
        [
            LifeMessage(each["asked"], each["said"], each["claims"], frozenset(each["ends"]))
            for each in told
        ],
    )


def choose_questions(lives: Sequence[Life], groups: Sequence[PairGroup]) -> list[ReadQuestion]:
    """What is learned from. The same is chosen of the same."""
    chance = np.random.default_rng(0)
    shares = ((read_lives(lives), _QUIET_OF_LIVES), (read_pair_groups(groups), _QUIET_OF_DIALOGUES))
    return [
        each for asked, share in shares for each in asked if each.right or chance.random() < share
    ]


def choose_further_questions(new: Sequence[Life], known: Sequence[Life]) -> list[ReadQuestion]:
    """What is learned from where the `known` lives were learned from before."""
    chance = np.random.default_rng(1)
    told, earlier = (
        [q for q in read_lives(lives) if q.right or chance.random() < _QUIET_OF_LIVES]
        for lives in (new, known)
    )
    return told + [each for each in earlier if chance.random() < _OF_EARLIER]


def read_lives(lives: Sequence[Life]) -> Iterator[ReadQuestion]:
    """Each message, and each claim of one that says a single thing, beside the claims that are open
    then."""
    for number, life in enumerate(lives):
        held, first = dict[int, str](), 0
        for told in life.told:
            right = [held[claim] for claim in sorted(told.ends)]
            wrong = [text for claim, text in held.items() if claim not in told.ends]
            claims = [_call_user(each, life) if number % 2 else each for each in told.claims]
            said = write_message(ToldMessage(told.said, told.asked), life.name)
            if wrong and len(said) <= _MOST_CHARACTERS:
                yield ReadQuestion(said, right, wrong)
            if wrong and (len(claims) == 1 or not right):
                yield from (ReadQuestion(claim, right, wrong) for claim in claims)
            held = {claim: text for claim, text in held.items() if claim not in told.ends}
            for place, text in enumerate(claims, first):
                # Much is held in the very words in which it was told.
                whole = len(claims) == 1 and place % 4 == 1 and len(said) <= _MOST_CHARACTERS
                held[place] = said if whole else text
            first += len(claims)


def _call_user(claim: str, life: Life) -> str:
    return claim.replace(life.name, _USER[life.language])


def read_pair_groups(groups: Sequence[PairGroup]) -> Iterator[ReadQuestion]:
    """New claims of dialogues with readings beside those held."""
    for group in groups:
        right = [
            old.text
            for old, label in zip(group.held, group.labels, strict=True)
            if label == "closes"
        ]
        wrong = [
            old.text
            for old, label in zip(group.held, group.labels, strict=True)
            if label != "closes" and old.text not in right
        ]
        if wrong:
            for text in dict.fromkeys((group.new.text, group.new.said)):
                if text == group.new.text or right:
                    yield ReadQuestion(text[:_MOST_CHARACTERS], right, wrong)
