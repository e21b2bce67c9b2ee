"""Spans of dialogue, extractive: the most telling of what was said, in the words it was said in.

Claims that were read from a passage before are chosen from first: on dialogue they are worth
more than any ranking of its sentences. Nothing here understands; nothing is made up either.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import timedelta

from memoryhub.engines.local.chinese.rules import GREETING, is_chitchat
from memoryhub.engines.local.chinese.rules import is_question as asks_in_chinese
from memoryhub.engines.local.grammar.speech import is_question
from memoryhub.engines.local.language import CJK, detect_language
from memoryhub.engines.local.summarise import count_terms, select_texts, summarise_texts
from memoryhub.engines.local.topics.cues import opens_topic
from memoryhub.engines.local.wordlists import split_words
from memoryhub.engines.types import (
    DigestKind,
    DigestText,
    EpisodeGate,
    EpisodeText,
    Passage,
    Utterance,
)

_SHIFT_GAP = timedelta(minutes=30)
_SENTENCE = re.compile(r"[^.!?。！？\n]+(?:[.!?](?=\s|$)|[。！？\n]|$|\.(?=\d))+")
_SPEAKER_LINE = re.compile(r"^(?P<speaker>[^:\n]{1,120}): (?P<text>.+)$", re.S)
_SUMMARY_REQUEST = re.compile(
    r"\bsum (?:this|that|it) (?:all )?up\b|\bsummari[sz]e (?:this|that|our|the|what)\b"
    r"|\blet's recap\b|总结一下|小结一下|概括一下",
    re.I,
)
_WORD = re.compile(rf"[{CJK}]|[^\s{CJK}]+")
_LIKING = re.compile(
    r"\b(?:(?:really |also |just |absolutely )?(?:love|like|enjoy|prefer|hate|dislike)s?"
    r"|can't stand|always|usually|often|never|afraid of|interested in|passionate about)\b"
    r"|喜欢|热爱|最爱|讨厌|总是|经常|习惯|害怕|感兴趣",
    re.I,
)
_GOOD_WORDS = split_words("""
    happy glad great wonderful excited love loved proud thrilled fun enjoyed amazing grateful
""")
_BAD_WORDS = split_words("""
    sad sorry worried tired stressed angry upset afraid lonely awful terrible sick anxious lost
""")
_GOOD_ZH, _BAD_ZH = (
    re.compile("开心|高兴|太棒|激动|骄傲|感激"),
    re.compile("难过|担心|焦虑|累|生气|害怕|孤独|糟糕|失望"),
)
_EPISODE, _POINTS, _DAYS = 4, 5, 12  # sentences of each
_MAX_STATEMENTS = 300  # sentences chosen from


class EpisodeRules:
    def detect_episode_end(self, window: Sequence[Passage], newest: Passage) -> EpisodeGate:
        """A silence, a greeting or a turning phrase; or somebody asks for a summary."""
        said = _strip_speaker(newest.text)
        if _SUMMARY_REQUEST.search(said):
            return EpisodeGate(True, "request")
        silent = bool(window) and newest.at - window[-1].at > _SHIFT_GAP
        shifted = bool(window) and (silent or opens_topic(said) or bool(GREETING.match(said)))
        return EpisodeGate(shifted, "shift" if shifted else "none")

    def summarise_episode(self, span: Sequence[Passage]) -> EpisodeText:
        told = _select_statements(span)
        text = summarise_texts(told, _EPISODE) or _cut_beginning(span)
        return EpisodeText(_derive_title(span, text), text)

    def find_pause(self, passages: Sequence[Passage], least: int) -> int:
        """Before the last that begins something else; after all where none does."""
        for at in range(len(passages) - 1, max(least, 1) - 1, -1):
            if self.detect_episode_end(passages[:at], passages[at]).open:
                return at
        return len(passages)

    def predict_episode(self, title: str, known: Sequence[str]) -> str:
        """What is known, word by word: rules expect nothing else."""
        return "\n".join(known)

    def fold_summary(
        self, previous: str, said: Sequence[Utterance], *, max_words: int = 100, agent: str = ""
    ) -> str:
        """The newest telling lines, and of the older ones as many as there is room for. They stay
        word for word, whoever is to read them."""
        new = _extract_statements("\n".join(f"{u.speaker}: {u.text}" for u in said))
        lines = [*previous.split("\n"), *select_texts(new, _POINTS)]
        return "\n".join(_keep_last_fitting([line for line in lines if line], max_words))

    def build_digest(self, kind: DigestKind, parts: Sequence[Passage]) -> DigestText:
        """The persona kinds have an empty text when nothing was shown."""
        if kind == "persona":
            return _digest_persona(parts)
        if kind in ("global", "global_persona"):
            return DigestText(text="\n".join(_summarise_by_date(parts)))
        told = _select_statements(parts)
        points = select_texts(told, _POINTS)
        text = summarise_texts(told, _POINTS) or _cut_beginning(parts)
        return DigestText(text=text, title=_derive_title(parts, text), points=tuple(points))

    def summarise_texts(self, texts: Sequence[str], *, max_sentences: int = 3) -> str:
        """The texts nearest to their common centre, word by word, in their order."""
        return summarise_texts(texts, max_sentences)


def _select_statements(span: Sequence[Passage]) -> list[str]:
    """What is worth telling, in order: claims, else statements under their speakers' names."""
    lines = [line for p in span for line in (p.claims or _extract_statements(p.text))]
    return list(dict.fromkeys(lines))[:_MAX_STATEMENTS]


def _extract_statements(text: str) -> list[str]:
    found: list[str] = []
    speaker = ""
    for line in text.split("\n"):
        match = _SPEAKER_LINE.match(line)
        speaker = match["speaker"] if match else speaker
        said = match["text"] if match else line
        for sentence in _split_sentences(said):
            if _is_statement(sentence):
                found.append(f"{speaker}: {sentence}" if speaker else sentence)
    return found


def _split_sentences(text: str) -> list[str]:
    return [m[0].strip() for m in _SENTENCE.finditer(text) if m[0].strip()]


def _is_caption(sentence: str) -> bool:
    """ "[shares a photo of a dog]": what importers put in the place of a picture."""
    text = sentence.strip(" .!?\n")
    return text.startswith("[") and "]" not in text[1:-1]


def _is_statement(sentence: str) -> bool:
    if _is_caption(sentence):
        return False
    if detect_language(sentence) == "zh":
        asks = asks_in_chinese(sentence) or is_chitchat(sentence)
        return not asks and len(_WORD.findall(sentence)) >= 6
    return not is_question(sentence) and len(count_terms(sentence)) >= 3


def _keep_last_fitting(lines: Sequence[str], max_words: int) -> list[str]:
    kept: list[str] = []
    room = max_words
    for line in reversed(list(dict.fromkeys(lines))):
        room -= len(_WORD.findall(line))
        if room < 0 and kept:
            break
        kept.append(line)
    return kept[::-1]


def _summarise_by_date(parts: Sequence[Passage]) -> list[str]:
    """One line a day, under its date: of many days the most telling."""
    lines = [
        f"{p.at:%Y-%m-%d}: {summarise_texts(_split_sentences(p.text), 1)}"
        for p in parts
        if p.text.strip()
    ]
    return select_texts(lines, _DAYS) if len(lines) > _DAYS else lines


def _digest_persona(parts: Sequence[Passage]) -> DigestText:
    shown = list(dict.fromkeys(line for part in parts for line in _select_likings(part)))[:_POINTS]
    return DigestText(text="\n".join(shown), traits=tuple(shown), mood=_estimate_mood(parts))


def _select_likings(part: Passage) -> list[str]:
    """Claims of what they like or always do, else such statements."""
    claims = [claim for claim in part.claims if _LIKING.search(claim)]
    return claims or [line for line in _extract_statements(part.text) if _LIKING.search(line)]


def _estimate_mood(parts: Iterable[Passage]) -> str:
    text = "\n".join(part.text for part in parts)
    said = Counter(re.findall(r"[a-z]+", text.lower()))
    good = sum(said[word] for word in _GOOD_WORDS) + len(_GOOD_ZH.findall(text))
    bad = sum(said[word] for word in _BAD_WORDS) + len(_BAD_ZH.findall(text))
    if good == bad:
        return ""
    if detect_language(text) == "zh":
        return "愉快" if good > bad else "低落"
    return "cheerful" if good > bad else "low"


def _derive_title(span: Sequence[Passage], text: str) -> str:
    """The keywords most said, else the beginning of the text."""
    said = Counter(word for passage in span for word in passage.keywords)
    if said:
        mark = "、" if detect_language(text) == "zh" else ", "
        return mark.join(word for word, _ in said.most_common(3))[:200]
    first = _strip_speaker(_split_sentences(text)[0]) if _split_sentences(text) else text
    return first if len(first) <= 60 else first[:59].rsplit(" ", 1)[0] + "…"


def _cut_beginning(span: Sequence[Passage]) -> str:
    return span[0].text.strip().split("\n")[0][:300] if span else ""


def _strip_speaker(text: str) -> str:
    match = _SPEAKER_LINE.match(text.split("\n")[0])
    return match["text"] if match else text
