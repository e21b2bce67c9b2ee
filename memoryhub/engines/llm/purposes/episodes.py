"""Spans of dialogue: where they end, what happened in them, and what was said so far.

What exceeds one call is read in parts, and the parts' texts are read once more (spec E4, §3.5).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import islice
from typing import Any, TypeVar, cast

from memoryhub.engines.embedding.model_files import count_tokens
from memoryhub.engines.llm.purposes.base import (
    MAX_CALL_TOKENS,
    TOO_LARGE_CODES,
    ModelPurposes,
    ask_in_halves,
    render_minute,
    render_pages,
    render_utterances,
)
from memoryhub.engines.llm.replies import (
    DigestReply,
    EpisodeReply,
    FoldReply,
    GateReply,
    PauseReply,
    PredictionReply,
    SummaryReply,
)
from memoryhub.engines.local.language import CJK
from memoryhub.engines.types import (
    DigestKind,
    DigestText,
    EpisodeGate,
    EpisodeGateCause,
    EpisodeText,
    Passage,
    Utterance,
)
from memoryhub.errors import EngineError

_GATE_CAUSES = ("shift", "request", "full")
# What a reply may be at most (spec E14).
_TITLE, _TEXT, _PART, _LINES, _LINE = 200, 4000, 1500, 12, 300
_WORD = re.compile(rf"[{CJK}]|[^\s{CJK}]+")
_SENTENCE = re.compile(r".+?(?:[.!?]+(?=\s|$)|[。！？]+|$)\s*", re.S)
_LARGEST_BOUND = 2000  # llama.cpp's for repetitions in a grammar

Part = TypeVar("Part", Passage, Utterance)
Read = TypeVar("Read", EpisodeText, DigestText)


class EpisodePurposes(ModelPurposes):
    def detect_episode_end(self, window: Sequence[Passage], newest: Passage) -> EpisodeGate:
        """Raises EngineError. A cause nobody knows counts as a shift."""
        data = {"window": _render_passages(window), "newest": _render_passages([newest])[0]}
        reply = self.ask_purpose("episode_gate", data, GateReply)
        if not reply.open:
            return EpisodeGate(False, "none")
        known = reply.cause in _GATE_CAUSES
        self.count_rejected_items("episode_gate", 0 if known else 1)
        return EpisodeGate(True, cast("EpisodeGateCause", reply.cause) if known else "shift")

    def summarise_episode(self, span: Sequence[Passage]) -> EpisodeText:
        return _read_in_parts(span, self._ask_for_episode)

    def _ask_for_episode(self, span: Sequence[Passage]) -> EpisodeText:
        data = {"exchanges": _render_passages(span)}
        reply = self.ask_purpose("episode_write", data, EpisodeReply)
        return EpisodeText(_clean_line(reply.title, _TITLE), clip_text(reply.text))

    def find_pause(self, passages: Sequence[Passage], least: int) -> int:
        """All of them where the reply names none that may be the last."""
        allowed = {p.handle: number for number, p in enumerate(passages, 1) if number >= least}
        data = {"passages": render_pages(passages), "pauses": list(allowed)}
        after = self.ask_purpose("paginate", data, PauseReply).after.strip()
        self.count_rejected_items("paginate", 0 if after in allowed else 1)
        return allowed.get(after, len(passages))

    def predict_episode(self, title: str, known: Sequence[str]) -> str:
        data = {"title": title, "known": list(known)}
        return clip_text(self.ask_purpose("predict", data, PredictionReply).text)

    def fold_summary(
        self, previous: str, said: Sequence[Utterance], *, max_words: int = 100, agent: str = ""
    ) -> str:
        """`previous` renewed, part by part when too much was said for one call."""
        for part in _split_by_tokens(said):
            previous = self._fold_part(previous, part, max_words, agent)
        return previous

    def _fold_part(self, previous: str, said: Sequence[Utterance], words: int, agent: str) -> str:
        told = render_utterances(said)
        data: dict[str, Any] = {"max_words": words, **({"agent": agent} if agent else {})}
        data |= {"summary": previous, "messages": told}
        if agent:
            for each, utterance in zip(told, said, strict=True):
                each["role"] = utterance.role
        try:
            reply = self.ask_purpose("fold_summary", data, FoldReply, _bound_summary(words))
        except EngineError as error:
            if error.code not in TOO_LARGE_CODES or len(said) < 2:
                raise
            first, second = said[: len(said) // 2], said[len(said) // 2 :]
            previous = self._fold_part(previous, first, words, agent)
            return self._fold_part(previous, second, words, agent)
        # A model that can't count is given some room, and then cut at a sentence.
        return clip_text(reply.text, words * 3 // 2)

    def build_digest(self, kind: DigestKind, parts: Sequence[Passage]) -> DigestText:
        return _read_in_parts(parts, lambda some: self._ask_for_digest(kind, some))

    def _ask_for_digest(self, kind: DigestKind, parts: Sequence[Passage]) -> DigestText:
        data = {"kind": kind, "parts": _render_passages(parts)}
        reply = self.ask_purpose("digest", data, DigestReply)
        return DigestText(
            text=clip_text(reply.text),
            title=_clean_line(reply.title, _TITLE),
            points=_clean_lines(reply.points),
            traits=_clean_lines(reply.traits),
            mood=_clean_line(reply.mood, _TITLE),
            reply_strategy=_clean_line(reply.reply_strategy, 500),
        )

    def summarise_texts(self, texts: Sequence[str], *, max_sentences: int = 3) -> str:
        if not texts:
            return ""
        data = {"max_sentences": max_sentences, "facts": list(texts)}
        written = self.ask_purpose("summarise", data, SummaryReply).summary
        found = _SENTENCE.finditer(written.strip())
        return "".join(match[0] for match in islice(found, max_sentences)).strip()


def _read_in_parts(span: Sequence[Passage], read: Callable[[Sequence[Passage]], Read]) -> Read:
    """The span read in one call, else each part of it, and then what they came to."""
    found = [
        (part[0], text) for part in _split_by_tokens(span) for text in ask_in_halves(read, part)
    ]
    if len(found) == 1:
        return found[0][1]
    # Cut, so that a round always has less to read than the one before.
    texts = [
        Passage(f"p{n}", text.text[:_PART], p.at) for n, (p, text) in enumerate(found, start=1)
    ]
    return _read_in_parts(texts, read)


def _split_by_tokens(said: Sequence[Part]) -> list[Sequence[Part]]:
    """Consecutive stretches of at most one call's size; what is longer by itself stays whole."""
    parts: list[list[Part]] = []
    size = 0
    for each, tokens in zip(said, count_tokens([one.text for one in said]), strict=True):
        if not parts or size + tokens > MAX_CALL_TOKENS:
            parts.append([])
            size = 0
        parts[-1].append(each)
        size += tokens
    return list(parts)


def _render_passages(passages: Sequence[Passage]) -> list[dict[str, str]]:
    return [{"at": render_minute(passage.at), "text": passage.text} for passage in passages]


def _bound_summary(words: int) -> dict[str, int]:
    """How many characters a small model may write that says the same over and over; twice what so
    many words take. None of long texts: endpoints refuse such bounds."""
    characters = 12 * words
    return {"text": characters} if characters <= _LARGEST_BOUND else {}


def clip_text(text: str, words: int | None = None) -> str:
    """At most so many words (characters in scripts without), to a sentence's end if it can; no
    sentence twice."""
    text = _drop_repeated_sentences(text.strip())
    units = list(_WORD.finditer(text))
    end = units[words - 1].end() if words and len(units) > words else len(text)
    end = min(end, _TEXT)
    if end >= len(text):
        return text
    ends = [m.end() for m in re.finditer(r"[.!?](?=\s)|[。！？]", text[:end])]
    return text[: ends[-1] if ends and ends[-1] > end // 2 else end].strip()


def _drop_repeated_sentences(text: str) -> str:
    """A small model that has nothing to add begins again, until it is cut off in a sentence."""
    kept: dict[str, str] = {}
    parts = _SENTENCE.findall(text)
    for part in parts:
        kept.setdefault(part.strip(), part)
    if len(kept) == len(parts):
        return text
    last = parts[-1].strip()
    if any(known != last and known.startswith(last) for known in kept):
        kept.pop(last)
    return "".join(kept.values()).strip()


def _clean_line(text: str, most: int) -> str:
    return " ".join(text.split())[:most]


def _clean_lines(texts: Sequence[str]) -> tuple[str, ...]:
    return tuple(line for line in (_clean_line(text, _LINE) for text in texts) if line)[:_LINES]
