"""Statements without a verb: "26 kids.", "back at my mum's", "flat 6, 112 Cole Street".

What is left of a sentence when its clauses are taken out is told as the speaker's own words,
for only they know what it is about.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from memoryhub.engines.local.claims import salience
from memoryhub.engines.local.claims.whereabouts import is_passing, is_place
from memoryhub.engines.local.dates.past import tells_bound
from memoryhub.engines.local.grammar.antecedents import list_things_said
from memoryhub.engines.local.grammar.clauses import (
    SUBJECT_DEPENDENCIES,
    trim_tokens,
)
from memoryhub.engines.local.grammar.rewrite import Voice, format_sentence, rewrite_tokens
from memoryhub.engines.local.grammar.scene import ParsedTurn, format_possessive
from memoryhub.engines.local.grammar.speech import is_question, is_small_talk
from memoryhub.engines.local.grammar.verbs import (
    find_lemma,
    inflect_verb,
    is_dictionary_word,
    is_past_form,
)
from memoryhub.engines.local.wordlists import (
    ANIMALS,
    ERASED_MARK,
    JOBS,
    PEOPLE,
    VAGUE_NOUNS,
    split_words,
)
from memoryhub.engines.types import FactCandidate, Polarity, SourceSpan

if TYPE_CHECKING:
    from spacy.tokens import Span, Token

_MAX_TOKENS = 24  # more is no fragment, but a sentence that was not understood
_CONFIDENCE = 0.6
CONFIDENCE_OF_WHOLE = 0.5  # of a sentence that no rule reads, and that is told as it was said
_VERB = ":"  # there is none
# Fragments with these ask, address somebody or only comment on what was said.
_UNTELLING = split_words("""
    you your yours thanks thank please pls plz what how why where when who which whose if lol haha
    hello hi hey hiya
""")
_POINTING = split_words("it this that these those they he she there")
# Nobody can tell of whom or what a sentence that opens with these is told.
_POINTS_OUT = _POINTING | split_words("its thats hes shes his her their them neither both one two")
_SUPPOSED = re.compile(
    r"\b(?:would|could|might|should|may|maybe|perhaps|wish|hope|rather|almost|nearly)\b|['’]d\b",
    re.I,
)
_REPORTED = re.compile(
    r"\b(?:says?|said|tells?|told|reckons?|thinks?|thought|claims?|swears?|calls?|called|bets?"
    r"|heard|asks?|asked|wants? to know)\b",
    re.I,
)
_POINTED_TO = _POINTING | {"him", "her"}
_POINTING_AT = split_words("this that these those")
_NOT_ANY = split_words("no not never")
# What they open tells when or why, and not how somebody is.
_BESIDE_THE_STATE = split_words("""
    after because before despite during for since than though until unlike till
""")
_ASKING = split_words("is are do does did")
_STILL_TO_COME = frozenset({"will", "'ll", "’ll"})
# "Back in Kent with my parents": a home, if nothing says that it is a visit.
_HOUSED = re.compile(
    r"(?:(?:back|now|currently|living|settled|staying) )*in (?P<place>[\w'’-]+)\b.*"
    r"\b(?:now|nowadays|these days|for now|for good|again|(?:with|at) (?:my|our|\w+['’]s))\b",
    re.I,
)


def read_fragments(turn: ParsedTurn, offset: int, rest: Sequence[Token]) -> list[FactCandidate]:
    """The facts that `rest` of a sentence states."""
    if turn.utterance.role != "user" or not turn.scene.assisted:
        return []
    return [build_fragment(turn, offset, run) for run in _split_runs(rest) if _says_something(run)]


def read_whole(turn: ParsedTurn, offset: int, span: Span) -> list[FactCandidate]:
    """A sentence that no rule could read, as it was said: "my gym's Iron Bayou, the 24h one".

    Whether it is worth keeping is left to what was learned of that.
    """
    if turn.utterance.role != "user" or not turn.scene.assisted:
        return []
    words = [t for t in span if not t.is_punct and t.pos_ != "INTJ"]
    content = [t for t in words if t.pos_ not in ("CCONJ", "ADV")]
    if not 4 <= len(words) <= _MAX_TOKENS or {t.lower_ for t in words} & _UNTELLING:
        return []
    opens = content[0].lower_ if content else ""
    asks = opens in _ASKING or (content and content[0].tag_ in ("VB", "MD"))
    if opens in _POINTS_OUT or asks or _shows(words) or ERASED_MARK in span.text:
        return []
    if any(t.lower_ in ("him", "her", "them") and t.dep_ != "poss" for t in words):
        return []
    if _SUPPOSED.search(span.text) or _REPORTED.search(span.text):
        return []
    if salience.gives_up(span) or salience.quotes_words(words):
        return []
    if "?" in span.text or is_small_talk(span.text) or not salience.is_specific(words, frozenset()):
        return []
    told = build_fragment(turn, offset, trim_tokens([*span]))
    return [replace(told, confidence=CONFIDENCE_OF_WHOLE)]


def quote_answer(
    turn: ParsedTurn, offset: int, span: Span, rest: Sequence[Token]
) -> list[FactCandidate]:
    """An answer that no sentence could be made of, told with its question: then it stands alone.

    `rest`: the words of the answer `span` that may be told.
    """
    # What the other said last; nobody answers what they asked themselves.
    before = list_things_said(p.doc for p in turn.before[-1:])
    asked = [s for s in before if is_question(s.text)]
    words = trim_tokens(list(rest))
    if turn.utterance.role != "user" or not (turn.scene.assisted and asked and words):
        return []
    short = len(words) <= _MAX_TOKENS and len(asked[0]) <= _MAX_TOKENS
    whole = sum(t.is_alpha for t in rest) * 2 >= sum(t.is_alpha for t in span)
    if not (short and whole) or {t.lower_ for t in words} & _UNTELLING or is_small_talk(span.text):
        return []
    if words[0].lower_ in ("that", "thats") and len(words) < 5:
        return []  # "that's class"
    if salience.quotes_words(words) or _reports(words) or not any(map(_is_telling, words)):
        return []
    question = " ".join(asked[0].text.split())
    told = rewrite_tokens(words, Voice(turn.scene))
    fact = build_fragment(turn, offset, words)
    return [replace(fact, text=f'Asked "{question}", {turn.scene.speaker} said: {told}.')]


def _reports(words: Sequence[Token]) -> bool:
    """What somebody else says or thinks."""
    heads = (t for t in words if t.lemma_.lower() in salience.TELLING_VERBS or _has_content(t))
    subjects = (c for head in heads for c in head.children if c.dep_ in SUBJECT_DEPENDENCIES)
    return any(subject.lower_ not in ("i", "we") for subject in subjects)


def _has_content(token: Token) -> bool:
    return any(c.dep_ == "ccomp" and c.i > token.i for c in token.children)


def _is_telling(token: Token) -> bool:
    if token.pos_ in ("NUM", "PROPN") or token.like_email:
        return True
    content = token.pos_ in ("NOUN", "ADJ", "VERB") or token.lower_.endswith("ly")
    return content and token.lemma_.lower() not in VAGUE_NOUNS


def _split_runs(rest: Sequence[Token]) -> Iterator[list[Token]]:
    run: list[Token] = []
    for token in rest:
        if run and token.i > run[-1].i + 1:
            yield _drop_address(trim_tokens(run))
            run = []
        run.append(token)
    yield _drop_address(trim_tokens(run))


def _drop_address(run: list[Token]) -> list[Token]:
    """Without the name of whom it is said to: "So stoked, Mel"."""
    if len(run) < 3 or run[-2].text != "," or run[-1].pos_ != "PROPN":
        return run
    last, before = run[-1], run[:-2]
    placed = last.ent_type_ in ("GPE", "LOC", "FAC") and salience.is_specific(before, frozenset())
    named = placed or any(t.pos_ == "PROPN" for t in before)
    called = any(t.lemma_.lower() in PEOPLE | ANIMALS for t in before)  # "my wife, Jo"
    return run if named or called else trim_tokens(before)


def _is_unknown_owner(words: Sequence[Token]) -> bool:
    """ "His mother has had enough": nobody can tell whose she is."""
    return words[0].lower_ in ("his", "her", "their")


def _says_something(run: Sequence[Token]) -> bool:
    words = [t for t in run if not t.is_punct]
    if len(words) == 1 and words[0].like_email:
        return True
    if not 1 < len(words) <= _MAX_TOKENS or {t.lower_ for t in words} & _UNTELLING:
        return False
    if len(words) == 2 and words[1].lemma_.lower() in VAGUE_NOUNS:
        return False  # "One thing."
    if salience.gives_up(words[0].sent):
        return False
    if words[0].dep_ == "conj" and words[0].pos_ == "VERB":
        return False  # who did it stands before
    bare = words[0].tag_ in ("VB", "VBP", "MD") or words[0].lower_ in _ASKING  # or half a question
    if _is_unknown_owner(words):
        return False
    subjects = [t for t in words if t.dep_ in SUBJECT_DEPENDENCIES]
    places = (*SUBJECT_DEPENDENCIES, "dobj", "pobj")
    pointing = subjects and any(t.dep_ in places and t.lower_ in _POINTED_TO for t in words)
    if salience.quotes_words(run) or _reports(words) or _shows(words):
        return False
    if bare or pointing or is_small_talk(run[0].doc[run[0].i : run[-1].i + 1].text):
        return False
    return salience.is_specific(words, frozenset())


def _shows(words: Sequence[Token]) -> bool:
    """What is pointed at: "here's a pic of the lake", "that vase is awesome"."""
    if words[0].lower_ in ("here", "there") and words[1].lemma_.lower() in ("be", "'s", "’s"):
        return True
    own = any(t.lower_ in ("i", "we", "me", "us", "my", "our") for t in words)
    verbs = any(t.dep_ in SUBJECT_DEPENDENCIES for t in words)
    return words[0].lower_ in _POINTING_AT and verbs and not own


def build_fragment(turn: ParsedTurn, offset: int, run: Sequence[Token]) -> FactCandidate:
    """Words without a verb as the speaker's."""
    me = turn.scene.speaker
    first = next(t for t in run if not t.is_punct)
    mine = first.lower_ in ("my", "our")
    words, lead = rewrite_tokens(run, Voice(turn.scene, by_speaker=not mine)), _lead_in(run, me)
    owner = me
    if _tells_of_named(run):
        owner, lead = first.text, ""
    elif lead.endswith(":") and any(t.lower_ in ("i", "me", "us") for t in run):
        lead = ""  # who speaks is named by the words
    if lead.endswith(" is") and first.is_title and first.pos_ != "PROPN":
        words = words[:1].lower() + words[1:]
    start, end = run[0].idx + offset, run[-1].idx + len(run[-1]) + offset
    inside = [t for t in turn.times if start <= t.at < end]
    # "Off till January": that is how long, and not when.
    bounded = bool(inside) and tells_bound(turn.utterance.text, inside[0])
    ahead = bool(inside) and inside[0].start > turn.utterance.at and not bounded
    polarity: Polarity = "holds"
    if run[0].lower_ in _NOT_ANY:
        polarity = (
            "ended" if any(t.lower_ in ("more", "longer", "anymore") for t in run) else "denied"
        )
    elif ahead or any(t.lower_ in _STILL_TO_COME for t in run):
        polarity = "planned"
    fact = FactCandidate(
        text=format_sentence(f"{lead} {words}".strip()),
        owner=owner,
        speaker=me,
        pattern="SVC",
        subject=owner,
        verb=_VERB,
        complement=words,
        kind="plan" if polarity == "planned" else "state",
        polarity=polarity,
        event=inside[0] if inside and not bounded else None,
        confidence=_CONFIDENCE,
        sources=(SourceSpan(turn.utterance.handle, start, end),),
    )
    home = _find_home(run) if owner == me and polarity == "holds" else ""
    if not home:
        return fact
    return replace(
        fact,
        predicate_key="lives_in",
        cardinality="single",
        kind="attribute",
        complement=home,
    )


def _find_home(run: Sequence[Token]) -> str:
    """The place that words without a verb say their speaker lives in."""
    said = "".join(t.text_with_ws for t in run)
    found = _HOUSED.match(said)
    if found is None or is_passing(run[0].sent.text):
        return ""
    place = next(t for t in run if t.idx - run[0].idx == found.start("place"))
    return _join_name(place) if is_place(place) else ""


def _join_name(last: Token) -> str:
    """ "San Juan" from its first word on."""
    words = [last.text]
    for token in last.doc[last.i + 1 : last.sent.end]:
        if token.pos_ != "PROPN" or not token.text[:1].isupper():
            break
        words.append(token.text)
    return " ".join(words)


def _tells_of_named(run: Sequence[Token]) -> bool:
    """ "Nina banks with Contoso", of which the parser may take the verb for a noun."""
    words = [t for t in run if not t.is_punct]
    if len(words) < 3 or not words[0].is_sent_start or not words[0].is_title:
        return False
    if words[0].like_num:
        return False  # "Thirteen years old"
    name, verb = words[0].text, words[1].lower_
    if is_dictionary_word(name) or words[0].is_stop:
        return False
    lemma = find_lemma(verb)
    return words[1].is_lower and (
        is_past_form(verb) or (lemma != verb and inflect_verb(lemma, "VBZ") == verb)
    )


def _lead_in(run: Sequence[Token], me: str) -> str:
    """How the words hang on the speaker: "Ana is back in Kent", "Ana's wife Jo", "Ana: flat 6"."""
    first = next(t for t in run if not t.is_punct)
    if first.lower_ in ("i", "we", "my", "our"):
        return ""  # words that name the speaker already
    named = first.is_title and not is_dictionary_word(first.text)  # "Thyronex at 6"
    if named or first.lower_ == "like" or first.lower_ in _BESIDE_THE_STATE:
        return f"{me}:"
    follows = first.nbor() if first.i + 1 < len(first.doc) else None
    job = first.lemma_.lower() in JOBS - PEOPLE and first.tag_ == "NN" and first.text.islower()
    if job and follows is not None and follows.is_punct:
        return f"{me} is {'an' if first.lower_[0] in 'aeiou' else 'a'}"  # "firefighter, blue watch"
    if first.pos_ in ("ADP", "ADV") or (first.pos_ == "ADJ" and first.dep_ in ("ROOT", "acomp")):
        return f"{me} is"
    if first.lemma_.lower() in PEOPLE | ANIMALS | JOBS and first.tag_ == "NN":
        return format_possessive(me)
    return f"{me}:"
