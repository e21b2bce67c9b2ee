"""Wishes that something told be forgotten: who is spoken to, what is to be done, and with what.

"Lose the beard" and "I got rid of my car" are none: a wish is addressed to the listener, and what
it takes away is something told or noted, in the same message at least.
"""

from __future__ import annotations

import re

from memoryhub.engines.local.wordlists import compile_patterns

_MAX_CHARACTERS = 400  # of a sentence that are looked at
_SENTENCE = re.compile(rf"[^.!?\n;]{{1,{_MAX_CHARACTERS}}}[.!?;\n]{{0,3}}")
_YOU = r"(?:you|u|ya)"
_LEAD = (
    r"(?:^|[,;:–—](?=\s)|\b(?:and|but|so|also|oh|ok|okay|please|pls|plz|just|actually|hmm?|well"
    r"|listen|hey|now|then|like|thing|know what|omg|cheers|thanks|you know)\b)\W{0,4}"
)
# The listener is told, asked, or wanted to do it.
_ADDRESSED = (
    rf"(?:\b(?:can|could|would|will|might) {_YOU} (?:please |pls |just |maybe |kindly |possibly )*"
    rf"(?:be so \w+ as to |mind )?|\bi(?:'d like| would like| want| need|'d rather) {_YOU} (?:to )?"
    rf"|\b(?:please|pls|plz|kindly) (?:just |also )*|{_LEAD}(?:just |please |pls |then )*)"
)
# These are done to what is known; the others to all kinds of things.
_FORGETTING = (
    r"(?:forget|delete|deleting|erase|remove|wipe|scrub|strike|redact|expunge|purge|unlearn"
    r"|forgetting|erasing|removing|wiping|scrubbing)(?! to\b)"
)
_DISCARDING = (
    r"(?:lose|drop|scrap|ditch|bin|clear|cut|bury|discard|get rid of|do away with|throw|chuck|toss"
    r"|let|take|leave|blank|kill)"
)
_NOT_KEEPING = (
    rf"(?:\b(?:don't|do not|dont|never|stop|quit|(?:can|could|would) {_YOU} (?:please )?not"
    rf"|rather (?:{_YOU}|not|it|that) ?(?:didn't|did not|not|be)?)"
    r" (?:please |to )*(?:remember|keep|kept|store|stored|save|saved|hold on ?to|hang on to"
    r"|note|write|record|recorded|log|retain|remembering|keeping|storing|saving)\b)"
)
# Something told, noted or known.
_TOLD = re.compile(
    r"\b(?:what|that|who|all|everything|anything|whatever|which|thing|stuff|bit|part|business|news"
    r"|trouble|story|info)\b[^.!?]{0,30}?\b(?:i|we)(?:'ve|'d)? (?:just |ever |once |already )?"
    r"(?:told|said|say|mentioned|gave|shared|wrote|typed|confessed|let slip|had feelings|make|made"
    r"|owed?|earn|have)\b|\bi (?:told|said|mentioned|gave)\b",
    re.I,
)
_MEMORY = re.compile(
    r"\byour (?:notes?|memor\w+|records?|head|mind|files?|system|logs?|brain)\b|\bmemor(?:y|ies)\b"
    rf"|\bnever (?:heard|said|told|mentioned)\b|\b(?:hadn't|shouldn't have|wish i) \w+"
    r"|\bnobody(?:'s| else's| needs)\b|\b(?:no one|nobody) (?:needs|has)\b|\bnone of your\b"
    r"|\bprivate\b|\bbetween (?:me|us|ourselves)\b|\bsaved\b|\bon record\b|\bindiscreet\b"
    rf"|\b(?:don't|dont|do not|didn't|rather) (?:want|{_YOU}|it|that|this|keep)\b"
    rf"|\b{_YOU} (?:may|can) (?:keep|remember)\b|\b(?:can|may|could) stay\b"
    r"|\bfine to keep\b|\bis no problem\b|(?:'s|is|are) fine\b",
    re.I,
)
_THING = (
    r"(?:the|that|this|my|those|these|all|about)\b[^.!?]{0,40}?"
    r"\b(?:thing|things|bit|part|stuff|business|news|story|trouble|info|number|details?)\b"
)
_NAMED_THING = re.compile(rf"{_THING}|\b(?:it|that|this|what)\b", re.I)
_OWN = (
    r"\b(?:my|mine|our|what i|who i|that i|i told|i said|i've|everything|memory|memories"
    r"|about (?!it|that))"
)
_WISHES = compile_patterns(
    rf"{_ADDRESSED}{_FORGETTING}\b.*?(?:{_OWN}|{_THING})",
    rf"^\W*{_NOT_KEEPING}.*?(?:{_OWN}|{_THING})",
)
# Not by themselves: something of what is told or known stands beside them.
_DOUBTFUL_WISHES = compile_patterns(
    rf"{_ADDRESSED}(?:{_FORGETTING}|{_DISCARDING})\b(?! me\b|'s\b)",
    _NOT_KEEPING,
    rf"\b{_YOU} never (?:heard|saw|read) (?:it|that|this|any)",
)
_IDLE = re.compile(
    r"\b(?:don't|do not|dont|never|won't|didn't|can't|let's|let me|let us) (?:ever )?forget"
    r"|\bforget about it\b|\bforget it\b(?!.*\b(?:told|said|mention))",
    re.I,
)
# What tells a model to leave its instructions is nobody's wish about a memory.
_TO_A_MODEL = re.compile(
    r"\b(?:ignore|disregard|override|bypass)\b[^.!?]{0,40}\b(?:instructions?|prompts?|rules)\b",
    re.I,
)


def find_forget_wish(text: str, around: str = "") -> str:
    """The sentences of a message that ask for something told to be forgotten, "" for none.
    `around`: the whole message, where `text` is a part of it."""
    sentences = [match[0].strip() for match in _SENTENCE.finditer(text)]
    return " ".join(each for each in sentences if is_forget_wish(each, around or text))


def is_forget_wish(sentence: str, around: str) -> bool:
    """`around`: its message, which may speak of what was told where the sentence does not."""
    sentence = sentence[:_MAX_CHARACTERS]
    if _IDLE.search(sentence) or _TO_A_MODEL.search(sentence):
        return False
    if any(pattern.search(sentence) for pattern in _WISHES):
        return True
    return any(pattern.search(sentence) for pattern in _DOUBTFUL_WISHES) and bool(
        _TOLD.search(sentence)
        or (_NAMED_THING.search(sentence) and (_TOLD.search(around) or _MEMORY.search(around)))
    )


# What anybody may say who wants something gone; of oneself ("I deleted the app") it is no wish.
_OF_ONESELF = r"(?<!\bi )(?<!\bwe )(?<!\bhe )(?<!\bshe )(?<!\bthey )"
_LIKELY_WISHES = compile_patterns(
    rf"{_OF_ONESELF}\b(?:{_FORGETTING}|lose|drop|scrap|ditch|bin|bury|discard|hide|unsay|withdraw"
    r"|cross out|rub out|get rid of|do away with"
    r"|(?:take|leave|cut|throw|chuck|toss|strike|rub|cross)\b[^.!?]{1,40}?\b(?:out|off|away|back|down))\b",
    rf"{_OF_ONESELF}\b(?:don't|do not|dont|never|stop|quit|no need to|needn't|not to be|rather not"
    rf"|shouldn't|isn't to|without|rather (?:{_YOU}|it|that) (?:didn't|weren't|wasn't)"
    rf"|want (?:it|that|this|{_YOU})[^.!?]{{0,20}}?)"
    r"[^.!?]{0,20}?\b(?:remember\w*|keep\w*|kept|stor\w+|sav(?:e|ed|ing)|hold\w*|hang\w*"
    r"|not(?:e|ed|ing)"
    r"|record\w*|log\w*|retain\w*|mention\w*|bring\w*|repeat\w*|know|tell\w*|gone|deleted|erased"
    r"|removed|forgotten|wiped)\b",
    r"\boff (?:the|your) (?:records?|books?|files?|list)\b"
    r"|\bpretend\b[^.!?]{0,30}\b(?:never|n't|not)\b"
    r"|\bnever (?:said|told|mentioned|happened)\b|\bwish i (?:hadn't|had not|never)\b"
    r"|\bshouldn't have (?:said|told|mentioned|typed|written)\b|\b(?:strictly )?between us\b"
    r"|\bout of your (?:notes?|memory|files?|records?|head)\b"
    r"|\bnot for your (?:notes?|files?|records?)\b"
    r"|\b(?:nobody|no one)(?:'s business| needs to know)\b",
)


def may_ask_to_forget(text: str) -> bool:
    """Whether some sentence may want something done away with, whatever it is: the least that a
    wish is said in that a model has found."""
    sentences = [match[0].strip() for match in _SENTENCE.finditer(text)]
    return any(
        any(p.search(each) for p in (*_WISHES, *_DOUBTFUL_WISHES, *_LIKELY_WISHES))
        and not (_IDLE.search(each) or _TO_A_MODEL.search(each))
        for each in sentences
    )


_FRAME = re.compile(
    rf"{_ADDRESSED}(?:{_FORGETTING}|{_DISCARDING})\b|{_NOT_KEEPING}|{_MEMORY.pattern}"
    r"|\b(?:the )?(?:thing|things|bit|part|stuff|business|news|story|info|details?|everything)\b"
    r"(?: (?:about|of|with|w))?|\bwhat i (?:told|said|mentioned|gave)\b(?: you)?"
    r"|\bi (?:just )?(?:told|said|mentioned|gave)(?: you| u)?\b"
    r"|\b(?:it|you|u|out of|please|pls|also)\b",
    re.I,
)
_KEPT_PART = re.compile(
    r"[^,.;!?]*\b(?:can|may|could) (?:stay|keep|remember)\b[^,.;!?]*"
    r"|[^,.;!?]*(?:'s|is|are) (?:fine|no problem|ok(?:ay)?)\b[^,.;!?]*",
    re.I,
)


_ASKING = re.compile(rf"\b(?:{_FORGETTING}|{_DISCARDING})\b|{_NOT_KEEPING}", re.I)


def extract_wish_words(text: str) -> str:
    """What a wish says of the thing that is meant: its sentences without what makes it a wish,
    without the reason that follows, and without what is to stay."""
    told = find_forget_wish(text) or text
    parts = [_drop_reason(_KEPT_PART.sub(" ", match[0])) for match in _SENTENCE.finditer(told)]
    return " ".join(_FRAME.sub(" ", " ".join(parts)).split()).strip(" ,.;!?")


def _drop_reason(sentence: str) -> str:
    """What stands behind a comma after the last word that asks."""
    asked = list(_ASKING.finditer(sentence))
    end = sentence.find(",", asked[-1].end()) if asked else -1
    return sentence[:end] if end >= 0 else sentence
