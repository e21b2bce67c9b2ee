"""Questions, by rules: routing, shared words for judging, quotations for answers."""

from __future__ import annotations

from collections.abc import Sequence

from memoryhub.engines.local import answers, questions
from memoryhub.engines.local.summaries import tokens_of
from memoryhub.engines.types import Answer, Entry, Judgement, Quote, RoutedQuestion, Utterance

# Of the expected answer's words, this share has to be in the answer.
_GRADED = 0.6


class Recalling:
    def answer(self, question: str, quotes: Sequence[Quote], *, subject: str = "") -> Answer:
        """The best quotes word by word, led by a date where the question asks when."""
        return answers.answer(question, quotes, subject=subject)

    def route(self, question: str, window: Sequence[Utterance]) -> RoutedQuestion:
        """What is asked for, by signal words; the question stays as it is."""
        return questions.routed(question)

    def judge(
        self, question: str, entries: Sequence[Entry], window: Sequence[Utterance] = ()
    ) -> Judgement:
        """Relevant is what shares a word with the question: rough, and never a conflict."""
        asked = tokens_of(question)
        relevant = tuple(e.handle for e in entries if not asked or asked & tokens_of(e.text))
        return Judgement(relevant, enough=bool(relevant))

    def query_entities(self, question: str) -> list[str]:
        """What is written like a name."""
        return questions.names_in(question)

    def grade(self, question: str, expected: str, answer: str) -> bool:
        """Whether most words of the expected answer are in the answer: a rough measure."""
        wanted, given = tokens_of(expected), tokens_of(answer)
        shared = sum(token in given for token in wanted)
        return bool(wanted) and shared >= _GRADED * len(wanted)
