"""Questions: routing, judging, answering and grading."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from memoryhub.engines.llm.answers import abstaining, grounded, memories
from memoryhub.engines.llm.asking import Asking
from memoryhub.engines.llm.replies import AnswerReply
from memoryhub.engines.llm.replies_recall import (
    ConflictReply,
    GradeReply,
    JudgeReply,
    NamesReply,
    RouteReply,
)
from memoryhub.engines.types import (
    Answer,
    Conflict,
    Entry,
    Judgement,
    Quote,
    RoutedQuestion,
    Utterance,
)

# Of a question and of what is judged; and items of a reply (spec §16).
_QUESTION, _ENTRY, _MOST_NAMES, _MOST_CONFLICTS, _MOST_WANTED = 8000, 2000, 10, 5, 100


class Recalling(Asking):
    def answer(self, question: str, quotes: Sequence[Quote], *, subject: str = "") -> Answer:
        """Rests on at least one quote, or abstains."""
        if not quotes:
            return abstaining(question)
        data = {
            "question": question[:_QUESTION],
            "subject": subject,
            "memories": memories(quotes),
        }
        reply = self.ask("answer", data, AnswerReply)
        answer, invented = grounded(reply, len(quotes))
        self.reject("answer", invented)
        return answer or abstaining(question, "" if reply.known else reply.answer)

    def route(self, question: str, window: Sequence[Utterance]) -> RoutedQuestion:
        """A rewrite that stands alone, and what it asks for."""
        data = {"question": question[:_QUESTION], "window": _window(window)}
        reply = self.ask("route", data, RouteReply)
        return RoutedQuestion(
            query=reply.query.strip()[:_QUESTION] or question,
            fine=reply.fine,
            abstract=reply.abstract,
            event=reply.event,
            atomic=reply.atomic,
            want=min(reply.want, _MOST_WANTED),
        )

    def judge(
        self, question: str, entries: Sequence[Entry], window: Sequence[Utterance] = ()
    ) -> Judgement:
        """What of the entries bears on the question. Without entries nobody is asked."""
        if not entries:
            return Judgement((), enough=False)
        data = {
            "question": question[:_QUESTION],
            "entries": [_entry(entry) for entry in entries],
            "window": _window(window),
        }
        reply = self.ask("judge", data, JudgeReply)
        offered = {entry.handle for entry in entries}
        relevant = tuple(dict.fromkeys(h for h in reply.relevant if h in offered))
        self.reject("judge", sum(h not in offered for h in reply.relevant))
        return Judgement(relevant, self._conflicts(reply.conflicts, offered), reply.enough)

    def _conflicts(self, replies: Sequence[ConflictReply], offered: set[str]) -> list[Conflict]:
        named = [
            Conflict(tuple(dict.fromkeys(h for h in r.handles if h in offered)), r.why[:500])
            for r in replies
        ]
        found = [conflict for conflict in named if conflict.handles][:_MOST_CONFLICTS]
        self.reject("judge", len(replies) - len(found))
        return found

    def query_entities(self, question: str) -> list[str]:
        """Names the question holds; what it does not hold was made up and is dropped."""
        reply = self.ask("query_entities", {"question": question[:_QUESTION]}, NamesReply)
        said = question.casefold()
        names = [n.strip() for n in reply.names if n.strip() and n.strip().casefold() in said]
        self.reject("query_entities", len(reply.names) - len(names))
        return list(dict.fromkeys(names))[:_MOST_NAMES]

    def grade(self, question: str, expected: str, answer: str) -> bool:
        """Whether the answer says what was expected."""
        data = {"question": question, "expected": expected, "answer": answer}
        return self.ask("grade", data, GradeReply).correct


def _window(said: Sequence[Utterance]) -> list[dict[str, str]]:
    return [
        {"speaker": u.speaker, "at": u.at.isoformat(timespec="minutes"), "text": u.text[:_ENTRY]}
        for u in said
    ]


def _entry(entry: Entry) -> dict[str, str]:
    shown = {"handle": entry.handle, "text": entry.text[:_ENTRY]}
    return shown | ({"at": _day(entry.at)} if entry.at else {})


def _day(moment: datetime) -> str:
    return moment.date().isoformat()
