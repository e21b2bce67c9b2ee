"""Spans of dialogue: where they end, what happened in them, and what was said so far.

What exceeds one call is read in parts, and the parts' texts are read once more (spec E4, §3.5).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, TypeVar, cast

from memoryhub.engines.embedding.packaged import count_tokens
from memoryhub.engines.llm.asking import TOO_MUCH, Asking, halved
from memoryhub.engines.llm.replies_episodes import DigestReply, EpisodeReply, FoldReply, GateReply
from memoryhub.engines.types import (
    DigestKind,
    DigestText,
    EpisodeText,
    Gate,
    GateCause,
    Passage,
    Utterance,
)
from memoryhub.errors import EngineError

_WINDOW = 6000  # tokens read in one call (spec E4)
_CAUSES = ("shift", "request", "full")
# What a reply may be at most (spec E14).
_TITLE, _TEXT, _PART, _LINES, _LINE = 200, 4000, 1500, 12, 300
_CJK = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\u3040-\u30ff"
_WORD = re.compile(rf"[{_CJK}]|[^\s{_CJK}]+")

Part = TypeVar("Part", Passage, Utterance)
Read = TypeVar("Read", EpisodeText, DigestText)


class Episodic(Asking):
    def episode_gate(self, window: Sequence[Passage], newest: Passage) -> Gate:
        """Raises EngineError. A cause nobody knows counts as a shift."""
        data = {"window": [_passage(p) for p in window], "newest": _passage(newest)}
        reply = self.ask("episode_gate", data, GateReply)
        if not reply.open:
            return Gate(False, "none")
        known = reply.cause in _CAUSES
        self.reject("episode_gate", 0 if known else 1)
        return Gate(True, cast("GateCause", reply.cause) if known else "shift")

    def episode_write(self, span: Sequence[Passage]) -> EpisodeText:
        return _in_parts(span, self._episode)

    def _episode(self, span: Sequence[Passage]) -> EpisodeText:
        data = {"exchanges": [_passage(p) for p in span]}
        reply = self.ask("episode_write", data, EpisodeReply)
        return EpisodeText(_line(reply.title, _TITLE), clipped(reply.text))

    def fold_summary(
        self, previous: str, said: Sequence[Utterance], *, max_words: int = 100
    ) -> str:
        """`previous` renewed, part by part when too much was said for one call."""
        for part in _parts(said):
            previous = self._folded(previous, part, max_words)
        return previous

    def _folded(self, previous: str, said: Sequence[Utterance], words: int) -> str:
        data = {"summary": previous, "messages": [_said(u) for u in said], "max_words": words}
        try:
            reply = self.ask("fold_summary", data, FoldReply)
        except EngineError as error:
            if error.code not in TOO_MUCH or len(said) < 2:
                raise
            first, second = said[: len(said) // 2], said[len(said) // 2 :]
            return self._folded(self._folded(previous, first, words), second, words)
        # A model that can't count is given some room, and then cut at a sentence.
        return clipped(reply.text, words * 3 // 2)

    def digest(self, kind: DigestKind, parts: Sequence[Passage]) -> DigestText:
        return _in_parts(parts, lambda some: self._digest(kind, some))

    def _digest(self, kind: DigestKind, parts: Sequence[Passage]) -> DigestText:
        data = {"kind": kind, "parts": [_passage(p) for p in parts]}
        reply = self.ask("digest", data, DigestReply)
        return DigestText(
            text=clipped(reply.text),
            title=_line(reply.title, _TITLE),
            points=_lines(reply.points),
            traits=_lines(reply.traits),
            mood=_line(reply.mood, _TITLE),
            reply_strategy=_line(reply.reply_strategy, 500),
        )


def _in_parts(span: Sequence[Passage], read: Callable[[Sequence[Passage]], Read]) -> Read:
    """The span read in one call, else each part of it, and then what they came to."""
    found = [(part[0], text) for part in _parts(span) for text in halved(read, part)]
    if len(found) == 1:
        return found[0][1]
    # Cut, so that a round always has less to read than the one before.
    texts = [
        Passage(f"p{n}", text.text[:_PART], p.at) for n, (p, text) in enumerate(found, start=1)
    ]
    return _in_parts(texts, read)


def _parts(said: Sequence[Part]) -> list[Sequence[Part]]:
    """Consecutive stretches of at most one call's size; what is longer by itself stays whole."""
    parts: list[list[Part]] = []
    size = 0
    for each, tokens in zip(said, count_tokens([one.text for one in said]), strict=True):
        if not parts or size + tokens > _WINDOW:
            parts.append([])
            size = 0
        parts[-1].append(each)
        size += tokens
    return list(parts)


def _passage(passage: Passage) -> dict[str, Any]:
    return {"at": passage.at.isoformat(timespec="minutes"), "text": passage.text}


def _said(utterance: Utterance) -> dict[str, str]:
    return {
        "speaker": utterance.speaker,
        "at": utterance.at.isoformat(timespec="minutes"),
        "text": utterance.text,
    }


def clipped(text: str, words: int | None = None) -> str:
    """At most so many words (characters in scripts without), to a sentence's end if it can."""
    text = text.strip()
    units = list(_WORD.finditer(text))
    end = units[words - 1].end() if words and len(units) > words else len(text)
    end = min(end, _TEXT)
    if end >= len(text):
        return text
    ends = [m.end() for m in re.finditer(r"[.!?](?=\s)|[。！？]", text[:end])]
    return text[: ends[-1] if ends and ends[-1] > end // 2 else end].strip()


def _line(text: str, most: int) -> str:
    return " ".join(text.split())[:most]


def _lines(texts: Sequence[str]) -> tuple[str, ...]:
    return tuple(line for line in (_line(text, _LINE) for text in texts) if line)[:_LINES]
