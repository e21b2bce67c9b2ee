"""Questions, by rules: routing by signal words, in English and Chinese; shared words for judging,
quotations for answers. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from memoryhub.engines.local.answers.extractive import answer_from_quotes
from memoryhub.engines.local.summarise import count_terms
from memoryhub.engines.types import (
    GroundedAnswer,
    JudgeEntry,
    Judgement,
    Quote,
    RoutedQuestion,
    Utterance,
)

_FINE = re.compile(
    r"\b(?:exact(?:ly)?|verbatim|literally|word for word|(?:his|her|their|my|your) words|quote)\b"
    r"|\bwhat (?:exactly )?did \w+ (?:say|write|reply|answer|tell)\b"
    r"|原话|原文|怎么说的|逐字|说了(?:些)?什么",
    re.I,
)
_ABSTRACT = re.compile(
    r"\b(?:summar\w+|overview|overall|in general|generally|in short|over the (?:years|months|weeks)"
    r"|changed over|what kind of person|sum up|recap)\b|总结|概括|概述|总体|总的来说|大致|这段时间",
    re.I,
)
_EVENT = re.compile(
    r"\b(?:what happened|how did .{1,60} go|tell me about (?:the|that|your|his|her|their|my)"
    r"|story of|what went on)\b|发生了什么|经过|怎么样了|来龙去脉",
    re.I,
)
_MANY = re.compile(
    r"\b(?:all|every|each|list|how many|how often|which \w+s|what \w+s (?:does|do|did|has|have))\b"
    r"|哪些|所有|全部|多少|列出",
    re.I,
)
_COUNTED_NOUN = re.compile(r"\b(\d{1,2}) (?!o'clock|am|pm|years?|days?|months?|weeks?)\w+s\b")
_LIST_COUNT = 15
_QUESTION_WORDS = (
    "who whom whose what when where why which how is are was were do does did has have had can "
    "could will would should may might shall am tell list name give show i please and or but if "
    "the a an in on at for to of my your his her their our"
)
_NOT_NAMES = frozenset(_QUESTION_WORDS.split())
_NAME = re.compile(r"[A-Z][\w'’-]*(?: (?:of |de |van |von |da )?[A-Z][\w'’-]*)*")
_QUOTED = re.compile(r"[\"“「《『]([^\"”」》』]{1,80})[\"”」》』]")


def route_by_words(question: str) -> RoutedQuestion:
    """The question with AMA's intent vector and the number of memories it wants (0: no word)."""
    fine, abstract = bool(_FINE.search(question)), bool(_ABSTRACT.search(question))
    event = bool(_EVENT.search(question))
    return RoutedQuestion(
        query=question,
        fine=fine,
        abstract=abstract,
        event=event,
        atomic=not (fine or abstract or event),
        want=_estimate_count(question),
    )


def _estimate_count(question: str) -> int:
    if counted := _COUNTED_NOUN.search(question):
        return int(counted[1])
    return _LIST_COUNT if _MANY.search(question) else 0


def extract_names(question: str) -> list[str]:
    """Capitalised words that don't just begin the question, and what stands in quotes."""
    named = [_strip_question_words(match[0]) for match in _NAME.finditer(question)]
    quoted = [match[1] for match in _QUOTED.finditer(question)]
    return list(dict.fromkeys(name for name in (*named, *quoted) if name))


def _strip_question_words(run: str) -> str:
    words = re.sub(r"['’]s$", "", run).split()
    while words and words[0].lower() in _NOT_NAMES:
        words.pop(0)
    return " ".join(words)


# Of the expected answer's words, this share has to be in the answer.
_MIN_SHARED_WORDS = 0.6


class RecallRules:
    def answer_question(
        self, question: str, quotes: Sequence[Quote], *, subject: str = ""
    ) -> GroundedAnswer:
        """The best quotes word by word, led by a date where the question asks when."""
        return answer_from_quotes(question, quotes, subject=subject)

    def route_question(self, question: str, window: Sequence[Utterance]) -> RoutedQuestion:
        """What is asked for, by signal words; the question stays as it is."""
        return route_by_words(question)

    def judge_entries(
        self, question: str, entries: Sequence[JudgeEntry], window: Sequence[Utterance] = ()
    ) -> Judgement:
        """Relevant is what shares a word with the question: rough, and never a conflict."""
        asked = count_terms(question)
        relevant = tuple(e.handle for e in entries if not asked or asked & count_terms(e.text))
        return Judgement(relevant, enough=bool(relevant))

    def order_entries(self, question: str, entries: Sequence[JudgeEntry]) -> tuple[str, ...]:
        """As they came: rules have ranked them already."""
        return tuple(entry.handle for entry in entries)

    def extract_question_names(self, question: str) -> list[str]:
        """What is written like a name."""
        return extract_names(question)

    def extract_question_terms(self, question: str) -> list[str]:
        """Its words without stop words."""
        return list(count_terms(question))

    def grade_answer(self, question: str, expected: str, answer: str) -> bool:
        """Whether most words of the expected answer are in the answer: a rough measure."""
        wanted, given = count_terms(expected), count_terms(answer)
        shared = sum(token in given for token in wanted)
        return bool(wanted) and shared >= _MIN_SHARED_WORDS * len(wanted)
