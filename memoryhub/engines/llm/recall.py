"""Questions: routing, judging, answering and grading."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from memoryhub.engines.llm.asking import Asking
from memoryhub.engines.llm.replies import AnswerReply
from memoryhub.engines.local.language import language_of
from memoryhub.engines.types import (
    Answer,
    Entry,
    Judgement,
    Quote,
    RoutedQuestion,
    Utterance,
)

_UNKNOWN = {"zh": "没有找到相关的记忆。", "en": "I found nothing about that."}


class Recalling(Asking):
    def answer(self, question: str, quotes: Sequence[Quote], *, subject: str = "") -> Answer:
        """Rests on at least one quote, or abstains."""
        if not quotes:
            return _abstaining(question)
        data = {"question": question, "subject": subject, "memories": _memories(quotes)}
        reply = self.ask("answer", data, AnswerReply)
        offered = {_handle(index): index for index in range(len(quotes))}
        used = tuple(dict.fromkeys(offered[each] for each in reply.used if each in offered))
        self.reject("answer", sum(each not in offered for each in reply.used))
        if not (reply.known and used and reply.answer.strip()):
            return _abstaining(question, reply.answer if not reply.known else "")
        return Answer(reply.answer.strip(), quoted=False, used=used)

    def route(self, question: str, window: Sequence[Utterance]) -> RoutedQuestion:
        raise NotImplementedError

    def judge(
        self, question: str, entries: Sequence[Entry], window: Sequence[Utterance] = ()
    ) -> Judgement:
        raise NotImplementedError

    def query_entities(self, question: str) -> list[str]:
        raise NotImplementedError

    def grade(self, question: str, expected: str, answer: str) -> bool:
        raise NotImplementedError


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
