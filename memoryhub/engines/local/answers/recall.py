"""Questions, by rules: routing, shared words for judging, quotations for answers."""

from __future__ import annotations

from collections.abc import Sequence

from memoryhub.engines.local.answers import extractive, questions
from memoryhub.engines.local.summarise import count_terms
from memoryhub.engines.types import (
    GroundedAnswer,
    JudgeEntry,
    Judgement,
    Quote,
    RoutedQuestion,
    Utterance,
)

# Of the expected answer's words, this share has to be in the answer.
_MIN_SHARED_WORDS = 0.6


class RecallRules:
    def answer_question(
        self, question: str, quotes: Sequence[Quote], *, subject: str = ""
    ) -> GroundedAnswer:
        """The best quotes word by word, led by a date where the question asks when."""
        return extractive.answer_from_quotes(question, quotes, subject=subject)

    def route_question(self, question: str, window: Sequence[Utterance]) -> RoutedQuestion:
        """What is asked for, by signal words; the question stays as it is."""
        return questions.route_by_words(question)

    def judge_entries(
        self, question: str, entries: Sequence[JudgeEntry], window: Sequence[Utterance] = ()
    ) -> Judgement:
        """Relevant is what shares a word with the question: rough, and never a conflict."""
        asked = count_terms(question)
        relevant = tuple(e.handle for e in entries if not asked or asked & count_terms(e.text))
        return Judgement(relevant, enough=bool(relevant))

    def extract_question_names(self, question: str) -> list[str]:
        """What is written like a name."""
        return questions.extract_names(question)

    def grade_answer(self, question: str, expected: str, answer: str) -> bool:
        """Whether most words of the expected answer are in the answer: a rough measure."""
        wanted, given = count_terms(expected), count_terms(answer)
        shared = sum(token in given for token in wanted)
        return bool(wanted) and shared >= _MIN_SHARED_WORDS * len(wanted)
