"""What a short answer tells of something that is asked after.

"Still at Pulse?", "Does Duarte still do your taxes?", "What happened to the van?": whether it is
still so, and what became of it. These are asked in a few forms, which are read by their words,
since a parse goes astray in what leaves out its verb.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Literal, NamedTuple

from memoryhub.engines.local.grammar.verbs import (
    inflect_verb,
    is_dictionary_word,
    is_past_form,
)
from memoryhub.engines.local.wordlists import split_words

if TYPE_CHECKING:
    from spacy.tokens import Span, Token

_Verb = Literal["be", "do", "have got"]

# "omg no", "haha nope", "sadly not": what is called out before a yes or a no.
_CALLS = (
    r"(?:(?:oh|ooh|wow|omg|omfg|ha(?:ha)*|lol|lmao|god|hell|ugh|well|umm*|err*|hmm*|ok|okay|christ"
    r"|jesus|heavens|goodness|sadly|actually|unfortunately|alas|honestly|tbh|i['’]?m afraid)\b"
    r"[\s,.!…-]*)*"
)
YES = re.compile(
    rf"^\W*{_CALLS}(?:yes|yeah|yep|yup|yea|ya|aye|sure|of course|indeed|absolutely|definitely|i do"
    r"|i did|i am|i have|always|afraid so)\b[\s,.!-]*",
    re.I,
)
NO = re.compile(
    rf"^\W*{_CALLS}(?:no+(?! (?:idea|clue|problem|worries|one|doubt|thanks?|need|news|change"
    r"|wait)\b)|nope|na+h+|not really|(?<=\bafraid )not)\b[\s,.!-]*",
    re.I,
)
# It was so, and is no longer: "not any more", "nope, no longer".
_NO_MORE = re.compile(
    rf"^\W*{_CALLS}(?:(?:no|nope|nah)\b[\s,.!-]*)?(?:not any ?more|no longer|no more"
    r"|not (?:since|for) [^,.;!?]+|not now)(?:\b|$)[\s,.!-]*",
    re.I,
)
# What somebody does to what they have or do, and it is over.
_OVER = re.compile(
    rf"^\W*{_CALLS}(?:(?P<we>we)(?:['’]?ve| have| had)? |i(?:['’]?ve| have| had)? )?"
    r"(?:(?:just|finally|recently|already) )*"
    r"(?:(?P<verb>quit|left|sold|cancell?ed|stopped|dropped|ditched|binned|finished|lost|swapped"
    r"|came off|got rid of)(?: (?P<what>it|them|that|mine)\b)?"
    r"|(?P<phrasal>gave|chucked|packed|jacked|called)(?: (?P<object>it|them|that|mine))?"
    r" (?P<away>up|in|away|off))\b(?P<rest>.*)$",
    re.I,
)
# Nothing else that was given up is named behind it.
_NAMES_NOTHING = re.compile(
    r"^\W*(?:$|(?:in|on|at|by|before|after|last|this|since|around|about|when|because|cos|ages|years"
    r"|months|weeks|days|yesterday|today|for|to|over|and|but|a (?:while|week|month|year)"
    r"|(?:\w+ )?(?:weeks?|months?|years?|days?) ago)\b|[,;(-])",
    re.I,
)
# What is over by itself: "split up", "fell through", "died in May".
_ENDED = re.compile(
    r"^\W*(?P<told>(?:split(?: up)?|broke up|folded|closed(?: down)?|shut(?: down)?|died"
    r"|fell through|came off|wound up|ended|healed|retired|was (?:cancelled|sold|stolen)"
    r"|got (?:cancelled|stolen|sold|written off)"
    r"|(?P<state>over|gone|finished|done|cancelled|called off|dead|off))\b(?P<rest>.*))$",
    re.I,
)
_AND = re.compile(r"\W*(?:(?:and|but|so|because|cos|cause|as) )?", re.I)
# What somebody does next, told in one with it: "sold it, got a Yaris".
_GOES_ON = re.compile(
    r"(?:,| and)(?: (?:and|so|but|now|then))* (?P<told>(?:(?:i|we)(?:['’]\w+)? |got |bought |moved"
    r" |switched |joined |started ).+)$",
    re.I,
)
_RENAMED = re.compile(r"(?:it(?:['’]?s| is)|that['’]?s) (?P<value>(?!not\b)\S.*)$", re.I)
_UP_TO_PREPOSITION = re.compile(r"(?:\w+ )??(?:at|in|on|with|under|near|for|from|to) (?=\S)")
# What may be told in place of another: a number, a name, a thing.
_KINDS = {
    "number": re.compile(r"[£$€]?\d"),
    "name": re.compile(r"[A-Z]"),
    "thing": re.compile(r"(?:the|an?|my) \w"),
}
_NAME = r"(?:(?:Mr|Mrs|Ms|Dr)\.? )?[A-Z][\w'’-]*(?: [A-Z][\w'’-]*)*(?:['’]s [a-z]+)?"
_NEW_NAME = re.compile(rf"{_NAME}(?=\W*$| (?i:now|since|from|these days|as of|instead)\b)")
_SOMEBODY = rf"(?P<who>you|u|(?i:your|the) [\w'’-]+(?: [\w'’-]+){{0,2}}?|{_NAME}|he|she|it|they)"
_LEAD = rf"^\W*(?i:(?:and|so|but|is it true)\W+)*(?:(?P<topic>(?i:your|the) [\w'’ -]+?|{_NAME}), )?"
_STILL = r"(?: (?P<still>still))?"
_FORMS: dict[str, _Verb] = {
    rf"(?P<being>(?i:is|are)) {_SOMEBODY}{_STILL} (?P<what>[^?]+)": "be",
    rf"(?i:do|does) {_SOMEBODY}{_STILL} (?P<what>[^?]+)": "do",
    rf"(?i:have|has) {_SOMEBODY}{_STILL} got (?P<what>[^?]+)": "have got",
    r"(?i:(?:are )?(?P<who>you|u)(?:['’]re)?) (?P<still>still) (?P<what>[^?]+)": "be",
    r"(?P<still>(?i:still)) (?P<what>[^?]+)": "be",
}
_STATES = [(re.compile(rf"{_LEAD}{form}\W*$"), verb) for form, verb in _FORMS.items()]
_TOPIC = re.compile(
    _LEAD + r"(?i:how(?:['’]s|s| is| are)|what about|what(?:ever)? happened (?:to|with)"
    r"|any news (?:on|of|about)|what(?:['’]s| is) (?:up|happening|going on) with)"
    rf" (?P<thing>(?i:your|the) [\w'’ -]+?|{_NAME})"
    r"(?: (?i:going|doing|getting on|these days|now|coming along|treating you|working out))*\W*$"
)
_PREPOSITIONS = split_words("at in on with off under near by for from into")
# What somebody may be without an article: "Still vegan?".
_STATES_OF_ONE = split_words("""
    single married engaged vegan vegetarian veggie pregnant sober unemployed retired separated
    freelance self-employed homeless coeliac celiac pescatarian teetotal
""")
# Of the weather or a pain, or too vague to be told: "Still raining?", "Are you still going?".
_NOT_TOLD = split_words("""
    raining snowing hurting aching happening coming waiting there here it this that around up down
    awake interested unsure stuck
""")
_UNSURE = re.compile(
    r"\b(?:or|not|never|if|who|what|which|when|where|why|how|it|this|that|them|these|those"
    r"|there|want to|like me to)\b|n['’]t\b",
    re.I,
)
_YOURS = {"you": "me", "your": "my", "yours": "mine", "u": "me", "ur": "my"}


class _AskedState(NamedTuple):
    """What was so when it was told last: who ("I", "my boss"), and what they are, do or have."""

    who: str
    verb: _Verb
    what: str
    being: str = "is"
    still: bool = True

    def affirm(self) -> str:
        return f"{self.who} {self._format_verb()}"

    def end(self) -> str:
        return f"{self.who} {self._format_verb('not')} any more"

    def _format_verb(self, negation: str = "") -> str:
        own, plural = self.who == "I", self.being == "are"
        if self.verb == "be":
            return " ".join(filter(None, ("am" if own else self.being, negation, self.what)))
        if self.verb == "have got" and not negation:
            return f"{'have' if own or plural else 'has'} got {self.what}"
        doing = f"have {self.what}" if self.verb == "have got" else self.what
        if negation:
            return f"{'do' if own or plural else 'does'} not {doing}"
        first, _, rest = doing.partition(" ")
        return f"{first if own or plural else inflect_verb(first, 'VBZ')} {rest}".strip()

    def split_value(self) -> tuple[str, str]:
        """What stands before the thing that it is about, and that thing: ("am at", "Pulse"),
        ("drive", "the Micra")."""
        verb, _, rest = self.affirm().removeprefix(f"{self.who} ").partition(" ")
        found = _UP_TO_PREPOSITION.match(rest)
        if found is None and (self.verb == "do" or rest.split()[0].endswith("ing")):
            doing = rest.split()[0] if self.verb == "be" else ""
            return f"{verb} {doing}".strip(), rest.removeprefix(doing).strip()
        before = found[0].strip() if found else "got" if self.verb == "have got" else ""
        return f"{verb} {before}".strip(), rest.removeprefix(before).strip()

    def name_thing(self) -> str:
        """The thing that it is about: "Pulse" of "at Pulse", "" of "am vegan"."""
        before, thing = self.split_value()
        return "" if before in ("am", "is", "are") else thing

    def name_habit(self) -> str:
        """What is done, as a noun: "smoking", "living on campus"; "" of what is not done."""
        first, _, rest = self.what.partition(" ")
        if self.verb == "do" and first != "have":
            return f"{inflect_verb(first, 'VBG')} {rest}".strip()
        return self.what if first.endswith("ing") else ""


class Told(NamedTuple):
    """A statement in the first person, the characters of the answer that make it, and whether it
    tells that something is over."""

    text: str
    start: int
    end: int
    over: bool = False


def tell_asked_after(asked: str, answer: Span, typed: str) -> list[Told]:
    """The statements that an answer, `typed` so, makes of what is asked after; none where it asks
    or tells nothing such."""
    text = typed.rstrip()
    parted = _GOES_ON.search(text)
    first = text[: parted.start()] if parted else text
    if state := _read_state(asked):
        told = _tell_state(state, answer, first)
    else:
        topic = _TOPIC.match(asked)
        named = topic and not _UNSURE.search(topic["thing"])
        thing = to_first_person(topic["thing"]) if topic and named else ""
        told = [Told(_tell_topic(thing, first), 0, len(first), over=True)] if thing else []
    told = [each for each in told if each.text]
    if told and parted:
        so_on = parted["told"]
        own = so_on if re.match(r"(?:i|we)\b", so_on, re.I) else f"I {so_on}"
        told.append(Told(f"{own.rstrip(' .!')}.", parted.start("told"), len(text)))
    return told


def _read_state(asked: str) -> _AskedState | None:
    found, verb = next(
        ((match, verb) for pattern, verb in _STATES if (match := pattern.match(asked.strip()))),
        (None, None),
    )
    if found is None or verb is None:
        return None
    groups = found.groupdict()
    what = re.sub(r" (?:these days|at the moment|now|then|too)$", "", groups["what"].strip())
    what = re.sub(r"^(on )?any ", r"\1", what)
    words = what.lower().split()
    if not words or words[0] in _NOT_TOLD or _UNSURE.search(what) or "," in what:
        return None
    being = groups.get("being")
    if verb == "be" and being is None:  # the verb is left out, or "are" is
        if words[0] in ("got", "have"):
            verb, what = "have got", what.partition(" ")[2]
        elif not _may_stand_bare(words):
            return None
    who = groups.get("who") or "you"
    if who.lower() in ("he", "she", "it", "they"):
        who = groups.get("topic") or ""
    if not who or not what or what.lower() in ("going", "working on"):
        return None
    who = "I" if who.lower() in ("you", "u") else to_first_person(who)
    if who == "I" and verb == "do" and words[0] in ("want", "need", "mean", "know", "think"):
        return None  # what is offered, or thought
    still = bool(groups.get("still"))
    return _AskedState(who, verb, to_first_person(what), (being or "is").lower(), still)


def _may_stand_bare(words: list[str]) -> bool:
    """Whether words behind a mere "still" tell what somebody is: "at Pulse", "living in Hove"."""
    return words[0].endswith("ing") or words[0] in _PREPOSITIONS or words[0] in _STATES_OF_ONE


def _tell_state(state: _AskedState, answer: Span, text: str) -> list[Told]:
    over = _NO_MORE.match(text) or (NO.match(text) if state.still else None)
    stance = over or (YES.match(text) if state.still else None)
    if stance is None:
        return _tell_news(state, answer, text, 0) if state.still else []
    told = f"{state.end() if over else state.affirm()}."
    lead = _AND.match(text, stance.end())
    begins = lead.end() if lead else stance.end()
    beside = text[begins:].strip(" .!…,")
    if not re.search(r"\w", beside):
        return [Told(told, 0, len(text), over is not None)]
    news = _tell_news(state, answer, beside, begins) if over else []
    if news and news[0].over:
        return [news[0]._replace(start=0)]
    said = _list_words(answer, begins)
    if not news and has_subject(said):
        news = [Told(f"{_name_object(state, _name_subject(state, beside))}.", begins, len(text))]
    elif not news and said and said[0].pos_ in ("VERB", "AUX") and is_past_form(said[0].text):
        news = [Told(f"{state.who} {_name_object(state, beside)}.", begins, len(text))]
    if not news:
        return [Told(f"{told[:-1]}, {beside}.", 0, len(text), over is not None)]
    return [Told(told, 0, stance.end(), over is not None), *news]


def _list_words(answer: Span, begins: int) -> list[Token]:
    """The words of an answer from a character of it on."""
    first = answer[0].idx + begins
    return [token for token in answer if token.idx >= first and not token.is_punct]


def has_subject(words: Iterable[Token]) -> bool:
    """Whether somebody or something is said to do or be something there."""
    return any(token.dep_ in ("nsubj", "nsubjpass", "expl") for token in words)


def _tell_news(state: _AskedState, answer: Span, text: str, at: int) -> list[Told]:
    """What took its place, or that it was given up; nothing where neither is told."""
    role = state.what if state.what.startswith(("my ", "the ")) else state.who
    if (renamed := _RENAMED.match(text)) and state.verb == "be" and role != "I":
        told, over = f"{role} {state.being} {renamed['value']}.", False
    elif told := _tell_given_up(state, text):
        over = True
    elif role.startswith("my ") and re.match(_NAME, state.who) and _NEW_NAME.match(text):
        told, over = f"{role} is {text.strip(' .!')}.", False  # "Is Karen still your manager?"
    else:
        subject = has_subject(_list_words(answer, at))
        told, over = "" if subject else _tell_value(state, text), False
    told = f"{told[:1].upper()}{told[1:]}"
    return [Told(told, at, at + len(text), over)] if told else []


def _name_subject(state: _AskedState, told: str) -> str:
    """("Is Lani still your aide?", "she's on leave") → "Lani is on leave"."""
    named = state.name_thing() if state.who == "I" else state.what
    who = named if re.match(_NAME, named) else state.who
    if who == "I":
        return told
    found = re.search(r"\b(?:she|he|they|it)(?P<is>['’](?:s|re))?\b", told, re.I)
    if found is None:
        return told
    has = re.match(r" (?:got|been|had|gone|left|moved|retired)\b", told[found.end() :])
    being = f" {'has' if has else 'is'}" if found["is"] else ""
    return f"{told[: found.start()]}{who}{being}{told[found.end() :]}"


def _name_object(state: _AskedState, told: str) -> str:
    """("Leonor does them", "my taxes") → "Leonor does my taxes"."""
    thing = state.name_thing()
    if not thing or state.verb == "be":
        return told
    return re.sub(r"(?<=\w )(?:it|them)\b(?=\W*$| (?:now|these days|instead)\b)", thing, told)


def _tell_given_up(state: _AskedState, text: str) -> str:
    """("at the bakery", "left in March") → "I left the bakery in March."; "" where nothing is."""
    found = _OVER.match(text)
    if found is None:
        return _tell_ended(state.who, text) if state.who != "I" else ""
    habit, thing = state.name_habit(), state.name_thing()
    phrasal = found["away"] in ("up", "in", "away")
    stops = phrasal or (found["verb"] or "").lower() in ("stopped", "quit", "finished")
    if not stops and habit and (found["verb"] or "called").lower().startswith(("cancel", "call")):
        return f"{state.end()}."  # a journey is no thing that is called off
    if found["what"] or found["object"] or state.who == "I":
        return _tell_with_object("I", found, (habit or thing) if stops else thing)
    return _tell_with_object(state.who, found, habit if stops else "")


def _tell_with_object(who: str, found: re.Match[str], thing: str) -> str:
    rest = found["rest"].strip(" .!")
    named = found["what"] or found["object"]
    if not thing or not (named or _NAMES_NOTHING.match(rest)):
        return ""
    who = "We" if found["we"] else who
    verb = (found["verb"] or found["phrasal"]).lower()
    told = " ".join(word for word in (who, verb, found["away"], thing, rest) if word)
    return f"{told}.".replace(" ,", ",")


def _tell_ended(thing: str, text: str) -> str:
    """("my band", "split up in May") → "My band split up in May."."""
    found = _ENDED.match(text)
    if found is None:
        return ""
    being = "is " if found["state"] else ""
    return f"{thing[:1].upper()}{thing[1:]} {being}{found['told'].strip(' .!')}."


def _tell_value(state: _AskedState, text: str) -> str:
    """("my rent", "640", "700 since May") → "My rent is 700 since May."; "" where no such value is
    given for another."""
    text = text.strip(" .!…,")
    before, held = state.split_value()
    small = re.fullmatch(r"([a-z]{3,})((?: now)?)", text)
    if small and held[:1].isupper() and not is_dictionary_word(small[1]):
        text = f"{small[1].capitalize()}{small[2]}"
    kinds = [next((k for k, p in _KINDS.items() if p.match(each)), "") for each in (text, held)]
    if not kinds[0] or kinds[0] != kinds[1]:
        return ""
    return f"{state.who} {before} {text}."


def _tell_topic(thing: str, text: str) -> str:
    found = _OVER.match(text)
    return _tell_with_object("I", found, thing) if found else _tell_ended(thing, text)


def to_first_person(text: str) -> str:
    """Words of who asks as who answers says them: "your boss" is "my boss"."""
    return " ".join(_YOURS.get(word.lower(), word) for word in text.split())
