"""Where a sentence begins that no sign tells of: "lost my card how do i freeze it", "work nights at
the depot its grim". Only in what is typed without capitals and signs, as people text."""

from __future__ import annotations

import re
from collections.abc import Iterator

from memoryhub.engines.local.grammar.verbs import is_dictionary_noun
from memoryhub.engines.local.wordlists import split_words

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
_ASKING = re.compile(
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
_LEAST_LETTERS = 3


def find_run_on_starts(text: str) -> frozenset[int]:
    """Places in characters. Nothing of a text that has a sentence with a capital, or "I"."""
    if not _is_hurried(text):
        return frozenset()
    return frozenset(
        start for stretch in _STRETCH.finditer(text) for start in _split_stretch(stretch)
    )


def _is_hurried(text: str) -> bool:
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
        asks = asks and _ASKING.match(stretch.string, found[at].start()) is not None
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
