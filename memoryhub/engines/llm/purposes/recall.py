"""Questions: routing, judging, answering and grading."""

from __future__ import annotations

from collections.abc import Sequence

from memoryhub.engines.llm.grounding.answers import build_abstention, ground_answer, render_memories
from memoryhub.engines.llm.purposes.base import (
    MOST_CHARACTERS,
    ModelPurposes,
    clean_words,
    render_utterances,
    select_offered,
)
from memoryhub.engines.llm.replies import (
    AnswerReply,
    ConflictReply,
    GradeReply,
    JudgeReply,
    NamesReply,
    RerankReply,
    RouteReply,
    TermsReply,
)
from memoryhub.engines.types import (
    GroundedAnswer,
    JudgeEntry,
    Judgement,
    MemoryConflict,
    Quote,
    RoutedQuestion,
    Utterance,
)

# Of a question and of what is judged; and items of a reply (spec §16).
_QUESTION, _ENTRY, _MOST_NAMES, _MOST_CONFLICTS, _MOST_WANTED = 8000, 2000, 10, 5, 100


class RecallPurposes(ModelPurposes):
    def answer_question(
        self, question: str, quotes: Sequence[Quote], *, subject: str = ""
    ) -> GroundedAnswer:
        """Rests on at least one quote, or abstains."""
        if not quotes:
            return build_abstention(question)
        data = {
            "subject": subject,
            "question": question[:_QUESTION],
            "memories": render_memories(quotes),
        }
        reply = self.ask_purpose("answer", data, AnswerReply)
        answer, invented = ground_answer(reply, len(quotes))
        self.count_rejected_items("answer", invented)
        return answer or build_abstention(question, "" if reply.known else reply.answer)

    def route_question(self, question: str, window: Sequence[Utterance]) -> RoutedQuestion:
        """A rewrite that stands alone, and what it asks for."""
        data = {"window": render_utterances(window, _ENTRY), "question": question[:_QUESTION]}
        reply = self.ask_purpose("route", data, RouteReply)
        return RoutedQuestion(
            query=reply.query.strip()[:_QUESTION] or question,
            fine=reply.fine,
            abstract=reply.abstract,
            event=reply.event,
            atomic=reply.atomic,
            want=min(reply.want, _MOST_WANTED),
        )

    def judge_entries(
        self, question: str, entries: Sequence[JudgeEntry], window: Sequence[Utterance] = ()
    ) -> Judgement:
        """What of the entries bears on the question. Without entries nobody is asked."""
        if not entries:
            return Judgement((), enough=False)
        data = {
            "window": render_utterances(window, _ENTRY),
            "question": question[:_QUESTION],
            "entries": [_render_entry(entry) for entry in entries],
        }
        reply = self.ask_purpose("judge", data, JudgeReply)
        offered = {entry.handle for entry in entries}
        relevant = select_offered(reply.relevant, offered)
        self.count_rejected_items("judge", sum(h not in offered for h in reply.relevant))
        return Judgement(relevant, self._read_conflicts(reply.conflicts, offered), reply.enough)

    def _read_conflicts(
        self, replies: Sequence[ConflictReply], offered: set[str]
    ) -> list[MemoryConflict]:
        named = [
            MemoryConflict(select_offered(each.handles, offered), each.why[:MOST_CHARACTERS])
            for each in replies
        ]
        found = [conflict for conflict in named if conflict.handles][:_MOST_CONFLICTS]
        self.count_rejected_items("judge", len(replies) - len(found))
        return found

    def order_entries(self, question: str, entries: Sequence[JudgeEntry]) -> tuple[str, ...]:
        """Those that help first, as the model puts them; then the others as they came."""
        data = {
            "question": question[:_QUESTION],
            "entries": [_render_entry(entry) for entry in entries],
        }
        reply = self.ask_purpose("rerank", data, RerankReply)
        offered = [entry.handle for entry in entries]
        self.count_rejected_items("rerank", sum(h not in offered for h in reply.order))
        return tuple(dict.fromkeys([*select_offered(reply.order, offered), *offered]))

    def extract_question_names(self, question: str) -> list[str]:
        """Names the question holds; what it does not hold was made up and is dropped."""
        reply = self.ask_purpose("query_entities", {"question": question[:_QUESTION]}, NamesReply)
        said = question.casefold()
        names = [n.strip() for n in reply.names if n.strip() and n.strip().casefold() in said]
        self.count_rejected_items("query_entities", len(reply.names) - len(names))
        return list(dict.fromkeys(names))[:_MOST_NAMES]

    def extract_question_terms(self, question: str) -> list[str]:
        """Keywords of the question, in the model's own words (A-Mem, spec §4.4)."""
        reply = self.ask_purpose("query_terms", {"question": question[:_QUESTION]}, TermsReply)
        return list(clean_words(reply.terms))

    def grade_answer(self, question: str, expected: str, answer: str) -> bool:
        """Whether the answer says what was expected."""
        data = {"question": question, "expected": expected, "answer": answer}
        return self.ask_purpose("grade", data, GradeReply).correct


def _render_entry(entry: JudgeEntry) -> dict[str, str]:
    shown = {"handle": entry.handle, "text": entry.text[:_ENTRY]}
    return shown | ({"at": entry.at.date().isoformat()} if entry.at else {})
