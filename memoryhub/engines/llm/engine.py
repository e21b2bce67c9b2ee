"""The engine that asks a language model, and trusts no reply further than it can check."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from memoryhub.engines.embedding.packaged import count_tokens
from memoryhub.engines.llm.chat import Chat
from memoryhub.engines.llm.ladder import ask
from memoryhub.engines.llm.prompting import VERSIONS, messages
from memoryhub.engines.llm.reading import MOST_FACTS, Reading
from memoryhub.engines.llm.replies import AnswerReply, ConstructReply, SummaryReply
from memoryhub.engines.local.language import language_of
from memoryhub.engines.types import (
    Answer,
    Construction,
    Exchange,
    FactCandidate,
    Quote,
    RelationCandidate,
    Utterance,
)
from memoryhub.errors import EngineError

logger = logging.getLogger(__name__)

_WINDOW = 6000  # tokens read in one call (spec E4)
_OVERLAP = 600  # characters two halves of one text share
_SMALLEST = 1500  # characters; a shorter text is not split any further
_HISTORY = 10
_TOO_MUCH = ("reply_cut", "context_exceeded")
_READ = frozenset({"user", "assistant"})
_UNKNOWN = {"zh": "没有找到相关的记忆。", "en": "I found nothing about that."}


class LLMEngine:
    """Implements `Engine` on an OpenAI-compatible chat endpoint.

    `rejected` counts what replies claimed beyond what they were offered (spec E13).
    """

    name = "llm"

    def __init__(self, chat: Chat) -> None:
        self._chat = chat
        self.version = f"{chat.model}/construct.v{VERSIONS['construct']}"
        self.rejected = 0

    @classmethod
    def connected(
        cls, base_url: str, api_key: str, model: str, *, timeout: float = 120.0
    ) -> LLMEngine:
        """An engine on the endpoint's model; nothing is called yet."""
        return cls(Chat(base_url, api_key, model, timeout=timeout))

    def construct(self, exchanges: Sequence[Exchange]) -> list[Construction]:
        """One construction per exchange. Raises EngineError when a reply stays unusable."""
        return [
            self._read(exchange, {u.handle: u for u in exchange.utterances})
            for exchange in map(_readable, exchanges)
        ]

    def summarise(self, texts: Sequence[str], *, max_sentences: int = 3) -> str:
        if not texts:
            return ""
        data = {"facts": list(texts), "max_sentences": max_sentences}
        written = ask(self._chat, messages("summarise", data), SummaryReply).summary.strip()
        return _sentences(written, max_sentences)

    def answer(self, question: str, quotes: Sequence[Quote], *, subject: str = "") -> Answer:
        """Rests on at least one quote, or abstains."""
        if not quotes:
            return _abstaining(question)
        data = {"question": question, "subject": subject, "memories": _memories(quotes)}
        reply = ask(self._chat, messages("answer", data), AnswerReply)
        offered = {_handle(index): index for index in range(len(quotes))}
        used = tuple(dict.fromkeys(offered[each] for each in reply.used if each in offered))
        self._count(sum(each not in offered for each in reply.used))
        if not (reply.known and used and reply.answer.strip()):
            return _abstaining(question, reply.answer if not reply.known else "")
        return Answer(reply.answer.strip(), quoted=False, used=used)

    def _read(self, exchange: Exchange, whole: Mapping[str, Utterance]) -> Construction:
        """`whole` are the utterances uncut: facts point into them, not into the parts read."""
        if not any(re.search(r"\w", u.text) for u in exchange.utterances):
            return Construction(speech_acts={u.handle: "chitchat" for u in exchange.utterances})
        parts = _halves(exchange) if _size(exchange) > _WINDOW else ()
        if not parts:
            try:
                return self._asked(exchange, whole)
            except EngineError as error:
                parts = _halves(exchange) if error.code in _TOO_MUCH else ()
                if not parts:
                    raise
        return _joined([self._read(part, whole) for part in parts])

    def _asked(self, exchange: Exchange, whole: Mapping[str, Utterance]) -> Construction:
        reply = ask(self._chat, messages("construct", _data(exchange)), ConstructReply)
        reading = Reading({u.handle: whole[u.handle] for u in exchange.utterances})
        construction = reading.construction(reply)
        self._count(reading.rejected)
        return construction

    def _count(self, rejected: int) -> None:
        if rejected:
            self.rejected += rejected
            logger.warning("dropped %d items a model was not offered or may not claim", rejected)


def _readable(exchange: Exchange) -> Exchange:
    """Without documents and tool output: they are not anyone's word (spec E24)."""
    kept = [u for u in exchange.utterances if u.role in _READ]
    return replace(exchange, utterances=kept, history=exchange.history[-_HISTORY:])


def _size(exchange: Exchange) -> int:
    return sum(count_tokens([u.text for u in exchange.utterances]))


def _halves(exchange: Exchange) -> tuple[Exchange, ...]:
    """The exchange in two: between utterances, or inside the only one; () if it is small."""
    utterances = list(exchange.utterances)
    if len(utterances) > 1:
        middle = len(utterances) // 2
        first, second = utterances[:middle], utterances[middle:]
        history = [*exchange.history, *first][-_HISTORY:]
        return (
            replace(exchange, utterances=first),
            replace(exchange, utterances=second, history=history),
        )
    return tuple(replace(exchange, utterances=[part]) for part in _torn(utterances[0]))


def _torn(utterance: Utterance) -> tuple[Utterance, ...]:
    text = utterance.text
    if len(text) < _SMALLEST:
        return ()
    middle = len(text) // 2
    parts = text[: middle + _OVERLAP // 2], text[middle - _OVERLAP // 2 :]
    return tuple(replace(utterance, text=part) for part in parts)


def _joined(parts: Sequence[Construction]) -> Construction:
    """The parts of one exchange as one; a claim both halves make counts once."""
    facts: dict[str, FactCandidate] = {}
    relations: list[RelationCandidate] = []
    for part in parts:
        for fact in part.facts:
            facts.setdefault(fact.text.casefold(), fact)
        places = [list(facts).index(fact.text.casefold()) for fact in part.facts]
        relations += [replace(each, fact=places[each.fact]) for each in part.relations]
    return Construction(
        facts=tuple(facts.values())[:MOST_FACTS],
        entities=tuple(dict.fromkeys(e for part in parts for e in part.entities)),
        relations=tuple(dict.fromkeys(r for r in relations if r.fact < MOST_FACTS)),
        note=next((part.note for part in parts if part.note), None),
        speech_acts={h: act for part in parts for h, act in part.speech_acts.items()},
        times={h: times for part in parts for h, times in part.times.items()},
        topic_cue=parts[0].topic_cue,
    )


def _data(exchange: Exchange) -> dict[str, Any]:
    return {
        "subject": exchange.subject,
        "participants": list(exchange.participants),
        "history": [_said(u) for u in exchange.history],
        "messages": [{"handle": u.handle} | _said(u) for u in exchange.utterances],
    }


def _said(utterance: Utterance) -> dict[str, str]:
    return {
        "speaker": utterance.speaker,
        "role": utterance.role,
        "at": utterance.at.isoformat(timespec="minutes"),
        "text": utterance.text,
    }


def _memories(quotes: Sequence[Quote]) -> list[dict[str, str]]:
    return [_memory(_handle(index), quote) for index, quote in enumerate(quotes)]


def _memory(handle: str, quote: Quote) -> dict[str, str]:
    memory = {"handle": handle, "text": quote.text, "speaker": quote.speaker}
    if quote.said_at:
        memory["said_at"] = _day(quote.said_at)
    if quote.event:
        memory["about"] = f"{_day(quote.event.start)}/{_day(quote.event.end)}"
    return {name: value for name, value in memory.items() if value}


def _handle(index: int) -> str:
    return f"m{index + 1}"


def _day(moment: datetime) -> str:
    return moment.date().isoformat()


def _abstaining(question: str, wording: str = "") -> Answer:
    known = "zh" if language_of(question) == "zh" else "en"
    return Answer(wording.strip() or _UNKNOWN[known], quoted=False)


def _sentences(text: str, most: int) -> str:
    found: Iterable[re.Match[str]] = re.finditer(r".+?(?:[.!?](?=\s|$)|[。！？]|$)", text, re.S)
    return "".join(match[0] for match in list(found)[:most]).strip()
