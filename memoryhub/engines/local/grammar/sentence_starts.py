"""Where a sentence begins that no sign tells of.

What is asked or wanted behind what is told, and what is told behind what is asked, is one of its
own ("Otis swapped the trumpet for the drums, quiet pads?"). In what is typed without capitals and
signs, as people text, one begins where somebody is told of anew: "lost my card how do i freeze it",
"on nights at the depot its grim".
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from memoryhub.engines.local.grammar.verbs import is_dictionary_noun
from memoryhub.engines.local.wordlists import split_words

# "Started at Harlow on Monday, so what's the weather like there?", "Otis swapped the trumpet for
# the drums, quiet pads?", "we pay 795, is that a lot", "rent's up in June, word me a letter": what
# is asked or wanted behind what is told is a sentence of its own.
_ASKING = r"(?:what|how|where|when|why|who|which|can|could|should|is|are|do|does|would|will|any)\b"
_LINKED = r"(?:(?:so|and|but|now|then|pls|please|also) )*"
# What asks whether all of it is so.
_TAG = (
    r"(?:right|no|yes|yeah|ok|okay|eh|huh|innit|correct|you know"
    r"|\w+n['’]?t (?:it|he|she|they|i|we|you))"
)
_ASKED_PLAINLY = (
    r"(?:how (?:do|does|did|can|could|should|many|much|long|often|to|in|come)|what(?! an?\b)"
    r"|(?:can|could|should|do|does|would|will|is|are) (?:i|we|you|u|it|that|they|he|she|there|this)"
    r"|any (?:ideas?|tips?|thoughts?|advice|suggestions?|chance))\b"
)
_WANTED = (
    r"(?:remind|word|write|draft|give|tell|show|help|suggest|explain|list|recommend|translate)"
    r" (?:me|us|an?|some|the|my|him|her|them|it|out|this|that)\b|gimme\b"
)
_ASKED_OR_WANTED = re.compile(rf"\W*{_LINKED}(?:{_ASKED_PLAINLY}|{_WANTED})", re.I)
_ASKED_BEHIND = re.compile(
    rf"(?:^|(?<=[.!?\n] ))(?!{_LINKED}(?:{_ASKING}|(?:am|did|have|has|if)\b|{_WANTED}))"
    rf"[^.!?\n]{{8,200}}?, (?P<asked>{_LINKED}(?:"
    rf"{_ASKING}[^.!?\n]{{1,200}}\?|(?:{_ASKED_PLAINLY}|{_WANTED})[^.!?\n]{{0,200}}(?=[.!?\n]|$)"
    rf"|(?!{_TAG}\W*\?)[^,.!?\n]{{3,40}}\?))",
    re.I,
)
# "what's good for a stiff neck, I've got a slipped disc": what is told behind what is asked.
_TOLD_BEHIND = re.compile(
    rf"(?:^|(?<=[.!?\n] )){_ASKING[:-2]}(?:['’]?s)?\b[^.!?\n]{{8,120}}?, "
    r"(?P<told>(?:(?:cos|because|as|since|bc) )?"
    r"(?:i|i['’]?m|i['’]?ve|i['’]?d|we|we['’]?re|we['’]ve)\b [^.!?\n]{4,200})",
    re.I,
)
# "The club said no so we changed to another", "they complained so rehearsals are at mine now": what
# was done about it.
_DONE_ABOUT_IT = re.compile(
    r"\b(?:said (?:no|yes)[,;]? (?P<told>(?:so|and) (?:i|we)\b)"
    r"|complained[,;]? (?P<so>so (?!much|that|i could|we could)\w))",
    re.I,
)
# "grand! boss is Sinead": no part of what follows.
_EXCLAIMED = re.compile(r"(?:^|(?<=[.!?\n] ))(?:[\w'’]+ )?[\w'’]+!+ +(?=\w)")

_STRETCH = re.compile(r"[^.!?\n,;:()]+")
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_LEAST_BEFORE = 2  # words of what is told before
# What is told is of somebody, and they with their verb begin it anew ...
_WITH_VERB = split_words(
    "im i'm ive i've hes he's shes she's theyre they're weve we've itll its it's"
)
# ... unless what stands before holds it: "cos im", "hope its", "the bloke im seeing".
_HOLDING = split_words("""
    and or but so because cos coz cuz bc since if when whenever while that what which who whos where
    why how as than then until till til before after though tho although unless once whether like
    think thinks thought hope hoping say said says saying know knew known guess reckon reckons told
    tell tells feel feels felt mean means meant wish sure swear heard hear bet believe see saw found
    find realise realised realize decided suppose assume assuming figured glad sorry happy sad
    gutted thrilled buzzing scared worried afraid sick time day all now where everything anything
    something nothing one ones is was are were be am being been not just only even still also well
    the a an my our his her their your this to of in on at for with w from by about least last
    first means except given n tho yh has had someone somebody people pretending honestly
""") - split_words("well")
_OF_NOW = split_words("so and but from by until til till right for just then")
_CONDITIONS = split_words("if when once until till told tell tells says said")
# Narrower than what is asked behind a comma: "the way how to", "tell me what".
_ASKED_ANEW = re.compile(
    r"(?:how (?:do|does|did|can|could|should) (?:i|we|u|you)|can (?:u|you|i|we)|could (?:u|you|i)"
    r"|should (?:i|we)|whats (?:a|the|my|good|best)|what (?:can|should|do|does)"
    r"|any (?:ideas?|tips?)|help me|remind me|don['’]?t (?:ask|tell|judge|worry))\b",
    re.I,
)
_ASKED_OF = split_words("""
    know knows tell ask asked see show wonder wondering idea learn explain figure remember forgot
    and or but so to u you i we they he she if that not on of about please pls plz
""")
_QUESTION_WORDS = split_words("how what which who whose where when why")
# "Done my ankle sunday got physio": after when it was comes what else was.
_TIMES = split_words("""
    today yesterday tomorrow tonight tmrw tmr tmw monday tuesday wednesday thursday friday saturday
    sunday mon tue tues wed weds thu thurs fri sat sun lol haha lmao btw
""")
_GOES_ON = split_words("got gonna going start starting need moved bought sold booked had went back")


def find_sentence_starts(text: str) -> set[int]:
    """Their places in characters, but for those that a sign tells of."""
    starts = {match.start("asked") for match in _ASKED_BEHIND.finditer(text)}
    starts |= {match.start("told") for match in _TOLD_BEHIND.finditer(text)}
    starts |= {match.start(match.lastgroup or 0) for match in _DONE_ABOUT_IT.finditer(text)}
    starts |= {match.end() for match in _EXCLAIMED.finditer(text)}
    if _is_hurried(text):
        starts |= {at for stretch in _STRETCH.finditer(text) for at in _split_stretch(stretch)}
    return starts


def asks_or_wants(clause: str) -> bool:
    """Whether it begins as what is asked, or wanted of an assistant: "word me a letter"."""
    return _ASKED_OR_WANTED.match(clause) is not None


def _is_hurried(text: str) -> bool:
    """Whether no sentence of it has a capital, nor "I"."""
    return text[:1].islower() and re.search(r"\bI\b|[.!?] [A-Z]", text) is None


def _split_stretch(stretch: re.Match[str]) -> Iterator[int]:
    found = [*_WORD.finditer(stretch.string, stretch.start(), stretch.end())]
    words = [each[0].lower().replace("’", "'") for each in found]
    since = 0
    for at in range(len(words)):
        if at - since < _LEAST_BEFORE or at + 1 == len(words):
            continue
        asks = _QUESTION_WORDS.isdisjoint(words[max(since, at - 4) : at])
        asks = asks and words[at - 1] not in _ASKED_OF
        asks = asks and _ASKED_ANEW.match(stretch.string, found[at].start()) is not None
        if asks or _begins_anew(words, at, since):
            since = at
            yield found[at].start()


def _begins_anew(words: list[str], at: int, since: int) -> bool:
    before, word, after = words[at - 1 : at + 2]
    if word in _GOES_ON:
        return before in _TIMES
    held = before in _HOLDING and (before != "now" or words[at - 2] in _OF_NOW)
    if word not in _WITH_VERB or held or not _CONDITIONS.isdisjoint(words[max(since, at - 5) : at]):
        return False
    if word in ("its", "it's"):
        owned = word == "its" and is_dictionary_noun(after) and not after.endswith("ing")
        return not owned
    return not after.endswith("ing") or before in _TIMES  # "the bloke im seeing"
