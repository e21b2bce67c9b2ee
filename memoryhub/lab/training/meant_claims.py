"""`lab train-wishes`, what a wish means: which claims of a scene tell what is to be forgotten.

The engine reads what is told in a scene; a claim is meant if it rests on a clause that the wish
means. What speaks for it is computed as it will be (`engines.local.comparison.forget`); the bar is
set where 82 of 100 wishes that are granted lose what they mean and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold
from sklearn.preprocessing import StandardScaler

from memoryhub.engines.local.comparison.forget import (
    MeantBars,
    describe_meant_claims,
    take_meant,
)
from memoryhub.engines.local.grammar.speech import extract_wish, extract_wish_words
from memoryhub.engines.local.language import can_embed_language
from memoryhub.engines.types import (
    Embedder,
    Engine,
    Exchange,
    ExtractionOptions,
    FactCandidate,
    HeldClaim,
    Utterance,
)
from memoryhub.lab.training.reader import ReadQuestion, split_sentences
from memoryhub.lab.training.wishes import MeantClause, SaidMessage, SceneWish, WishScene

ROUNDS, FURTHER_ROUNDS, PACE = 2, 1, 1.5e-4
TEXTS, FROZEN_LAYERS = 6, 2  # which takes half the time
_SPEAKER = "user-1"
_BEGUN, _STEP = datetime(2025, 3, 1, 9, tzinfo=UTC), timedelta(hours=31)
_HISTORY = 3  # messages that one is read after
# From this share of the shorter one on, what a claim rests on and a clause are the same.
_MEANT, _TOUCHED = 0.5, 0.1
_STRENGTH, _PARTS = 0.3, 5
# Of the wishes that are granted unasked, the share that takes what is meant and nothing else; from
# which chance on another claim goes along, and up to which none is likely beside the likeliest.
_RIGHTLY_GRANTED, _MORE, _BESIDE, _ASKED = 0.82, 0.8, 0.15, 0.1
_WITH_OTHER_WORDS = 0.25  # how often a wish is read with something else that was said


class ToldText(NamedTuple):
    """A claim or a sentence, and the stretches of messages that it rests on."""

    text: str
    sources: Sequence[MeantClause]
    claim: HeldClaim | None = None

    def covers(self, wish: SceneWish, share: float) -> bool:
        """Whether it is that share, at least, of a clause that is meant, or that of it."""
        return any(
            _measure_overlap(mine, meant) >= share for mine in self.sources for meant in wish.means
        )


def _measure_overlap(one: MeantClause, other: MeantClause) -> float:
    if one.message != other.message:
        return 0.0
    (start, end), (first, last) = one.span, other.span
    return max(0, min(end, last) - max(start, first)) / max(1, min(end - start, last - first))


def read_claims(scenes: Sequence[WishScene], engine: Engine) -> list[list[ToldText]]:
    """By scene, the claims that the engine reads of what is told."""
    found = []
    for scene in scenes:
        said = [
            Utterance(str(at), _SPEAKER, "user", text, _BEGUN + at * _STEP)
            for at, text in enumerate(scene.told)
        ]
        asked = [
            Exchange(
                [each],
                history=said[max(0, at - _HISTORY) : at],
                participants=[_SPEAKER],
                subject=_SPEAKER,
            )
            for at, each in enumerate(said)
        ]
        read = engine.extract_memories(asked, ExtractionOptions(facts=True))
        facts = [fact for each in read for fact in each.facts if fact.sources]
        found.append([_hold_claim(fact, f"m{n}") for n, fact in enumerate(facts)])
    return found


def _hold_claim(fact: FactCandidate, handle: str) -> ToldText:
    text = fact.text.replace(_SPEAKER, "the user")
    sources = [MeantClause(int(s.handle), (s.start, s.end)) for s in fact.sources]
    told_at = _BEGUN + sources[0].message * _STEP
    claim = HeldClaim(handle, text, fact.owner, fact.predicate_key, told_at)
    return ToldText(text, sources, claim)


def read_wishes(
    scenes: Sequence[WishScene], claims: Sequence[Sequence[ToldText]], others: Sequence[SaidMessage]
) -> Iterator[ReadQuestion]:
    """What the reader learns from: wishes beside the claims and sentences of their scene, some of
    them with something else that was said; and every other of the `others` that is no wish, which
    means none of some scene's."""
    chance = np.random.default_rng(0)
    for scene, held in zip(scenes, claims, strict=True):
        told = [*_list_sentences(scene), *held]
        short = [text for text in scene.told if len(text) < _MOST_BESIDE[scene.language]]
        for wish in scene.wishes:
            right = [each.text for each in told if each.covers(wish, _MEANT)]
            wrong = [each.text for each in told if not each.covers(wish, _TOUCHED)]
            wrong = [text for text in wrong if text not in right]
            say = wish.say
            if short and chance.random() < _WITH_OTHER_WORDS:
                say = f"{chance.choice(short)} {say}"
            if right or not wish.means:
                yield ReadQuestion(say, list(dict.fromkeys(right)), list(dict.fromkeys(wrong)))
    for message in [each for each in others if not each.is_wish][::2]:
        at = int(chance.integers(len(scenes)))
        texts = [each.text for each in (*_list_sentences(scenes[at]), *claims[at])]
        yield ReadQuestion(message.text, [], list(dict.fromkeys(texts)))


_MOST_BESIDE = {"en": 90, "zh": 30}  # characters


def _list_sentences(scene: WishScene) -> Iterator[ToldText]:
    for at, text in enumerate(scene.told):
        end = 0
        for sentence in split_sentences(text):
            start = text.index(sentence, end)
            end = start + len(sentence)
            yield ToldText(sentence, [MeantClause(at, (start, end))])


def train_forget_decider(
    scenes: Sequence[WishScene], claims: Sequence[Sequence[ToldText]], embedder: Embedder
) -> dict[str, Any]:
    """A decider as `forget_decider.json` holds it, of scenes in one language, with its scores on
    authors left out (on scenes, if there is but one): `granted`, of the wishes with a claim that is
    meant; `rightly`, of those granted, of which some mean nothing that was told."""
    rows: list[dict[str, float]] = []
    meant: list[bool] = []
    touched: list[bool] = []
    wish_of: list[int] = []
    part_of: list[str] = []
    authors = {scene.author for scene in scenes}
    told = list[bool]()
    cosines = [0.0]
    reads = can_embed_language(embedder.name, "zh" if scenes[0].language == "zh" else "en")
    for number, (scene, held) in enumerate(zip(scenes, claims, strict=True)):
        known = [each.claim for each in held if each.claim]
        if not known:
            continue
        for wish in scene.wishes:
            words = extract_wish_words(wish.say) or wish.say
            vectors = embedder.embed([words, *(claim.text for claim in known)])
            # As where it is decided: vectors of a language that they do not read say nothing.
            near = [float(vectors[0] @ each) if reads else 0.0 for each in vectors[1:]]
            said = extract_wish(wish.say)
            rows += describe_meant_claims(said, words, known, near, ("the user",), 0.0)
            own = [each.covers(wish, _MEANT) for each in held]
            meant += own
            touched += [each.covers(wish, _TOUCHED) for each in held]
            wish_of += [len(told)] * len(held)
            part_of += [scene.author if len(authors) > 1 else str(number)] * len(held)
            told.append(any(own))
            cosines += near
    names = [name for name in rows[0] if reads or not name.startswith("cosine")]
    values = np.array([[row[name] for name in names] for row in rows])
    marks, spared, wishes = np.array(meant), ~np.array(touched), np.array(wish_of)
    chances = np.zeros(len(marks))
    parts = GroupKFold(min(_PARTS, len(set(part_of))))
    for known_rows, left_out in parts.split(values, marks, np.array(part_of)):
        weights, bias = _fit(values[known_rows], marks[known_rows])
        chances[left_out] = 1 / (1 + np.exp(-(values[left_out] @ weights + bias)))
    bars, granted, rightly = _set_bars(chances, marks, spared, wishes)
    weights, bias = _fit(values, marks)
    return {
        "wishes": len(told),
        "granted": round(granted / max(1, sum(told)), 3),
        "rightly": round(rightly, 3),
        **bars._asdict(),
        "ask": _ASKED,
        "cosine": round(float(np.mean(cosines)), 3),
        "bias": round(float(bias), 3),
        "traits": {
            name: round(float(weight), 3) for name, weight in zip(names, weights, strict=True)
        },
    }


def _fit(
    values: NDArray[np.float64], marks: NDArray[np.bool_]
) -> tuple[NDArray[np.float64], np.float64]:
    """Weights of the traits as they are, and the bias."""
    scaler = StandardScaler().fit(values)
    fitted = LogisticRegression(C=_STRENGTH, max_iter=2000).fit(scaler.transform(values), marks)
    weights = fitted.coef_[0] / scaler.scale_
    return weights, fitted.intercept_[0] - float(weights @ scaler.mean_)


def _set_bars(
    chances: NDArray[np.float64],
    meant: NDArray[np.bool_],
    spared: NDArray[np.bool_],
    wishes: NDArray[np.int64],
) -> tuple[MeantBars, int, float]:
    """Those at which the most wishes are granted, while enough of them take what is meant and
    nothing that is not; how many are granted then, and which share of them rightly."""
    found = (MeantBars(1.0, 1.0, _BESIDE, _MORE), 0, 1.0)
    rows_of = [np.flatnonzero(wishes == wish) for wish in np.unique(wishes)]
    tried = [float(bar) for bar in np.arange(0.95, 0.39, -0.02).round(2)]
    for bars in (MeantBars(b, a, _BESIDE, _MORE) for b in tried for a in tried if a <= b):
        taken = [rows[take_meant(list(chances[rows]), bars)] for rows in rows_of]
        granted = [rows for rows in taken if len(rows)]
        right = sum(bool(meant[rows].any() and not spared[rows].any()) for rows in granted)
        if right > found[1] and right / len(granted) >= _RIGHTLY_GRANTED:
            found = (bars, right, right / len(granted))
    return found
