"""Questions as people type them, asked of the hub after a dialogue."""

from __future__ import annotations

from datetime import datetime

from memoryhub.lab.truth.dialogues import EverydayQuestion, Match, TruthDialogue, is_matching
from memoryhub.lab.truth.measure import TruthScore
from memoryhub.recall.answers import answer_question
from memoryhub.recall.services import search_memories
from memoryhub.tenants.models import Space

EVERYDAY_CHECKS = ("first", "right", "not wrong", "refused")


def ask_dialogue(space: Space, dialogue: TruthDialogue, at: datetime) -> TruthScore:
    """`first`: the right value is in the first result, and none outdated with it; `right`: it is
    in the answer, and nothing outdated is said to hold; `not wrong`: right, or nothing answered;
    `refused`: unknown things of which it is said that they are. Leaves no trace in the space."""
    score = TruthScore()
    for question in dialogue.questions:
        where = f"{dialogue.id} {question.text!r}"
        told = answer_question(space, question.text, now=at, reinforce=False)
        if question.kind == "unknown":
            score.count("refused", told.abstained, f"{where} -> {told.text!r}")
            continue
        found = search_memories(space, question.text, now=at, reinforce=False).items
        first = found[0].text if found else ""
        score.count("first", is_right(question, first), f"{where} -> {first!r}")
        right = not told.abstained and is_right(question, told.text)
        score.count("right", right, f"{where} -> {told.text!r}")
        score.count("not wrong", right or told.abstained, f"{where} -> {told.text!r}")
        if not right and not told.abstained and _is_outdated(question, told.text):
            score.causes["outdated"] += 1
    return score


def is_right(question: EverydayQuestion, text: str) -> bool:
    """The right value is there, and none that is outdated comes before it."""
    if not is_matching(question.right, text):
        return False
    return _find_first(question.outdated, text) >= _find_first(question.right, text)


def _find_first(match: Match, text: str) -> int:
    """Where the first of a match's words stands; behind the text if none does."""
    told = text.casefold()
    places = (told.find(word) for group in match for word in group)
    return min((place for place in places if place >= 0), default=len(told))


def _is_outdated(question: EverydayQuestion, text: str) -> bool:
    return bool(question.outdated) and is_matching(question.outdated, text)
