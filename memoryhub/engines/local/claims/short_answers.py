"""Answers that are no sentences: "What's your job?" – "A nurse."

The question is turned into a first-person statement around the answer; the ordinary rules
then read it like anything else the person said.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from memoryhub.engines.local.claims.asked_after import (
    NO,
    YES,
    has_subject,
    tell_asked_after,
    to_first_person,
)
from memoryhub.engines.local.claims.salience import TELLING_VERBS
from memoryhub.engines.local.grammar.scene import ParsedTurn
from memoryhub.engines.local.grammar.speech import is_question
from memoryhub.engines.local.grammar.verbs import inflect_verb
from memoryhub.engines.local.wordlists import JOBS, PEOPLE, split_words

if TYPE_CHECKING:
    from spacy.tokens import Span, Token

_LEADING_FILLER = re.compile(
    r"^\W*(?:(?:well|oh|hmm|um|just|mostly|mainly|probably|actually)\b[\s,.!-]*)+", re.I
)
# A bare "yes" to a question with one of these says nothing that can be told.
_VAGUE_WORDS = split_words("""
    it that this they them you me your yours advice tip tips idea ideas plan plans thoughts else
    suggestion suggestions question questions doubt news luck chance reason preference preferences
    change changes requests request
""")
_APPROXIMATELY = re.compile(
    r"^(?:(?:about|around|roughly|maybe|like|some|almost|nearly) )+(?=\w)", re.I
)
_SUBJECTS = ("nsubj", "nsubjpass")
_WH_TAGS = ("WP", "WRB", "WDT", "WP$")
# Tokens of an answer, of one to what is asked after, and of a mere yes or no.
_MAX_TOKENS, _MAX_TOKENS_OF_NEWS, _MOST_OF_YES = 14, 24, 4
_DIVIDERS = (",", ";", "-", "–", "—")
_FACES = re.compile(r"[:;=]['’-]?[()DPp/|\[\]]+|<3|\b(?:lol|ha(?:ha)+h?|x{2,})\b", re.I)
# What tells when, where or whom beside what is asked, and is not what is asked.
_BESIDE = re.compile(
    r"(?:in|on|at|to|from|since|for|with|by|last|this|next|yesterday|today|tomorrow|before|after"
    r"|until|till|near|about a|(?:a|an|\w+) (?:few )?(?:days?|weeks?|months?|years?) ago)\b",
    re.I,
)
_NAMED_IS = re.compile(r"[A-Z][\w-]+['’]s ")  # "How is the crew?" – "Belle's fine"
_BEHIND_ANY = split_words("i to you we so at these")  # "Any allergies I should note?"
_THE_SAME = re.compile(r"(?:the |all )?same\b", re.I)
_ENDS_SENTENCE = re.compile(r"(?<!\bMr)(?<!\bMrs)(?<!\bMs)(?<!\bDr)[.!?…]\s+|\n+")


class CompletedStatement(NamedTuple):
    """A statement by the answering speaker, and the characters of the answer in the turn.

    `denied`: the speaker says that they never said it; `over`: it tells that something is over.
    """

    text: str
    start: int
    end: int
    denied: bool = False
    over: bool = False


def complete_answer(question: ParsedTurn, answer: ParsedTurn) -> list[CompletedStatement]:
    """The statements that a short answer makes; none where it cannot be told."""
    asked = find_last_question(question)
    said = [*islice(answer.iter_sentences(), 2)]
    if asked is None or not said or is_question(said[0][1].text):
        return []
    text, typed = _find_last_sentence(question.utterance.text), answer.utterance.text
    if told := _complete_asked_after(text, typed, *said[0]):
        goes_on = len(said) > 1 and len(said[0][1]) <= _MOST_OF_YES
        return told + (_complete_asked_after(text, typed, *said[1]) if goes_on else [])
    return _complete_value(asked, typed, *said[0])


def _complete_asked_after(
    asked: str, typed: str, offset: int, answer: Span
) -> list[CompletedStatement]:
    """`typed`: all of the answer in its own spelling, which the parse writes out."""
    if len(answer) > _MAX_TOKENS_OF_NEWS or is_question(answer.text):
        return []
    start = offset + answer.start_char
    told = tell_asked_after(asked, answer, typed[start : offset + answer.end_char])
    return [CompletedStatement(t.text, start + t.start, start + t.end, over=t.over) for t in told]


def _complete_value(asked: Span, typed: str, offset: int, answer: Span) -> list[CompletedStatement]:
    """What is given where a question leaves a place for it, or asks whether something is so."""
    start, end = offset + answer.start_char, offset + answer.end_char
    if len(answer) > _MAX_TOKENS:
        return []
    if told := _tell_asked_thing(asked, answer):
        text, length = told
        return [CompletedStatement(text, start, min(end, start + length))]
    value, clause = _part_clause(answer)
    fragment, yes = _extract_fragment(value)
    again = fragment.lower() == asked.root.lower_  # "Have you left?" – "left"
    if fragment and _is_sentence(value) and not again:
        return []
    fragment, yes = ("", True) if again else (fragment, yes)
    text = _tell_any(asked, fragment) if yes is None else ""
    text = text or _build_statement(asked, fragment, yes)
    if not text:
        return []
    if clause is None:
        return [CompletedStatement(text, start, end)]
    beside = offset + clause.start_char
    return [
        CompletedStatement(text, start, beside),
        CompletedStatement(f"{typed[beside:end].strip(' .!')}.", beside, end),
    ]


def _part_clause(answer: Span) -> tuple[Span, Span | None]:
    """What is answered, and a clause told beside it: "a Polo, the Micra died"."""
    at = next((t.i - answer.start for t in answer if t.text in _DIVIDERS), 0)
    if not at or at + 2 >= len(answer) or any(t.pos_ in ("VERB", "AUX") for t in answer[:at]):
        return answer, None
    value, clause = answer[:at], answer[at + 1 :]
    if YES.fullmatch(value.text) or NO.fullmatch(value.text):
        return answer, None
    subjects = [t for t in clause if t.dep_ in _SUBJECTS]
    if not subjects or subjects[0].pos_ == "PRON":  # "a flat in Hove, but it has a garden"
        return answer, None
    return value, clause


def find_last_question(turn: ParsedTurn) -> Span | None:
    spans = [span for _, span in turn.iter_sentences() if is_question(span.text)]
    return spans[-1] if spans else None


def _find_last_sentence(text: str) -> str:
    return _ENDS_SENTENCE.split(text.strip())[-1]


def _is_sentence(span: Span) -> bool:
    """It has a verb of its own, or is no answer at all ("Thanks")."""
    said = [t for t in span if not t.is_punct and t.pos_ != "INTJ"]
    thanks = any(t.lemma_.lower() in ("thank", "thanks") for t in span)
    if _LEADING_FILLER.match(span.text) and span.root.tag_ == "VB" and not has_subject(span):
        return False  # "mostly rye bread" orders nobody to rye
    return thanks or not said or any(t.pos_ in ("VERB", "AUX") for t in said)


def _extract_fragment(span: Span) -> tuple[str, bool | None]:
    """What is answered besides yes (True), no (False) or neither (None)."""
    text = span.text.strip()
    text = text if len(span) and span[0].pos_ == "PROPN" else text[:1].lower() + text[1:]
    yes = True if YES.match(text) else False if NO.match(text) else None
    for lead in (YES, NO, _LEADING_FILLER):
        text = lead.sub("", text)
    return _FACES.sub("", text).strip(" .!,…"), yes


def _build_statement(asked: Span, fragment: str, yes: bool | None) -> str:
    root = asked.root
    if any(t.lower_ in ("or", "not", "n't", "if") for t in asked):
        return ""
    wh = next((t for t in asked if t.tag_ in _WH_TAGS), None)
    if (wh is not None and wh.i < root.i) or (root.lemma_ == "be" and wh is not None):
        return _complete_open_question(asked, wh, fragment) if fragment else ""
    return _complete_closed_question(root, fragment, yes)


def _tell_any(asked: Span, fragment: str) -> str:
    """("Any certificates?", "TIG and MAG") → "My certificates are TIG and MAG."."""
    words = [t for t in asked if not t.is_punct]
    if len(words) < 2 or words[0].lower_ != "any" or not fragment:
        return ""
    if len(words) > 2 and words[2].lower_ not in _BEHIND_ANY:
        return ""
    if re.match(r"(?:none|nothing|nope|no|not|never|just|n/a)\b", fragment, re.I):
        return ""
    thing = words[1]
    if thing.lower_ in _VAGUE_WORDS or thing.tag_ not in ("NN", "NNS"):
        return ""
    if thing.lemma_.lower() in ("medication", "medicine", "med", "tablet"):
        return f"I take {fragment}."
    if thing.lemma_.lower() == "allergy":
        return f"I am allergic to {re.sub('^only ', '', fragment)}."
    return f"My {thing.lower_} {'are' if thing.tag_ == 'NNS' else 'is'} {fragment}."


def _tell_asked_thing(asked: Span, answer: Span) -> tuple[str, int] | None:
    """What is given to whoever asks whether to take it: ("A line about your mum?", "yes, Sheila")
    → "My mum is Sheila.", and how many characters of the answer tell it; or None."""
    wh = any(t.tag_ in _WH_TAGS for t in asked)
    thing = next((t for t in reversed([*asked]) if t.tag_ == "NN" and _is_asked_thing(t)), None)
    if wh or thing is None or NO.match(answer.text):
        return None
    text, begin = answer.text, 0
    for lead in (YES, _LEADING_FILLER):
        if match := lead.match(text, begin) if begin == 0 else lead.match(text[begin:]):
            begin += match.end()
    role = _find_role(thing)
    rest = text[begin:]
    if role and rest.lower().startswith(f"{role} "):  # "coach Rena"
        begin, rest = begin + len(role) + 1, rest[len(role) + 1 :]
    first = next((t for t in answer if t.idx - answer[0].idx >= begin and not t.is_punct), None)
    if first is None:
        return None
    value = (_NAME_GIVEN if role or thing.lower_ == "name" else _VALUE_GIVEN).match(rest)
    named = first.pos_ == "PROPN" or first.text.rstrip(".").lower() in _TITLES
    if value is None or ((role or thing.lower_ == "name") and not named):
        return None
    told = re.sub(r"^(?:The|An?)\b", lambda match: match[0].lower(), value["value"])
    called = "date of birth" if thing.lower_ == "birth" else role or _format_noun_phrase(thing)
    return f"My {called} is {told}.", begin + value.end("value")


_TITLES = split_words("mr mrs ms miss dr prof")
_NAME_GIVEN = re.compile(
    r"(?P<value>(?:(?:Mr|Mrs|Ms|Miss|Dr|Prof)\.? )?[A-Z][\w'’-]+(?: [A-Z][\w'’-]+){0,2})"
    r"(?=\W*$|[,.;!])"
)
_VALUE_GIVEN = re.compile(r"(?P<value>[^;!?]*[\d@][^;!?]*?)(?=\W*$|[;!])")
_GIVEN_THINGS = split_words("""
    name surname username number email address birthday birth age budget postcode height weight
""")


def _find_role(thing: Token) -> str:
    """The role of the one it names: "coach" of "your coach", "doctor" of "the doctor's name"."""
    owner = next((c for c in thing.children if c.dep_ == "poss" and c.pos_ == "NOUN"), None)
    somebody = owner if owner is not None and thing.lower_ == "name" else thing
    return somebody.lower_ if somebody.lower_ in PEOPLE | JOBS else ""


def _is_asked_thing(token: Token) -> bool:
    """Somebody or something of theirs that a question asks for: "your mum", "the doctor's name"."""
    if _find_role(token) and token.lower_ == "name":
        return True
    given = token.lower_ in _GIVEN_THINGS or token.lower_ in PEOPLE | JOBS
    held = token.head.head if token.dep_ == "pobj" and token.head.lower_ == "of" else token
    return given and (_is_yours(token) or _is_yours(held))


def _complete_open_question(asked: Span, wh: Token, fragment: str) -> str:
    root = asked.root
    if wh.lower_ in ("why", "whose") or root.lemma_ in TELLING_VERBS:
        return ""  # "what did the vet say?"
    if wh.lower_ == "who" and wh.dep_ == "nsubj" and wh.head == root and root.lemma_ != "be":
        return _complete_who(root, fragment)
    if _THE_SAME.match(fragment):
        return ""  # nothing is told of it
    if wh.lower_ == "how" and _NAMED_IS.match(fragment):
        return ""
    subject = next((t for t in root.children if t.dep_ in _SUBJECTS and t != wh), None)
    yours = subject is not None and subject.lower_ == "you"
    if wh.lower_ == "how" and (yours or wh.head.lower_ == "old"):
        told = _complete_how_question(asked, wh, fragment)
        if told or wh.head != root:
            return told
    topic = next((t for t in root.children if t.dep_ in ("nsubj", "attr") and _is_yours(t)), None)
    if root.lemma_ == "be" and topic is not None:
        being = "are" if topic.tag_ == "NNS" else "is"
        return f"My {_format_noun_phrase(topic)} {being} {_add_preposition(wh, root, fragment)}."
    if subject is None or yours:
        return _complete_with_verb(root, wh, fragment)
    return _complete_about_other(root, subject, wh, fragment)


def _complete_who(root: Token, fragment: str) -> str:
    """("Who picks up Tim these days?", "My mum.") → "My mum picks up Tim."."""
    rest = [t for t in root.subtree if t.i > root.i and not t.is_punct]
    if root.lemma_ in ("want", "know", "care", "say") or any(
        t.lower_ in _VAGUE_WORDS - {"you", "your", "me"} for t in rest
    ):
        return ""
    tail = " ".join(to_first_person(t.text) for t in _drop_now(rest))
    return f"{fragment[:1].upper()}{fragment[1:]} {root.text} {tail}".strip() + "."


def _drop_now(words: Sequence[Token]) -> list[Token]:
    return [
        t
        for t in words
        if t.lower_ not in ("these", "days", "now", "currently") and t.norm_ != "anyway"
    ]


def _complete_about_other(root: Token, subject: Token, wh: Token, fragment: str) -> str:
    """("When does practice start?", "Six.") → "Practice starts six"."""
    inside = {t.i for t in subject.subtree}
    # Whom what was said before may tell, where one thing is asked.
    once = sum(t.tag_ in _WH_TAGS for t in root.sent) == 1
    somebody = subject.lower_ in ("he", "she") and once
    if (subject.pos_ == "PRON" and not somebody) or wh.i in inside:
        return ""
    named = [*subject.subtree]
    if stranded := named[-1].tag_ == "IN":  # "Who is the appointment with?"
        fragment = f"{named.pop().text} {fragment}"
    who = " ".join(to_first_person(t.text) for t in named)
    rest = [t for t in root.subtree if t.i > root.i and not t.is_punct and t.i not in inside]
    tail = " ".join(to_first_person(t.text) for t in rest if t.i != wh.i)
    place = fragment if stranded else _add_preposition(wh, root, fragment)
    if root.lemma_ == "be":
        return f"{who} {'are' if root.lower_ == 'are' else 'is'} {place} {tail}".strip() + "."
    return f"{who} {_inflect_for_other(root)} {tail} {place}".replace("  ", " ") + "."


def _inflect_for_other(root: Token) -> str:
    aided = [t.lower_ for t in root.children if t.dep_ in ("aux", "auxpass")]
    if "did" in aided:
        return inflect_verb(root.lemma_, "VBD")
    if "does" in aided:
        return inflect_verb(root.lemma_, "VBZ")
    return " ".join([*(word for word in aided if word != "do"), root.text])


def _complete_how_question(asked: Span, wh: Token, fragment: str) -> str:
    head = wh.head
    if head.lower_ == "old" and any(t.lower_ == "you" for t in asked):
        number = re.search(r"\d+|\w+", fragment)
        return f"I am {number.group()} years old." if number else ""
    subject = next((t for t in asked.root.children if t.dep_ in _SUBJECTS), None)
    if head.lower_ == "old" and subject is not None:
        number = re.match(r"(?:about |around |nearly )?(?:\d+|\w+)(?= and a half)?", fragment)
        who = " ".join(to_first_person(t.text) for t in subject.subtree)
        ages = number and re.fullmatch(r"(?:.* )?(?:\d+|[a-z]+)", number[0])
        return f"{who[:1].upper()}{who[1:]} is {number[0]} years old." if number and ages else ""
    if head.lower_ != "many" or not any(t.lower_ == "you" for t in asked.root.children):
        return ""
    thing = head.head.text if head.dep_ == "amod" else ""
    verb = inflect_verb(asked.root.lemma_, "VBD") if _is_past(asked.root) else asked.root.lemma_
    amount = _APPROXIMATELY.sub("", fragment).split()[0]
    return f"I {verb} {amount} {thing}." if thing else ""


def _complete_with_verb(root: Token, wh: Token, fragment: str) -> str:
    subject = next((t for t in root.children if t.dep_ == "nsubj"), None)
    if subject is None or subject.lower_ != "you" or root.lemma_ == "do":
        return f"My job is {fragment}." if _asks_for_job(root) else ""
    rest = [t for t in root.subtree if t.i > root.i and not t.is_punct]
    rest = _drop_now(rest)
    if rest and rest[-1].lower_ == fragment.split()[0].lower():  # "move to?" – "To Oslo."
        rest.pop()
    rest = [t for t in rest if t.i != wh.i]
    place = _add_preposition(wh, root, fragment)
    at = _find_place_asked_for(wh, rest)
    words = [to_first_person(t.text) for t in rest]
    told = " ".join([*words[:at], place, *words[at:]])
    return f"I {_inflect_question_verb(root)} {told}."


def _find_place_asked_for(wh: Token, rest: Sequence[Token]) -> int:
    """Behind how many of these words stands what is asked for: the word that waits for it ("Who do
    you live with in Pune?"), or the verb with its particle ("What do you eat for breakfast?")."""
    if wh.lower_ not in ("who", "what", "which"):
        return len(rest)
    for at, token in enumerate(rest, 1):
        if token.dep_ == "prep" and not _has_object(token):
            return at
    if "dobj" in (wh.dep_, wh.head.dep_):
        return sum(token.dep_ == "prt" for token in rest[:1])
    return len(rest)


def _has_object(prep: Token) -> bool:
    """Behind it, and not asked for before it."""
    return any(child.dep_ in ("pobj", "pcomp") and child.i > prep.i for child in prep.children)


def _asks_for_job(root: Token) -> bool:
    text = root.sent.text.lower()
    return bool(re.search(r"for a living|for work|what do you do\W*$", text))


def _complete_closed_question(root: Token, fragment: str, yes: bool | None) -> str:
    subject = next((t for t in root.children if t.dep_ in _SUBJECTS), None)
    if subject is None or yes is None or root.lemma_ in ("know", "mean"):
        return ""
    if subject.lower_ == "you" and root.lemma_ == "want":
        return ""  # what is offered: "Do you want the lyrics too?"
    if subject.lower_ != "you":
        return _confirm_about_other(root, subject) if yes else ""
    thing = next((t for t in root.children if t.dep_ in ("dobj", "attr")), None)
    beside = _BESIDE.match(fragment) is not None
    given = thing is not None and fragment and not beside
    inside = {t.i for t in thing.subtree} if thing is not None and given else set()
    rest = [t for t in root.subtree if t.i > root.i and not t.is_punct and t.i not in inside]
    tail = " ".join(to_first_person(t.text) for t in rest if t.lower_ not in ("any", "ever", "yet"))
    if any(t.lower_ in _VAGUE_WORDS for t in rest):
        return ""
    verb = _inflect_question_verb(root) if yes else _negate_verb(root)
    extra = _replace_one(fragment, thing) if thing is not None and given else ""
    after = fragment if beside and yes else ""
    return " ".join(f"I {verb} {extra} {tail} {after}".split()) + "."


def _confirm_about_other(root: Token, subject: Token) -> str:
    """("Is Rex a whippet?", "Yes.") → "Rex is a whippet."."""
    inside = {t.i for t in subject.subtree}
    rest = [t for t in root.subtree if t.i > root.i and not t.is_punct and t.i not in inside]
    if subject.pos_ == "PRON" or not rest or any(t.lower_ in _VAGUE_WORDS for t in rest):
        return ""
    who = " ".join(to_first_person(t.text) for t in subject.subtree)
    tail = " ".join(to_first_person(t.text) for t in rest if t.lower_ not in ("any", "ever", "yet"))
    verb = root.lower_ if root.lemma_ == "be" else _inflect_for_other(root)
    return f"{who} {verb} {tail}."


def _replace_one(fragment: str, thing: Token) -> str:
    """("a small one in Kent", studio) → "a small studio in Kent"."""
    return re.sub(r"\bone\b(?! of)", thing.text, fragment, count=1)


def _inflect_question_verb(root: Token) -> str:
    aided = {t.lower_ for t in root.children if t.dep_ in ("aux", "auxpass")}
    if root.lemma_ == "be" and not aided & {"have", "has"}:
        return "was" if root.lower_ == "were" else "am"
    if aided & {"have", "has"} and root.lemma_ == "be":
        return "have been"
    if aided & {"have", "has"}:
        return f"have {inflect_verb(root.lemma_, 'VBN')}"
    if aided & {"are", "'re"}:
        return f"am {root.text}"
    return inflect_verb(root.lemma_, "VBD") if _is_past(root) else root.lemma_


def _negate_verb(root: Token) -> str:
    verb = _inflect_question_verb(root)
    if verb.startswith(("am", "have ", "was")):
        first, _, rest = verb.partition(" ")
        return f"{first} not {rest}".strip()
    return f"{'did' if _is_past(root) else 'do'} not {root.lemma_}"


def _is_past(root: Token) -> bool:
    return any(t.lower_ == "did" for t in root.children)


def _is_yours(token: Token) -> bool:
    return any(c.lower_ == "your" for c in token.children)


def _format_noun_phrase(token: Token) -> str:
    return " ".join(t.text for t in token.lefts if t.lower_ != "your") + f" {token.text}".rstrip()


def _add_preposition(wh: Token, root: Token, fragment: str) -> str:
    bare = re.match(r"(?:in|at|on|to|from|near|by|the \w+ of)\b", fragment, re.I) is None
    if wh.lower_ != "where" or not bare:
        return fragment
    if any(t.dep_ == "prep" and not list(t.children) for t in root.children):
        return fragment
    return f"{'to' if root.lemma_ in ('go', 'move', 'travel') else 'in'} {fragment}"
