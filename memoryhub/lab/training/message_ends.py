"""`lab train-messages`: how likely a message in whole ends a claim held, learned from lives.

The engine reads each message and what it may end of the claims that hold then, as a hub would; a
claim is over if it is of a message whose claim the life says is. The bar for asking a person is set
by what is said of authors who were left out: half of the questions have to be worth the minute.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import average_precision_score

from memoryhub.engines.local.comparison.messages import (
    MessageDecider,
    describe_ends,
    may_be_asked,
)
from memoryhub.engines.local.comparison.resolve import find_message_ends
from memoryhub.engines.local.wordlists import split_words
from memoryhub.engines.types import (
    ClaimCandidate,
    ClaimComparison,
    ClaimSlots,
    Embedder,
    Engine,
    Exchange,
    ExtractionOptions,
    FactCandidate,
    HeldClaim,
    ToldMessage,
    Utterance,
)
from memoryhub.errors import InvalidInput
from memoryhub.lab.training.boosting import fit_trees
from memoryhub.lab.training.changes import Life
from notes.index.indexer import strip_names

_BEGUN, _STEP = datetime(2025, 1, 6, 9, tzinfo=UTC), timedelta(days=14)
_HISTORY = 3  # utterances that one is read after
_MOST_OF_OTHERS = 5  # claims of other owners that stand beside a new one
_LEAST_WORTH = 0.5  # of what a person is asked, the share in which something is over
_LEAST_SHARED = 0.6  # of an ended claim's words in a claim read of its message, which is over then
_LEAST_LIKE, _PARTS = 0.15, 8
_WORD = re.compile(r"[a-z0-9]+|[\u4e00-\u9fff]")
_PLAIN = split_words("the a an of in at to for and is are was has with his her their on it s")


@dataclass(slots=True)
class _Ends:
    """What messages may end, a row each: numbers, whether it is over, whose life and message it is
    of, and whether a person could be asked about it."""

    rows: list[Mapping[str, float]] = field(default_factory=list)
    over: list[bool] = field(default_factory=list)
    authors: list[str] = field(default_factory=list)
    lives: list[str] = field(default_factory=list)
    messages: list[int] = field(default_factory=list)
    free: list[bool] = field(default_factory=list)


@dataclass(slots=True)
class _Held:
    claim: HeldClaim
    message: int


def train_message_decider(
    lives: Mapping[str, Sequence[Life]], engine: Engine, embedder: Embedder
) -> MessageDecider:
    """Of lives by author, in one language. Raises InvalidInput where nothing ends in them."""
    ends = _Ends()
    for author, told in lives.items():
        for number, life in enumerate(told):
            _read_life(ends, life, f"{author} {number}", author, engine, embedder)
    over = np.array(ends.over, dtype=bool)
    if not 1 < over.sum() < len(over):
        raise InvalidInput("nothing there ends anything", field="path")
    features = tuple(ends.rows[0])
    rows = np.array([[row[name] for name in features] for row in ends.rows])
    parts = ends.authors if len(lives) > 1 else ends.lives
    unseen = _judge_unseen(rows, over, np.array(parts))
    questions = _list_questions(ends, unseen)
    ask = _find_ask_bar(unseen[questions], over[questions])
    asked = questions[unseen[questions] >= ask]
    scores = {
        "pairs": float(len(over)),
        "over": float(over.sum()),
        "average_precision": round(float(average_precision_score(over, unseen)), 3),
        "asked": float(len(asked)),
        "asked_worth": round(float(over[asked].mean()) if len(asked) else 0.0, 3),
    }
    return MessageDecider(features=features, ends=fit_trees(rows, over), ask=ask, scores=scores)


def _read_life(
    ends: _Ends, life: Life, name: str, author: str, engine: Engine, embedder: Embedder
) -> None:
    read = _read_messages(life, engine)
    texts = list(dict.fromkeys(strip_names(f.text, (f.owner,)) for facts in read for f in facts))
    vectors = dict(zip(texts, embedder.embed(texts), strict=True)) if texts else {}
    held: list[_Held] = []
    for at, (told, facts) in enumerate(zip(life.told, read, strict=True)):
        over = _find_over(life, held, told.ends)
        candidates = [_build_candidate(life, at, n, f, held, vectors) for n, f in enumerate(facts)]
        shown = [each.claim for each in held]
        compared = ClaimComparison(candidates, shown, life.name, (), embedder.name)
        for found in find_message_ends(compared) if candidates and held else ():
            for end, traits in zip(found.likely, describe_ends(found), strict=True):
                if (is_over := over.get(end.handle)) is not None:
                    ends.rows.append(traits)
                    ends.over.append(is_over)
                    ends.authors.append(author)
                    ends.lives.append(name)
                    ends.messages.append(at)
                    ends.free.append(found.is_open and may_be_asked(traits))
        held = [each for each in held if not over.get(each.claim.handle)]
        held += [_hold_fact(life, at, n, fact) for n, fact in enumerate(facts)]


def _read_messages(life: Life, engine: Engine) -> list[list[FactCandidate]]:
    said, asked = list[Utterance](), list[Exchange]()
    for at, told in enumerate(life.told):
        when = _BEGUN + at * _STEP
        if told.asked:
            question = Utterance(f"q{at}", "assistant", "assistant", told.asked, when)
            said.append(question)
        own = Utterance(f"t{at}", life.name, "user", told.said, when)
        asked.append(
            Exchange(
                [own],
                history=said[-_HISTORY:],
                participants=[life.name],
                subject=life.name,
            )
        )
        said.append(own)
    read = engine.extract_memories(asked, ExtractionOptions(facts=True))
    return [[fact for fact in each.facts if fact.sources] for each in read]


def _build_candidate(
    life: Life,
    at: int,
    number: int,
    fact: FactCandidate,
    held: Sequence[_Held],
    vectors: Mapping[str, NDArray[np.float32]],
) -> ClaimCandidate:
    new = vectors[strip_names(fact.text, (fact.owner,))]
    near = [
        (float(new @ vectors[strip_names(old.claim.text, (old.claim.owner,))]), old.claim)
        for old in held
    ]
    near.sort(key=lambda each: -each[0])
    own = [each for each in near if each[1].owner in (fact.owner, life.name)]
    offered = own + [each for each in near if each not in own][:_MOST_OF_OTHERS]
    told = life.told[at]
    return ClaimCandidate(
        handle=f"c{number}",
        text=fact.text,
        owner=fact.owner,
        speaker=life.name,
        said_at=_BEGUN + at * _STEP,
        offered=tuple(claim.handle for _, claim in offered),
        polarity=fact.polarity,
        slots=_read_slots(fact),
        correction=fact.correction,
        similar=tuple(cosine for cosine, _ in offered),
        said=told.said,
        assisted=True,
        message=ToldMessage(told.said, told.asked),
    )


def _hold_fact(life: Life, at: int, number: int, fact: FactCandidate) -> _Held:
    when = _BEGUN + at * _STEP
    claim = HeldClaim(
        handle=f"m{at}.{number}",
        text=fact.text,
        owner=fact.owner,
        predicate_key=fact.predicate_key,
        valid_from=when,
        polarity=fact.polarity,
        slots=_read_slots(fact),
        said_at=when,
    )
    return _Held(claim, at)


def _read_slots(fact: FactCandidate) -> ClaimSlots:
    return ClaimSlots(
        fact.predicate_key,
        fact.cardinality == "single",
        fact.verb,
        fact.object or fact.complement,
        fact.kind,
    )


def _find_over(life: Life, held: Sequence[_Held], ends: frozenset[int]) -> dict[str, bool | None]:
    """By handle, whether a claim held is over once `ends` are; None where nobody can tell, since
    its message made several claims and it is like none of them."""
    begins = np.cumsum([0, *(len(told.claims) for told in life.told)])
    found: dict[str, bool | None] = {}
    for each in held:
        claims = life.told[each.message].claims
        gone = [n - begins[each.message] for n in ends]
        gone = [n for n in gone if 0 <= n < len(claims)]
        words = _list_words(each.claim.text)
        like = [len(words & _list_words(c)) / max(1, len(words | _list_words(c))) for c in claims]
        shared = [
            len(words & own) / max(1, len(own)) for own in (_list_words(claims[n]) for n in gone)
        ]
        if not gone:
            found[each.claim.handle] = False
        elif len(claims) == 1 or max(shared) >= _LEAST_SHARED or int(np.argmax(like)) in gone:
            found[each.claim.handle] = True
        else:
            found[each.claim.handle] = False if max(like) >= _LEAST_LIKE else None
    return found


def _list_words(text: str) -> set[str]:
    return set(_WORD.findall(text.lower())) - _PLAIN


def _judge_unseen(
    rows: NDArray[np.float64], over: NDArray[np.bool_], parts: NDArray[np.str_]
) -> NDArray[np.float64]:
    """What is said of each row by what learned without its author."""
    unseen = np.zeros(len(over))
    names = sorted(set(parts))
    for own in (names[at::_PARTS] for at in range(min(_PARTS, len(names)))):
        left_out = np.isin(parts, own)
        unseen[left_out] = fit_trees(rows[~left_out], over[~left_out]).estimate_shares(
            rows[left_out]
        )
    return unseen


def _list_questions(ends: _Ends, unseen: NDArray[np.float64]) -> NDArray[np.intp]:
    """The likeliest row of each message about which a person may be asked."""
    best: dict[tuple[str, int], int] = {}
    for at, key in enumerate(zip(ends.lives, ends.messages, strict=True)):
        if ends.free[at] and (key not in best or unseen[at] > unseen[best[key]]):
            best[key] = at
    return np.array(sorted(best.values()), dtype=np.intp)


def _find_ask_bar(shares: NDArray[np.float64], over: NDArray[np.bool_]) -> float:
    """The lowest bar at which enough of the questions are worth it."""
    for bar in np.arange(0.1, 0.9, 0.01):
        asked = shares >= bar
        if asked.any() and over[asked].mean() >= _LEAST_WORTH:
            return round(float(bar), 2)
    return 1.0
