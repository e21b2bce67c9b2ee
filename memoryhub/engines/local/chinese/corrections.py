"""Slips put right in Chinese: what was said before, told again with the right value in it.

"打错了，67" names neither what was wrong nor what it is about: the number told last that looks like
it is the slip. "不是7400，是7900" names it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice

import rjieba

from memoryhub.engines.local.chinese.clauses import (
    ChineseClause,
    TaggedWord,
    split_clauses,
    split_sentences,
)
from memoryhub.engines.local.chinese.rules import SLIP_WORDS

_SLIP = re.compile(rf"{SLIP_WORDS}|不对|哦不|应该是|更正")
_MAY_CORRECT = re.compile(rf"{_SLIP.pattern}|不是")
_FARTHEST, _MOST_SENTENCES = 2_000, 10  # characters back, and sentences of an utterance
_BEFORE_WHO = re.compile(rf"^.*(?:{SLIP_WORDS}|[，,。！!\s])了?|[我你他她它这那]|说的|其实|应该")
_NUMERAL = r"[一二两三四五六七八九十百千万半]{2,8}"
_VALUE = rf"(?:\d[\d.:-]{{0,20}}|{_NUMERAL})"
_VALUE_IN = re.compile(r"\d|[一二两三四五六七八九十百千万]")
# "The rent I told wrong, 4600."
_TOPIC = re.compile(r"\W*(?P<thing>[^，,我\d]{2,8})(?:我|俺)(?:刚才?|刚刚|之前|上次|上回|前面)?")
_CONTRASTS = (
    re.compile(
        rf"不是(?P<old>[^，,。！!?？是\s]{{1,10}})(?:[，,\s]|而|(?:{SLIP_WORDS})了?)*(?:应该)?是(?P<new>[^，,。！!?？啊]{{1,10}})"
    ),
    re.compile(
        r"是(?P<new>[^，,。！!?？是]{1,10})[，,\s]*(?:而)?不是(?P<old>[^，,。！!?？啊]{1,10})"
    ),
)
_NEW_VALUE = re.compile(
    rf"(?:应该是|其实是|是|改成)?(?P<new>{_VALUE})(?P<unit>\w{{0,2}}?)(?:才对)?"
)
# "不对 是秦PLUS", "说错了 周四": a word alone, after what can only put something right.
_FIRM_SLIP = re.compile(rf"(?:{SLIP_WORDS})了?|哦?不对|哦不|更正")
_NEW_WORD = re.compile(r"(?:应该是|其实是|是|改成)?(?P<new>[^\W_]{2,10}?)(?:才对)?")
_VALUE_TAGS = ("n", "t", "eng", "m")
_TELLING_TAGS = ("ns", "t")  # a town stands for a town, and a day for a day
_NEAREST_TEXTS = 3  # what was just said, and the message before


@dataclass(frozen=True, slots=True)
class CorrectedStatement:
    """`text`: what was said, put right; characters [start, end) of the utterance put it right."""

    text: str
    start: int
    end: int


def apply_corrections(said: str, before: Iterable[str]) -> list[CorrectedStatement]:
    """What an utterance puts right; `before` are its speaker's earlier ones, latest first."""
    found = list[CorrectedStatement]()
    earlier = [text[-_FARTHEST:] for text in before]
    correcting = (told for told in split_sentences(said) if _MAY_CORRECT.search(told[1]))
    for offset, sentence in islice(correcting, _MOST_SENTENCES):
        texts = [said[max(0, offset - _FARTHEST) : offset], *earlier]
        contrast = next((m for shape in _CONTRASTS if (m := shape.search(sentence))), None)
        if contrast:
            old, new = contrast["old"].strip(), contrast["new"].strip()
            # "Xiaobai is no dog, it is a cat" puts nothing right that was told of another.
            who = _BEFORE_WHO.sub("", sentence[: contrast.start()])[-2:]
            text = _replace_old(old, new, [t for t in texts if who in t or _VALUE_IN.search(old)])
            at, end = contrast.span()
        else:
            at, end, text = _put_value_right(sentence, texts)
        if text:
            found.append(CorrectedStatement(text, offset + at, offset + end))
    return found


def _put_value_right(sentence: str, texts: list[str]) -> tuple[int, int, str]:
    slip = _SLIP.search(sentence)
    if slip is None:
        return 0, 0, ""
    heard = sentence[: slip.start()]
    after = [c for c in split_clauses(sentence, 0) if c.end > slip.start()]
    for clause in after[:3]:
        value = _NEW_VALUE.fullmatch(_SLIP.sub("", clause.text).strip())
        if value:
            topic = _TOPIC.fullmatch(heard)
            text = f"{topic['thing']}是{value['new']}{value['unit']}" if topic else ""
            text = text or _replace_like(value["new"], value["unit"], [heard, *texts])
            return slip.start(), clause.end, text
        word = _NEW_WORD.fullmatch(_FIRM_SLIP.sub("", clause.text).strip())
        if word and _FIRM_SLIP.search(sentence):
            text = _replace_kin_word(word["new"], [heard, *texts][:_NEAREST_TEXTS])
            return (slip.start(), clause.end, text) if text else (0, 0, "")
    return 0, 0, ""


def _replace_old(old: str, new: str, texts: Iterable[str]) -> str:
    for text in texts:
        for _, sentence in reversed(list(split_sentences(text))):
            if old not in sentence:  # before its words are told apart, which takes long
                continue
            clauses = list(split_clauses(sentence, 0))
            for place, clause in enumerate(clauses):
                if old in clause.text:
                    return _join_clauses(clauses, place, clause.text.replace(old, new, 1))
    return ""


def _replace_like(new: str, unit: str, texts: Iterable[str]) -> str:
    """The clause with the last number of the same form, with the new one in its place."""
    form = re.sub(r"\d", r"\\d", re.escape(new)) if new[0].isdigit() else _NUMERAL
    like, pattern = re.compile(form), re.compile(rf"(?<![\d.]){form}(?![\d.]){re.escape(unit)}")
    for text in texts:
        for _, sentence in reversed(list(split_sentences(text))):
            if not like.search(sentence):
                continue
            clauses = list(split_clauses(sentence, 0))
            for place in range(len(clauses) - 1, -1, -1):
                match = pattern.search(clauses[place].text)
                if match and match[0] != new + unit:
                    told = clauses[place].text
                    put = told[: match.start()] + new + unit + told[match.end() :]
                    return _join_clauses(clauses, place, put)
    return ""


def _replace_kin_word(new: str, texts: Iterable[str]) -> str:
    """The nearest clause with a word of the kind of `new`, with `new` in its place: a town where
    another stands, a day where another does. Of things it takes one that shares a character."""
    tagged = rjieba.tag(new, False)
    kind = tagged[0][1][:2]
    if any(not tag.startswith(_VALUE_TAGS) for _, tag in tagged):
        return ""
    for text in texts:
        for _, sentence in reversed(list(split_sentences(text))):
            clauses = list(split_clauses(sentence, 0))
            for place in range(len(clauses) - 1, -1, -1):
                told = clauses[place].text
                at = _find_kin_word(told, clauses[place].words, new, kind)
                if at is not None and told[at[0] : at[1]] != new:
                    put = told[: at[0]] + new + told[at[1] :]
                    return _join_clauses(clauses, place, put)
    return ""


def _find_kin_word(
    told: str, words: Iterable[TaggedWord], new: str, kind: str
) -> tuple[int, int] | None:
    """Characters [start, end) of the last such word."""
    found, at = None, 0
    for word, tag in words:
        if kind == "m":  # "五天" and "六天"
            alike = tag in ("m", "t") and word[-1] == new[-1]
        elif kind in _TELLING_TAGS:
            alike = tag[:2] == kind
        else:
            alike = tag.startswith("n") and bool({*word} & {*new})
        if alike:
            found = (at, at + len(word))
        at += len(word)
    return found if at == len(told) else None


def _join_clauses(clauses: list[ChineseClause], place: int, text: str) -> str:
    """With the clause before it where the clause alone has no verb."""
    bare = place > 0 and not clauses[place].list_verbs()
    return f"{clauses[place - 1].text}，{text}" if bare else text
