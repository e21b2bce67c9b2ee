"""Wishes that something told be forgotten: who is spoken to, what is to be done, and with what.

"Lose the beard" and "I got rid of my car" are none: a wish is addressed to the listener, and what
it takes away is something told or noted, in the same message at least.
"""

from __future__ import annotations

import re
from functools import lru_cache

from memoryhub.engines.local.wordlists import compile_patterns

_MAX_CHARACTERS = 400  # of a sentence that are looked at
_SENTENCE = re.compile(rf"[^.!?\n;]{{1,{_MAX_CHARACTERS}}}[.!?;\n]{{0,3}}")
_YOU = r"(?:you|u|ya)"
_LEAD = (
    r"(?:^|[,;:–—](?=\s)|\b(?:and|but|so|also|oh|ok|okay|please|pls|plz|just|actually|hmm?|well"
    r"|listen|hey|now|then|like|thing|know what|omg|cheers|thanks|you know)\b)\W{0,4}"
)
_SOFTLY = r"(?:please |pls |just |maybe |kindly |possibly |now |also |then |simply |completely )*"
# The listener is told, asked, or wanted to do it.
_ADDRESSED = (
    rf"(?:\b(?:can|could|would|will|might) (?:{_YOU}|we) {_SOFTLY}(?:be so \w+ as to |mind )?"
    rf"|\bi(?:'d like| would like| want| need|'d rather|'d prefer| prefer|(?: \w+)? ask|'m asking)"
    rf" {_YOU} {_SOFTLY}(?:to )?"
    rf"|\b{_YOU} (?:may|should|must|ought to|need to|have to|can) {_SOFTLY}"
    rf"|\b(?:if|how about|what about) {_YOU} (?:could |would |can )?{_SOFTLY}"
    rf"|\b(?:possible|okay?|alright|all right|a way|any way|a chance) (?:for {_YOU} )?to {_SOFTLY}"
    rf"|\bdo me a favou?r\b(?:,| and)? {_SOFTLY}"
    rf"|\b(?:please|pls|plz|abeg|kindly) (?:{_YOU} )?{_SOFTLY}|{_LEAD}{_SOFTLY})"
)
# These are done to what is known; the others to all kinds of things.
_FORGETTING = (
    r"(?:forget|delete|deleting|erase|remove|wipe|scrub|strike|redact|expunge|purge"
    r"|un-?(?:know|learn|hear|see|remember|note|save|store|record)"
    r"|forgetting|erasing|removing|wiping|scrubbing)(?! to\b)"
)
_FORGOTTEN = (
    r"(?:forgotten|forgot|deleted|erased|removed|wiped|scrubbed|struck|redacted|expunged|purged"
    r"|unlearned|unsaid|gone)"
)
_DISCARDING = (
    r"(?:lose|drop|scrap|scratch|ditch|bin|clear|cut|bury|discard|get rid of|do away with|throw"
    r"|chuck|toss|dump|let|take|leave|blank|kill|undo)"
)
_REMEMBER = (
    r"(?:remember|keep|kept|store|stored|save|saved|hold on ?to|hang on to|note|write|record"
    r"|recorded|log|retain|remembering|keeping|storing|saving|holding on ?to)"
)
_NOT_KEEPING = (
    rf"(?:\b(?:don't|do not|dont|never|stop|quit|no longer|no need (?:for {_YOU} )?to"
    rf"|(?:can|could|would) {_YOU} (?:please )?not"
    rf"|{_YOU} (?:don't|do not|dont|no longer) (?:have|need) to|{_YOU} needn't"
    rf"|(?:rather|sooner|prefer|if) (?:{_YOU}|not|it|that) ?"
    r"(?:don't|didn't|did not|wouldn't|not|be)?)"
    rf" (?:please |to )*{_REMEMBER}\b)"
)
# Where it is kept, in people's words.
_PLACE = (
    r"(?:\b(?:your?|ur|yr|yuh) (?:\w+ )?"
    r"(?:notes?|memor(?:y|ies)|records?|files?|logs?|books?|system|head|mind"
    rf"|brain)\b|\b(?:what(?:ever)?|everything|anything|all)(?: that)? {_YOU}(?:'ve)?"
    r" (?:keep|have|know|store|hold|remember|saved?|kept|got)\b|\boff (?:the )?records?\b"
    r"|\b(?:from|in|on) (?:the )?record\b|\bon file\b)"
)
# Something told, noted or known.
_TOLD = re.compile(
    r"\b(?:what|that|who|all|everything|anything|whatever|which|thing|stuff|bit|part|business|news"
    r"|trouble|story|info)\b[^.!?]{0,30}?\b(?:i|we)(?:'ve|'d)? (?:just |ever |once |already )?"
    r"(?:told|said|say|mentioned|gave|shared|wrote|typed|confessed|let slip|had feelings|make|made"
    r"|owed?|earn|have)\b|\bi (?:told|said|mentioned|gave)\b(?! (?:my|him|her|them|his|their|to)\b)"
    r"|\b(?:confession|conversation)\b",
    re.I,
)
_MEMORY = re.compile(
    r"\byour (?:notes?|memor\w+|records?|head|mind|files?|system|logs?|brain)\b|\bmemor(?:y|ies)\b"
    rf"|\bnever (?:heard|said|told|mentioned)\b|\b(?:hadn't|shouldn't have|wish i) \w+"
    rf"|\b(?:with|of|that) {_YOU} know(?:ing)?\b"
    r"|\bnobody(?:'s| else's| needs)\b|\b(?:no one|nobody) (?:needs|has)\b|\bnone of your\b"
    r"|\bprivate\b|\bbetween (?:me|us|ourselves)\b|\bsaved\b|\bon record\b|\bindiscreet\b"
    rf"|\b(?:don't|dont|do not|didn't|rather) (?:want|{_YOU}|it|that|this|keep)\b"
    rf"|\b{_YOU} (?:may|can) (?:keep|remember)\b|\b(?:can|may|could) stay\b"
    r"|\bfine to keep\b|\bcomes? up (?:here )?again\b|\bis no problem\b|(?:'s|is|are) fine\b",
    re.I,
)
_THING = (
    r"(?:the|that|this|my|those|these|all|about)\b[^.!?]{0,40}?"
    r"\b(?:thing|things|bit|part|stuff|business|news|story|trouble|info|number|details?)\b"
)
_NAMED_THING = re.compile(rf"{_THING}|\b(?:it|that|this|what)\b|^\W*{_FORGOTTEN}\b", re.I)
_OWN = (
    r"(?:\b(?:my|mine|our|i've|everything|memory|memories"
    r"|(?:what|whom?|where|when|why|how(?: \w+)?|that) (?:i|we)\b"
    r"|i (?:just |ever |once |even )*(?:told|said|mentioned|brought))\b|\babout (?!it\b|that\b))"
)
# "Forget who treats me"; "I don't remember who treats me" is none.
_DONE_TO_ME = r"\bwho (?:\w+ ){1,3}?(?:me|us)\b"
_MENTION = r"\b(?:any|all|every|each) (?:mention|trace|record|reference|word|note)s? (?:of|to|on)\b"
_WANTED = (
    r"\b(?:want|like|love|prefer|rather|sooner|happy|happier|kindly|please|pls|should|must|needs?"
    r"|has to|great|good|best|better"
    r"|grateful|stays?|keep|so|it's time)\b"
)
_WISHES = compile_patterns(
    rf"{_ADDRESSED}{_FORGETTING}\b.*?(?:{_OWN}|{_THING}|{_MENTION}|{_DONE_TO_ME})",
    rf"(?:^|{_LEAD}|\bi(?:'d| would) (?={_WANTED})){_SOFTLY}\W*{_NOT_KEEPING}"
    rf".*?(?:{_OWN}|{_THING})",
    # Who says "I don't remember that" wishes nothing.
    rf"^\W*(?:please,? |pls )?(?:don't|dont|do not) (?:please |pls )?{_REMEMBER}"
    r" (?:that|this|it|any of (?:that|this|it))(?:,? (?:please|pls|thanks))?\W*$",
    rf"\b{_YOU} (?:don't|do not|dont|no longer) (?:have|need) to {_REMEMBER}\b.*?{_OWN}",
    # It is to go from where it is kept, or not to be there.
    rf"{_ADDRESSED}(?:(?:{_FORGETTING}|{_DISCARDING})\b|(?:get|keep)\b[^.!?]*?\bout of\b)"
    rf"[^.!?]*?{_PLACE}",
    rf"{_WANTED}[^.!?]*?\b(?:{_FORGOTTEN}|disappear|vanish|out|off|away)\b[^.!?]{{0,25}}?{_PLACE}",
    rf"{_WANTED}[^.!?]*?{_PLACE}[^.!?]*?\b{_FORGOTTEN}\b",
    rf"\b(?:shouldn't|should not|mustn't|must not|isn't to|not to|nothing|none)\b[^.!?]{{0,60}}?"
    rf"\b(?:be|stay|remain|end up|appear|go)\b[^.!?]{{0,20}}?(?:{_PLACE}|\bwith {_YOU}\b)",
    rf"{_OWN}[^.!?]*?\b(?:shouldn't|should not|mustn't|must not|may not|isn't to|not to|needn't) be"
    rf" (?:kept|stored|saved|recorded|remembered|noted|logged|retained|written down)\b",
    rf"\bdo without\b[^.!?]*?{_PLACE}",
    rf"(?:\bnot|n't) want\b[^.!?]{{0,30}}?\b(?:an?|any) (?:record|memory|note|trace|copy) of\b"
    rf".*?{_OWN}"
    rf"|\bmake sure\b[^.!?]*?(?:\bnot|n't|\bnever|\bno longer) (?:be )?(?:stored|kept|saved)\b",
    r"(?:\b(?:please|pls|want|prefer|rather)\b[^.!?]{0,30}?\b(?:had?|have|keep|kept|be)|^\W*(?:have|keep)?)"
    r" (?:absolutely )?(?:no|not an?y?) (?:record|memory|notes?|trace|mention|log|copy) of\b",
    rf"\b(?:isn't|not|nothing) (?:something )?for {_YOU} to (?:have|know|{_REMEMBER})\b"
    rf"|\b(?:isn't|not|nothing)\b[^.!?]{{0,30}}?\bi(?:'d| would)? (?:want|like) {_YOU} to"
    rf" (?:have|know|{_REMEMBER})\b",
    rf"{_OWN}[^.!?]*?[:,–—]\s*{_SOFTLY}(?:{_FORGETTING}|{_NOT_KEEPING})\b[^.!?]{{0,12}}\W*$",
    rf"\b(?:could|can|may|best|better)\b[^.!?]*?{_OWN}[^.!?]*?\b(?:be )?{_FORGOTTEN}\b"
    rf"|{_OWN}[^.!?]*?\b(?:best|better) (?:be )?{_FORGOTTEN}\b",
    rf"\b(?:let|should|must|may|time|if) (?:{_YOU}\b|[^.!?]{{1,50}}? be\b) ?"
    rf"(?:forgotten|forgot|deleted|erased|wiped)\b|\b(?:if|time) {_YOU} (?:\w+ )?{_FORGOTTEN}\b"
    rf"[^.!?]*?{_OWN}",
    rf"\b(?:let's|let us|(?:can|could|shall|should) we|please|pls|we can|{_YOU} can)\b"
    r"[^.!?]{0,15}?\b(?:pretend"
    r"|act (?:as (?:if|though)|like)|make believe)\b[^.!?]*?\b(?:never|\w*n't|not)\b",
)
# Not by themselves: something of what is told or known stands beside them.
_DOUBTFUL_WISHES = compile_patterns(
    rf"{_ADDRESSED}(?:{_FORGETTING}|{_DISCARDING})\b(?! me\b|'s\b)",
    rf"(?<!\bi )(?<!\bwe ){_NOT_KEEPING}",
    rf"\b{_YOU} never (?:heard|saw|read) (?:it|that|this|any)",
    r"\b(?:has|have|needs?|must|ought|want|like)\b[^.!?]{0,20}? (?:to )?"
    r"(?:go|disappear|vanish|be gone|gone)\b"
    r"|\b(?:let|could|can|make)\b[^.!?]{1,40}? (?:disappear|vanish|go away)\b"
    rf"|^\W*(?:{_FORGOTTEN}|out|away)\b[^.!?]{{0,20}}(?:\bplease\b|\bpls\b)"
    rf"|\b(?:consider|regard|treat|take)\b[^.!?]*?\b(?:as )?(?:unsaid|not said|never said)\b",
)
_IDLE = re.compile(
    r"\b(?:don't|do not|dont|never|won't|didn't|can't|let's|let me|let us) (?:ever )?forget"
    rf"|\b(?:don't|do not|dont) want (?:{_YOU}|anyone|it) to (?:ever )?forget"
    r"|\bi (?:don't|do not|dont|can't|cannot) (?:even )?remember\b"
    r"|\blos(?:e|ing) (?:some |more |a bit of |the )?(?:weight|fat|\d)"
    r"|\bforget about it\b|\bforget it\b(?!.*\b(?:told|said|mention))"
    # It would be bad if it were forgotten.
    rf"|\b(?:sad|hurt|upset|sorry|disappointed|angry|hate|shame|mind)\b[^.!?]{{0,20}}?"
    rf"\bif {_YOU}\b",
    re.I,
)
# Texts that are worked on, and not what is known of anybody.
_WORKED_ON = re.compile(
    rf"\b(?:{_FORGETTING}|{_DISCARDING})\b[^.!?]{{0,30}}?\b(?:paragraphs?|sentences?|lines?|words?"
    r"|commas?|spaces?|letters?|texts?|essays?|speech|e-?mails?|drafts?|apps?|photos?|pictures?"
    r"|songs?|tabs?|columns?|rows?|code|duplicates?|slides?|chapters?|emojis?)\b",
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
    sentences = list_sentences(text)
    # What is repeated is judged once.
    wishes = {each for each in set(sentences) if is_forget_wish(each, around or text)}
    return " ".join(each for each in sentences if each in wishes)


def list_sentences(text: str) -> list[str]:
    return [match[0].strip() for match in _SENTENCE.finditer(text)]


def is_forget_wish(sentence: str, around: str) -> bool:
    """`around`: its message, which may speak of what was told where the sentence does not."""
    sentence = sentence[:_MAX_CHARACTERS]
    if _is_idle(sentence):
        return False
    if _WORKED_ON.search(sentence) and not _TOLD.search(sentence):
        return False
    if any(pattern.search(sentence) for pattern in _WISHES):
        return True
    return any(pattern.search(sentence) for pattern in _DOUBTFUL_WISHES) and bool(
        _TOLD.search(sentence) or (_NAMED_THING.search(sentence) and _speaks_of_memory(around))
    )


@lru_cache(maxsize=2)
def _speaks_of_memory(message: str) -> bool:
    """Asked once for all sentences of a message."""
    return bool(_TOLD.search(message) or _MEMORY.search(message))


# What anybody may say who wants something gone; of oneself ("I deleted the app") it is no wish.
_OF_ONESELF = r"(?<!\bi )(?<!\bwe )(?<!\bhe )(?<!\bshe )(?<!\bthey )"
_LIKELY_WISHES = compile_patterns(
    rf"{_OF_ONESELF}\b(?:{_FORGETTING}|lose|drop|scrap|scratch|ditch|bin|bury|discard|hide|unsay"
    r"|withdraw|cross out|rub out|get rid of|do away with|take back|retract|undo|disregard|vanish"
    r"|disappear|off the record|do without"
    r"|(?:take|leave|cut|throw|chuck|toss|strike|rub|cross)\b[^.!?]{1,40}?\b(?:out|off|away|back|down))\b",
    rf"{_OF_ONESELF}\b(?:don't|do not|dont|never|stop|quit|no need to|needn't|not to be|rather not"
    rf"|shouldn't|isn't to|without|(?:rather|sooner) (?:{_YOU}|it|that) (?:didn't|weren't|wasn't)"
    rf"|want (?:it|that|this|{_YOU})[^.!?]{{0,20}}?)"
    r"[^.!?]{0,20}?\b(?:remember\w*|keep\w*|kept|stor\w+|sav(?:e|ed|ing)|hold\w*|hang\w*"
    r"|not(?:e|ed|ing)"
    r"|record\w*|log\w*|retain\w*|mention\w*|bring\w*|repeat\w*|know|tell\w*|gone|deleted|erased"
    r"|removed|forgotten|wiped)\b",
    r"\boff (?:the|your) (?:records?|books?|files?|list)\b"
    r"|\bpretend\b[^.!?]{0,30}\b(?:never|n't|not)\b"
    r"|\bnever (?:said|told|mentioned|happened)\b|\bwish i (?:hadn't|had not|never)\b"
    r"|\bshouldn't have (?:said|told|mentioned|typed|written)\b|\b(?:strictly )?between us\b"
    rf"|\bout of {_PLACE}"
    r"|\bnot for your (?:notes?|files?|records?)\b"
    r"|\b(?:nobody|no one|none)(?:'s| of \w+) business\b|\b(?:nobody|no one) needs to know\b"
    rf"|(?:\b(?:be|been|is|stays?)\b|{_WANTED})[^.!?]{{0,60}}?\b{_FORGOTTEN}\b"
    rf"|^\W*(?:{_FORGOTTEN}|out|away)\b|\b(?:needs|has|have|ought) to (?:go|disappear|vanish)\b"
    rf"|(?:\b(?:not|no|nothing|never|none|no longer)|n't)\b[^.!?]{{0,60}}?"
    rf"(?:{_PLACE}|\bwith {_YOU}\b"
    rf"|\b{_REMEMBER}\b|\b(?:record|track|trace|memory|mention|copy) of\b)"
    r"|\b(?:private|confidential|secret|embarrass\w+|uncomfortable)\b",
)


def may_ask_to_forget(text: str) -> bool:
    """Whether some sentence may want something done away with, whatever it is: the least that a
    wish is said in that a model has found."""
    return any(
        any(pattern.search(each) for pattern in (*_WISHES, *_DOUBTFUL_WISHES, *_LIKELY_WISHES))
        and not _is_idle(each)
        for each in set(list_sentences(text))
    )


def may_be_wish(sentence: str) -> bool:
    """Whether a sentence that no rule takes for a wish has words in which one may be said."""
    return any(p.search(sentence) for p in _LIKELY_WISHES) and not _is_idle(sentence)


def _is_idle(sentence: str) -> bool:
    return bool(_IDLE.search(sentence) or _TO_A_MODEL.search(sentence))


_FRAME = re.compile(
    rf"{_ADDRESSED}(?:{_FORGETTING}|{_DISCARDING})\b(?: (?:out|off|away|down|back)\b)?"
    rf"|{_NOT_KEEPING}|{_MEMORY.pattern}"
    # What is to become of it.
    rf"|\bi(?:'d| would|'ve)? (?:want|like|love|prefer|rather)(?: to have| have)?(?: (?:it|that))?"
    rf" (?=.*\b(?:{_FORGOTTEN}|taken|dropped|out|off|kept|saved|stored|remembered)\b)"
    r"|\b(?:can|could|should|must|may|need|needs|doesn't|does not|needn't|mustn't|shouldn't|was"
    rf"|were|has|have)(?: not| to| need to)* (?:be |go\b|not )?(?:{_FORGOTTEN}|taken|dropped|kept"
    r"|saved|stored|remembered|cleared|on (?:file|record))?\b"
    r"(?: (?:out|off|away|now|down|from here)\b)*"
    r"(?=\W*$|\W*(?:please|pls|now|so)\b)"
    rf"|\b(?:{_FORGOTTEN}|taken (?:out|off|away|down))\b(?: from (?:here|there))?"
    r"(?=\W*$|\W*(?:please|pls|now|so)\b)"
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


# What a sentence begins with that says nothing of the thing.
_OPENING = re.compile(
    r"^(?:\W*(?:listen|look|hey|ok(?:ay)?|actually|hm+|oh|ah|btw|by the way|anyway|so|and|but|well"
    r"|right|cute|ugh|um+|one (?:more|last|other) thing|you know(?: what)?|thanks|thank you"
    r"(?: dear)?|cheers|lol|omg|like|also|now|then|please|pls)\b[\s,:–—-]*)+",
    re.I,
)
# A sentence that takes up what another names.
_SAYS_WHY = re.compile(
    r"\W*(?:it|that|this|never|nobody|no one|none)\b"
    r"(?! (?:thing|bit|part|stuff|business|story|whole)\b)",
    re.I,
)
_ASKING = re.compile(rf"\b(?:{_FORGETTING}|{_DISCARDING})\b|{_NOT_KEEPING}", re.I)


def strip_wish_frame(wish: str) -> str:
    """What a wish says of the thing that is meant: its sentences without what makes it a wish,
    without the reason that follows, and without what is to stay."""
    parts = [_drop_reason(_KEPT_PART.sub(" ", match[0])) for match in _SENTENCE.finditer(wish)]
    parts = [_OPENING.sub("", each) for each in parts]
    told = [each for each in parts if not _SAYS_WHY.match(each)] or parts
    return " ".join(_FRAME.sub(" ", " ".join(told)).split()).strip(" ,.;!?")


def _drop_reason(sentence: str) -> str:
    """What stands behind a comma after the last word that asks."""
    asked = list(_ASKING.finditer(sentence))
    end = sentence.find(",", asked[-1].end()) if asked else -1
    return sentence[:end] if end >= 0 else sentence
