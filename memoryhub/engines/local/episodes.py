"""Spans of dialogue, extractive: the most telling of what was said, in the words it was said in.

Claims that were read from a passage before are chosen from first: on dialogue they are worth
more than any ranking of its sentences. Nothing here understands; nothing is made up either.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import timedelta

from memoryhub.engines.local.chinese_rules import GREETING, is_chitchat
from memoryhub.engines.local.chinese_rules import is_question as asks_in_chinese
from memoryhub.engines.local.language import language_of
from memoryhub.engines.local.speech import is_question
from memoryhub.engines.local.summaries import chosen, summarise, tokens_of
from memoryhub.engines.local.topics import opens_topic
from memoryhub.engines.local.wordlists import words
from memoryhub.engines.types import (
    DigestKind,
    DigestText,
    EpisodeText,
    Gate,
    Passage,
    Utterance,
)

_GAP = timedelta(minutes=30)
_SENTENCE = re.compile(r"[^.!?。！？\n]+(?:[.!?](?=\s|$)|[。！？\n]|$|\.(?=\d))+")
_LINE = re.compile(r"^(?P<speaker>[^:\n]{1,120}): (?P<text>.+)$", re.S)
_REQUEST = re.compile(
    r"\bsum (?:this|that|it) (?:all )?up\b|\bsummari[sz]e (?:this|that|our|the|what)\b"
    r"|\blet's recap\b|总结一下|小结一下|概括一下",
    re.I,
)
_CJK = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\u3040-\u30ff"
_WORD = re.compile(rf"[{_CJK}]|[^\s{_CJK}]+")
_LIKING = re.compile(
    r"\b(?:(?:really |also |just |absolutely )?(?:love|like|enjoy|prefer|hate|dislike)s?"
    r"|can't stand|always|usually|often|never|afraid of|interested in|passionate about)\b"
    r"|喜欢|热爱|最爱|讨厌|总是|经常|习惯|害怕|感兴趣",
    re.I,
)
_GOOD = words(
    "happy glad great wonderful excited love loved proud thrilled fun enjoyed amazing grateful"
)
_BAD = words(
    "sad sorry worried tired stressed angry upset afraid lonely awful terrible sick anxious lost"
)
_GOOD_ZH, _BAD_ZH = (
    re.compile("开心|高兴|太棒|激动|骄傲|感激"),
    re.compile("难过|担心|焦虑|累|生气|害怕|孤独|糟糕|失望"),
)
_EPISODE, _POINTS, _DAYS = 4, 5, 12  # sentences of each
_MOST = 300  # sentences chosen from


class Episodic:
    def episode_gate(self, window: Sequence[Passage], newest: Passage) -> Gate:
        """A silence, a greeting or a turning phrase; or somebody asks for a summary."""
        said = _without_speaker(newest.text)
        if _REQUEST.search(said):
            return Gate(True, "request")
        silent = bool(window) and newest.at - window[-1].at > _GAP
        shifted = bool(window) and (silent or opens_topic(said) or bool(GREETING.match(said)))
        return Gate(shifted, "shift" if shifted else "none")

    def episode_write(self, span: Sequence[Passage]) -> EpisodeText:
        told = _told(span)
        text = summarise(told, _EPISODE) or _beginning(span)
        return EpisodeText(_title(span, text), text)

    def fold_summary(
        self, previous: str, said: Sequence[Utterance], *, max_words: int = 100
    ) -> str:
        """The newest telling lines, and of the older ones as many as there is room for."""
        new = _sentences("\n".join(f"{u.speaker}: {u.text}" for u in said))
        lines = [*previous.split("\n"), *chosen(new, _POINTS)]
        return "\n".join(_last_that_fit([line for line in lines if line], max_words))

    def digest(self, kind: DigestKind, parts: Sequence[Passage]) -> DigestText:
        """The persona kinds have an empty text when nothing was shown."""
        if kind == "persona":
            return _persona(parts)
        if kind in ("global", "global_persona"):
            return DigestText(text="\n".join(_by_date(parts)))
        told = _told(parts)
        points = chosen(told, _POINTS)
        text = summarise(told, _POINTS) or _beginning(parts)
        return DigestText(text=text, title=_title(parts, text), points=tuple(points))


def _told(span: Sequence[Passage]) -> list[str]:
    """What is worth telling, in order: claims, else statements under their speakers' names."""
    lines = [line for p in span for line in (p.claims or _sentences(p.text))]
    return list(dict.fromkeys(lines))[:_MOST]


def _sentences(text: str) -> list[str]:
    found: list[str] = []
    speaker = ""
    for line in text.split("\n"):
        match = _LINE.match(line)
        speaker = match["speaker"] if match else speaker
        said = match["text"] if match else line
        for sentence in _split(said):
            if _says_something(sentence):
                found.append(f"{speaker}: {sentence}" if speaker else sentence)
    return found


def _split(text: str) -> list[str]:
    return [m[0].strip() for m in _SENTENCE.finditer(text) if m[0].strip()]


def _says_something(sentence: str) -> bool:
    if language_of(sentence) == "zh":
        asks = asks_in_chinese(sentence) or is_chitchat(sentence)
        return not asks and len(_WORD.findall(sentence)) >= 6
    return not is_question(sentence) and len(tokens_of(sentence)) >= 3


def _last_that_fit(lines: Sequence[str], max_words: int) -> list[str]:
    kept: list[str] = []
    room = max_words
    for line in reversed(list(dict.fromkeys(lines))):
        room -= len(_WORD.findall(line))
        if room < 0 and kept:
            break
        kept.append(line)
    return kept[::-1]


def _by_date(parts: Sequence[Passage]) -> list[str]:
    """One line a day, under its date: of many days the most telling."""
    lines = [f"{p.at:%Y-%m-%d}: {summarise(_split(p.text), 1)}" for p in parts if p.text.strip()]
    return chosen(lines, _DAYS) if len(lines) > _DAYS else lines


def _persona(parts: Sequence[Passage]) -> DigestText:
    shown = list(dict.fromkeys(line for part in parts for line in _likings(part)))[:_POINTS]
    return DigestText(text="\n".join(shown), traits=tuple(shown), mood=_mood(parts))


def _likings(part: Passage) -> list[str]:
    """Claims of what they like or always do, else such statements."""
    claims = [claim for claim in part.claims if _LIKING.search(claim)]
    return claims or [line for line in _sentences(part.text) if _LIKING.search(line)]


def _mood(parts: Iterable[Passage]) -> str:
    text = "\n".join(part.text for part in parts)
    said = Counter(re.findall(r"[a-z]+", text.lower()))
    good = sum(said[word] for word in _GOOD) + len(_GOOD_ZH.findall(text))
    bad = sum(said[word] for word in _BAD) + len(_BAD_ZH.findall(text))
    if good == bad:
        return ""
    if language_of(text) == "zh":
        return "愉快" if good > bad else "低落"
    return "cheerful" if good > bad else "low"


def _title(span: Sequence[Passage], text: str) -> str:
    """The keywords most said, else the beginning of the text."""
    said = Counter(word for passage in span for word in passage.keywords)
    if said:
        mark = "、" if language_of(text) == "zh" else ", "
        return mark.join(word for word, _ in said.most_common(3))[:200]
    first = _without_speaker(_split(text)[0]) if _split(text) else text
    return first if len(first) <= 60 else first[:59].rsplit(" ", 1)[0] + "…"


def _beginning(span: Sequence[Passage]) -> str:
    return span[0].text.strip().split("\n")[0][:300] if span else ""


def _without_speaker(text: str) -> str:
    match = _LINE.match(text.split("\n")[0])
    return match["text"] if match else text
