"""Questions, by rules: routing, a score floor for judging, quotations for answers."""

from __future__ import annotations

from collections.abc import Sequence

from memoryhub.engines.local import answers
from memoryhub.engines.types import Answer, Entry, Judgement, Quote, RoutedQuestion, Utterance


class Recalling:
    def answer(self, question: str, quotes: Sequence[Quote], *, subject: str = "") -> Answer:
        """The best quotes word by word, led by a date where the question asks when."""
        return answers.answer(question, quotes)

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
