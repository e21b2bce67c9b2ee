"""What is told by its change and not by its state: a new landlord, a first day at work, a thing
given for another.

Each is told as the state that it leads to, which the ordinary rules then read like anything else
the person said: "We have a new landlord, Mrs Lindqvist" is "My landlord is Mrs Lindqvist now."
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from memoryhub.engines.local.claims.short_answers import CompletedStatement
from memoryhub.engines.local.grammar.scene import ParsedTurn
from memoryhub.engines.local.grammar.speech import is_question
from memoryhub.engines.local.wordlists import split_words

_LEAD = r"^\W*(?:(?:so|and|oh|well|also|anyway|btw|by the way|hey|ok|okay|plus),? )*"
_HAVE = r"(?:(?:i|we)(?:['’]ve| have)?|ive|weve) (?:just |finally |also )?(?:have|got|found|hired)"
_NAME = r"[A-Z][\w'’-]*(?: [A-Z][\w'’-]*){0,3}"
_ROLES = split_words("""
    boss manager supervisor landlord landlady doctor gp dentist coach teacher tutor trainer
    therapist physio vet hairdresser accountant lawyer cleaner nanny babysitter childminder
    flatmate roommate housemate neighbour neighbor colleague coworker assistant apprentice
    girlfriend boyfriend partner cat dog puppy kitten
""")
_NEW_ROLE = re.compile(
    rf"{_LEAD}(?i:(?:{_HAVE}|(?:i|we)['’]ve|i|we have)) (?i:a new (?P<role>[a-z]+))"
    rf"(?:,| (?i:called|named)|:) (?P<name>(?:(?:Mr|Mrs|Ms|Dr)\.? )?{_NAME})(?=\W|$)",
)
_FIRST_DAY = re.compile(
    rf"{_LEAD}(?:today (?:is|was) |it(?:['’]s| is| was) |had )?(?:my |the )?first day(?: today)? "
    r"(?:(?P<role>as an? [\w -]{2,40}?)|(?P<place>at [\w'’& -]{2,40}?))"
    r"(?: (?:today|done|went\b.*|was\b.*))?\W*$",
    re.I,
)
_SWAPPED = re.compile(
    rf"{_LEAD}(?:i|we)(?:['’]ve| have)? (?:just |finally |also )?(?:swapped|traded|exchanged) "
    r"(?:in )?(?P<whose>my|our|the)(?P<old>(?: [\w'’-]+){1,3}?)(?: in)? for "
    r"(?P<new>(?:an?|the) [\w'’ -]{2,40}?)(?=\W*$|[,.;!] )",
    re.I,
)


def read_changes(turn: ParsedTurn) -> Iterator[CompletedStatement]:
    """The states that the sentences of what a person said lead to, each with where it was said."""
    if turn.utterance.role != "user":
        return
    for offset, span in turn.iter_sentences():
        text = span.text
        if is_question(text):
            continue
        start, end = offset + span.start_char, offset + span.end_char
        if (found := _NEW_ROLE.match(text)) and found["role"] in _ROLES:
            yield CompletedStatement(f"My {found['role']} is {found['name']} now.", start, end)
        elif found := _FIRST_DAY.match(text):
            where = found["role"] or f"working {found['place']}"
            yield CompletedStatement(f"I started {where} today.", start, end)
        elif found := _SWAPPED.match(text):
            # Beside what the sentence itself tells, which is that there was a swap.
            whose = "the" if found["whose"].lower() == "the" else "my"
            at = start + found.start("whose")
            yield CompletedStatement(f"I do not have {whose}{found['old']} any more.", at, end)
            yield CompletedStatement(f"I have {found['new']} now.", at, end)
