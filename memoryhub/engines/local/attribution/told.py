"""Statements told about the subject, as agents and hosts write them down: "User prefers tea",
"Works as a data engineer", "please remember that …", 用户喜欢喝茶 (spec §7.1, E25).

They are put into the first person, in which the rules read best, and what is read from them is
led back to the words as they were sent.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

from memoryhub.engines.local.claims.fragments import build_fragment
from memoryhub.engines.local.grammar.clauses import SUBJECT_DEPENDENCIES
from memoryhub.engines.local.grammar.rewrite import Voice, format_sentence, rewrite_tokens
from memoryhub.engines.local.grammar.scene import ParsedTurn
from memoryhub.engines.local.grammar.verbs import find_lemma, inflect_verb, is_past_form
from memoryhub.engines.local.language import HAN, detect_language
from memoryhub.engines.local.wordlists import PEOPLE, split_words
from memoryhub.engines.types import Exchange, FactCandidate, SourceSpan, Utterance

if TYPE_CHECKING:
    from spacy.tokens import Token

_ASSISTANT_CONFIDENCE = 0.5

# No sentence ends inside "10.0.4.7" or "Node.js".
_SENTENCE = re.compile(r"(?:[^\n.!?。！？；]|[.!?](?=[^\s.!?]))+[.!?。！？；]*")
_BULLET = re.compile(r"\s{0,40}(?:[-*•·–—]\s{1,4}|\d{1,3}[.)、]\s{0,4})?")
_ASKED = re.compile(
    r"(?:(?:please|pls|plz|hey|ok|okay|and|also|fyi|so)\b[,:]?\s+|(?:can|could|would"
    r"|will) you (?:please )?"
    r"|i(?:'d like| want| need) you to )?"
    r"(?:(?:always )?remember|keep in mind|bear in mind|take note|make a note|(?:please )?note"
    r"|don['’]t forget|do not forget"
    r"|memori[sz]e|(?:save|store|add|put)(?: this| it)?(?: (?:to|in) (?:your |the |my )?memory)?"
    r"|for the record|fyi|be aware)"
    r"(?:,? (?:please|this|for me|for later|too))?(?P<link> that\b|\s?[:,–—-])?\s+",
    re.I,
)  # fmt: skip
# Without "that" only what opens like a statement was asked to be kept.
_OPENS_STATEMENT = re.compile(
    r"(?:i|i['’]m|i['’]ve|my|we|we['’]re|our|(?:the )?user(?:['’]s)?|he|she|they|his|her|their)\b"
    r"(?! (?:said|told|mentioned|asked|talked|spoke|discussed))", re.I
)  # fmt: skip
# "Remember that time we …" tells nothing yet.
_RECALLS = re.compile(r"(?:time|day|one|night|when|what|how|who|where|why|to|if)\b", re.I)
_AUXILIARIES = {
    "is": "am", "has": "have", "does": "do", "was": "was", "isn't": "am not", "hasn't": "have not",
    "doesn't": "do not", "wasn't": "was not", "can": "can", "can't": "can't", "cannot": "cannot",
    "will": "will", "won't": "won't", "would": "would", "did": "did", "didn't": "did not",
    "had": "had",
    "hadn't": "had not", "could": "could", "couldn't": "could not", "may": "may", "must": "must",
    "should": "should", "needs": "need",
}  # fmt: skip
_BARE_AUXILIARIES = split_words("is has isn't hasn't doesn't can't cannot was")
# What people do, of which nobody says "it … s" without naming what does.
_PERSONAL_VERBS = split_words("""
    live work like love prefer enjoy hate dislike speak own drive use play study want need eat
    drink smoke go attend run take wear practise practice teach write read learn plan train collect
    manage lead know avoid suffer grow keep follow believe sleep cook bake travel commute volunteer
    belong weigh rent have be support identify share care swim ride walk listen watch code program
    maintain build sell buy hope intend aim expect consider struggle visit pay earn spend
    paint draw sing dance garden fish hike climb cycle meditate pray fear trust admire
    favor favour subscribe code deploy develop design run handle coach
    wake owe donate invest knit sew snore ski foster juggle
""")
# Verbs of people only with what follows them: "Reports due", "Banks closed" are of things.
_PERSONAL_WITH = re.compile(
    r"(?:reports to|answers to|banks with|votes (?:by|for|in|at)|comes from|hails from|relies on"
    r"|depends on|swears by|gets (?:up|around|along)|goes by|tends to)\b", re.I
)  # fmt: skip
# What people are, without the verb: "Married to Tom", "Born in Leeds", "Vegetarian".
_CLIPPED = re.compile(
    r"(?P<was>born (?:in|on|and raised)\b|raised (?:in|by)\b|diagnosed with\b)"
    r"|(?:married to|engaged to|based in|allergic to|interested in|fluent in|employed (?:as|at|by)"
    r"|trained (?:as|in)|retired from|divorced from|afraid of|passionate about|related to"
    r"|intolerant to|originally from)\b"
    r"|(?:vegan|vegetarian|pescatarian|divorced|widowed|retired|(?:left|right)-handed|diabetic"
    r"|dyslexic|teetotal|colou?r-?blind|lactose intolerant|pregnant|unemployed|self-employed)"
    r"(?=\s?[.,;]?\s{0,9}$|[,;]| (?:since|for|and|but)\b)"
    r"|(?P<a>(?:(?:single|proud|new) )?(?:mother|father|parent|owner|founder|co-?founder|member|fan"
    r"|graduate|resident|native|citizen|lover)(?= of\b))"
    r"(?!.{0,200}\b(?:is|are|was|were|has|have|had|said|says|will|must|can)\b)",
    re.I,
)
# A line of a profile with one value: "Role: data engineer".
_LINE_OF_PROFILE = re.compile(
    r"(?:full |first |nick)?name|age|role|job|job title|occupation|profession|employer"
    r"|team|department|home ?town|nationality|birthday|date of birth|time ?zone|diet"
    r"|manager|boss|partner|spouse|wife|husband|native language"
    r"|(?:favou?rite|preferred) [a-z]{3,20}(?: [a-z]{3,20})?",
    re.I,
)
_AFTER_LABEL = re.compile(r"\s?:\s{1,4}(?=[^\s,;:][^,;:\n]{0,80}$)")
# A program "does not work", "does not run", too.
_DENIED_OF_PEOPLE = _PERSONAL_VERBS - split_words(
    "work run go take play read build follow handle need support keep run have be"
)
# "Works fine", "Looks good", "Needs work": said of things.
_SAID_OF_THINGS = re.compile(
    r"(?:works|runs|needs|takes|goes|reads|plays|is|was|has|can't|isn't|doesn't|keeps)"
    r" (?:fine|great|good|ok|okay|well|now|perfectly|again|like a charm|for me|work|fixing|time"
    r"|ages|forever"
    r"|dr|mr|mrs|ms|prof"  # somebody who was asked about
    r"|too|so|it|this|that|there|true|matter|help|sense|nice|cool|on|off|about|been (?:great|fun"
    r"|good|ages)|to be)\b|(?:was|were) [£$€]?\d[\d.,]*[km%]?\W*$", re.I
)  # fmt: skip
_SENTENCE_END = re.compile(r"[.!?\n]\s")
_OF_SOMEBODY = re.compile(rf"\b(?:dr|mrs?|ms|prof|{'|'.join(sorted(PEOPLE))})\b", re.I)
_ADVERBS = (
    r"(?:(?:also|always|never|often|usually|currently|recently|now|sometimes|mostly|mainly|still"
    r"|really|rarely|generally|typically|primarily|just|already|only|no longer|strongly"
    r"|occasionally) ){0,2}"
)
# "Studies show", "User stories are": what looks like a verb is a noun if another follows.
_NOT_A_NOUN = (
    r"(?![\w'’])(?!\s(?:is|are|was|were|has|have|had|will|can|do|does|did|of|show|shows|suggest"
    r"|happen|start|begin|end|go|must|may|should)\b)"
)
_BARE = re.compile(rf"(?P<adverb>{_ADVERBS})(?P<verb>[a-z]{{1,20}}(?:['’]t)?){_NOT_A_NOUN}", re.I)
_AND_VERB = re.compile(
    rf"(?:,|\band|\bbut|\bor"
    rf"|\bwho)\s{{1,4}}{_ADVERBS}(?P<verb>[a-z]{{1,20}}(?:['’]t)?){_NOT_A_NOUN}",
    re.I,
)
_POSSESSIVE = re.compile(
    r"(?P<with>\b(?:with|and|for|of) [A-Z]\w{0,40}(?: and|,|['’]s|) )?\b(?P<own>his|her"
    r"|their)\b(?= \w)"
)
_DENIED = re.compile(r" not (?:(?:ever|usually|really|even) )?(?P<verb>[a-z]{2,20})\b", re.I)
_SELF = re.compile(r"\b(?:himself|herself|themself|themselves)\b", re.I)
_USER_WORDS = ("the user", "this user", "user", "[user]", "<user>")
_CHINESE_USER = re.compile(
    r"(?:该|这位|本|此)?用户(?!名|体验|界面|量|数|群|端|协议|手册|增长|反馈|们|需求|调研)"
)
_LABEL = re.compile(r"(?:the )?user\s?[:：]\s{0,4}(?=\S)", re.I)
_LABEL_CHINESE = re.compile(r"用户\s?[:：]\s{0,4}(?=\S)")
_ASKED_CHINESE = re.compile(
    r"(?:请|麻烦|帮我|给我|你|您|一定|务必|要){0,4}记(?:一?[下笔]|住|着|好|得)(?!来"
    r"|的)[，,：:\s]{0,3}"
)
_SPACES = re.compile(r"\s{0,4}")
# "User's learning": is, not has.
_IS_CLIPPED = re.compile(
    r"(?:not|an?|the|from|allergic|vegan|vegetarian|married|single|based"
    r"|\w{3,20}ing (?!\w{1,20} (?:is|are|was))|in|at)\b"
)
_MAX_LISTED = 200  # characters of a sentence in a list of statements
_FIRST_PERSON = re.compile(r"\b(?:i|me|my|we|our|us)\b", re.I)  # who tells is another
_FIRST_OR_SECOND = re.compile(r"\b(?:i|i['’]m|my|me|we|our|us|you|your|it|that|this)\b", re.I)


class Edit(NamedTuple):
    """Characters [start, end) of what was sent, and what is read in their place."""

    start: int
    end: int
    text: str


@dataclass(frozen=True)
class RestatedText:
    """`text` is what is read; `kept`: where in it what was told stands, which is kept whatever
    its worth; `names_subject`: all of it is told of the subject by name, whoever sends it;
    `tells_subject`: all of it is told of the subject, or of nobody by name."""

    text: str
    edits: tuple[Edit, ...] = ()
    kept: tuple[tuple[int, int], ...] = ()
    names_subject: bool = False
    tells_subject: bool = False

    def find_sent_span(self, span: SourceSpan) -> SourceSpan:
        """The characters as they were sent of a span of what is read."""
        start, end = self.find_sent_place(span.start), self._find_sent_end(span.end)
        return SourceSpan(span.handle, start, end)

    def find_sent_place(self, at: int) -> int:
        edit, begin = self._find_edit(at)
        if edit is None:
            return at
        beyond = at - begin - len(edit.text)
        return edit.start if beyond < 0 else edit.end + beyond

    def _find_sent_end(self, at: int) -> int:
        edit, begin = self._find_edit(at - 1)
        return at if edit is None else edit.end + max(0, at - begin - len(edit.text))

    def _find_edit(self, at: int) -> tuple[Edit | None, int]:
        """The last edit that begins at or before `at`, and where it does in what is read."""
        place = bisect_right(self._begins, at) - 1
        return (self.edits[place], self._begins[place]) if place >= 0 else (None, 0)

    @cached_property
    def _begins(self) -> list[int]:
        grown = accumulate((_measure_growth(edit) for edit in self.edits), initial=0)
        return [edit.start + by for edit, by in zip(self.edits, grown, strict=False)]

    def is_kept(self, at: int) -> bool:
        return any(start <= at < end for start, end in self.kept)


@dataclass(slots=True)
class _Sentence:
    """`edits` put it into the first person. `told`: it is about the subject; `named`: in so many
    words; `known`: by a verb of what people do; `asked`: it is to be remembered; `plain`: it may
    stand in a list of statements; `blank`: it has no words."""

    start: int
    end: int
    edits: list[Edit] = field(default_factory=list)
    told: bool = False
    named: bool = False
    known: bool = False
    asked: bool = False
    plain: bool = False
    blank: bool = False


def restate_text(text: str, names: Collection[str] = ()) -> RestatedText:
    """`names` of the subject, the id among them. What is no statement about it stays as it is."""
    reader = _SentenceReader(text, names)
    sentences = [s for s in map(reader.read, _SENTENCE.finditer(text)) if not s.blank]
    listed = all(s.told or s.asked or s.plain for s in sentences)
    taken = [s for s in sentences if s.asked or (s.told and (listed or (s.named and s.known)))]
    if not taken:
        return RestatedText(text)
    edits = tuple(edit for s in taken for edit in s.edits)
    parts, at = list[str](), 0
    for edit in edits:
        parts += [text[at : edit.start], edit.text]
        at = edit.end
    starts = [edit.start for edit in edits]
    grown = [*accumulate((_measure_growth(edit) for edit in edits), initial=0)]
    bounds = [(s.start, s.end) for s in taken]
    kept = [tuple(p + grown[bisect_left(starts, p)] for p in bound) for bound in bounds]
    return RestatedText(
        "".join([*parts, text[at:]]),
        edits,
        tuple((start, end) for start, end in kept),
        all(s.named for s in sentences),
        all(s.told for s in sentences),
    )


def restate_exchange(exchange: Exchange) -> tuple[Exchange, Mapping[str, RestatedText]]:
    """The exchange as it is read, and by handles what of it is worded otherwise than it was sent.

    Only where an assistant is told or somebody writes alone: among people "works for me" is talk.
    What an assistant tells of the subject by name is read as the subject's own words.
    """
    names = {name for name in (exchange.subject, *exchange.aliases) if name}
    said = [*exchange.utterances, *exchange.history]
    helped = any(u.role == "assistant" for u in said)
    alone = not any(u.role == "user" for u in said)
    if not helped and len({*exchange.participants, *(u.speaker for u in said)}) > 1:
        return exchange, {}
    read, restated = list[Utterance](), dict[str, RestatedText]()
    for utterance in exchange.utterances:
        own = utterance.role == "assistant" or utterance.speaker in names
        made = restate_text(utterance.text, names if own else ())
        told = made.names_subject or (alone and made.tells_subject)
        tells = utterance.role == "user" or (told and bool(exchange.subject))
        if tells and made.kept and utterance.role in ("user", "assistant"):
            restated[utterance.handle] = made
            teller = exchange.subject if utterance.role == "assistant" else utterance.speaker
            utterance = replace(utterance, text=made.text, role="user", speaker=teller)
        read.append(utterance)
    if not restated:
        return exchange, {}
    heard = {u.speaker for u in said if u.handle in restated and u.role == "assistant"}
    people = [name for name in exchange.participants if name not in heard]
    return replace(exchange, utterances=read, participants=people), restated


def quote_told(
    turn: ParsedTurn, restated: RestatedText, facts: Collection[FactCandidate]
) -> list[FactCandidate]:
    """What was told and the rules made nothing of, as it stands."""
    found = []
    for start, end in restated.kept:
        if any(start <= fact.sources[0].start < end for fact in facts):
            continue
        inside = [
            (offset, [t for t in doc if start <= t.idx + offset < end and not t.is_space])
            for offset, doc in turn.pieces
        ]
        offset, tokens = next(((o, ts) for o, ts in inside if ts), (0, []))
        if any(t.is_alpha for t in tokens):
            found.append(_quote_tokens(turn, offset, tokens))
    return found


def _quote_tokens(turn: ParsedTurn, offset: int, tokens: Sequence[Token]) -> FactCandidate:
    """As a sentence by itself where it is one."""
    fragment = build_fragment(turn, offset, tokens)
    if not any(t.dep_ in SUBJECT_DEPENDENCIES for t in tokens):
        return fragment
    return replace(fragment, text=format_sentence(rewrite_tokens(tokens, Voice(turn.scene))))


def lead_back(
    fact: FactCandidate, sent: Exchange, restated: Mapping[str, RestatedText]
) -> FactCandidate:
    """The fact with its words where they were sent, by whoever sent them."""
    spans = [
        s if s.handle not in restated else restated[s.handle].find_sent_span(s)
        for s in fact.sources
    ]
    first = fact.sources[0].handle
    if first not in restated:
        return fact
    event = fact.event and replace(fact.event, at=restated[first].find_sent_place(fact.event.at))
    moved = replace(fact, sources=tuple(spans), event=event)
    teller = next(u for u in sent.utterances if u.handle == first)
    if teller.role == "user":
        return moved
    return replace(
        moved, speaker=teller.speaker, confidence=min(fact.confidence, _ASSISTANT_CONFIDENCE)
    )


def _measure_growth(edit: Edit) -> int:
    return len(edit.text) - (edit.end - edit.start)


class _SentenceReader:
    def __init__(self, text: str, names: Collection[str]) -> None:
        self.text = text
        ordered = sorted({*_USER_WORDS, *filter(None, names)}, key=len, reverse=True)
        called = "|".join(map(re.escape, ordered))
        self.subject = re.compile(rf"(?:{called})(?P<own>['’]s?)?(?=[\s{HAN}])", re.I)
        self.label = "\n" not in text.strip()

    def read(self, found: re.Match[str]) -> _Sentence:
        made = _Sentence(found.start(), found.end())
        at = self._skip(_BULLET, made.start, made.end)
        made.blank = not re.search(r"[^\W\d]", found[0])
        asks = found[0].rstrip().endswith(("?", "？"))
        if made.blank or asks:
            return made
        at = self._read_request(made, at)
        if detect_language(found[0]) == "zh":
            self._read_chinese(made, at)
        else:
            self._read_english(made, at)
        made.start = min(made.start, at)
        return made

    def _skip(self, pattern: re.Pattern[str], at: int, end: int) -> int:
        found = pattern.match(self.text, at, end)
        return found.end() if found else at

    def _read_request(self, made: _Sentence, at: int) -> int:
        """What asks for it to be remembered is not read: "please remember that"."""
        if found := _ASKED_CHINESE.match(self.text, at, made.end):
            made.asked = True
            return found.end()  # the rules pass over these words
        found = _ASKED.match(self.text, at, made.end)
        if found is None:
            return at
        linked = found["link"] and not _RECALLS.match(self.text, found.end(), made.end)
        if linked or _OPENS_STATEMENT.match(self.text, found.end(), made.end):
            made.edits.append(Edit(at, found.end(), ""))
            made.asked = True
            return found.end()
        return at

    def _read_chinese(self, made: _Sentence, at: int) -> None:
        label = self._skip(_LABEL_CHINESE, at, made.end) if self.label else at
        if label > at:
            made.edits.append(Edit(at, label, ""))
            made.told = made.named = made.known = True
            return
        named = self.subject.match(self.text, at, made.end)
        if named and not named["own"]:
            made.edits.append(Edit(at, self._skip(_SPACES, named.end(), made.end), "我"))
            made.told = made.named = made.known = True
            at = named.end()
        for found in _CHINESE_USER.finditer(self.text, at, made.end):
            if found.start() == at or self.text[found.start() - 1] in "，,、":
                made.edits.append(Edit(found.start(), found.end(), "我"))
                made.told = made.named = made.known = True
        made.plain = not re.search(r"[我你您吗]", self.text[at : made.end])

    def _read_english(self, made: _Sentence, at: int) -> None:
        label = self._skip(_LABEL, at, made.end) if self.label else at
        if label > at:
            made.edits.append(Edit(at, label, ""))
            made.told = made.named = made.known = True
            at = label
        named = self.subject.match(self.text, at, made.end)
        if named and not _FIRST_PERSON.search(self.text, named.end(), made.end):
            at = self._read_named(made, named)
        elif not named and (not made.edits or label):
            at = self._read_bare(made, at)
        if made.told:
            self._read_rest(made, at)
        made.plain = _is_plain(self.text[made.start : made.end])

    def _read_named(self, made: _Sentence, named: re.Match[str]) -> int:
        """ "User prefers", "The user's dog is", "User's learning"."""
        after = self._skip(_SPACES, named.end(), made.end)
        following = _BARE.match(self.text, after, made.end)
        word = following["verb"].lower() if following else ""
        if named["own"]:
            being = _IS_CLIPPED.match(self.text, after, made.end)
            made.edits.append(Edit(named.start(), named.end(), "I'm" if being else "my"))
            made.told = made.named = made.known = True
            return after
        base = _find_base(word)
        if following and base:
            words = f"I {following['adverb']}{base}"
            made.edits.append(Edit(named.start(), following.end(), words))
            made.known = word in _AUXILIARIES or base in _PERSONAL_VERBS
            made.told = made.named = True
            return following.end()
        if word in ("and", "or") or (word and is_past_form(word)):
            made.edits.append(Edit(named.start(), named.end(), "I"))
            made.told = made.named = made.known = True
            return after
        return named.start()

    def _read_bare(self, made: _Sentence, at: int) -> int:
        """ "Works as a data engineer": nobody is named, and so the subject is meant."""
        if after := self._read_clipped(made, at):
            return after
        found = _BARE.match(self.text, at, made.end)
        word = found["verb"].lower().replace("’", "'") if found else ""
        if found is None or _SAID_OF_THINGS.match(self.text, at, made.end):
            return at
        base = _find_base(word)
        known = word in _BARE_AUXILIARIES or base in _PERSONAL_VERBS
        known = known or bool(_PERSONAL_WITH.match(self.text, found.start("verb"), made.end))
        if word == "does":
            denied = _DENIED.match(self.text, found.end(), made.end)
            known = denied is not None and denied["verb"].lower() in _DENIED_OF_PEOPLE
        if base and known:
            made.edits.append(Edit(at, found.end(), f"I {found['adverb'].lower()}{base}"))
            made.told = made.known = True
            return found.end()
        return at

    def _read_clipped(self, made: _Sentence, at: int) -> int:
        """ "Married to Tom", "Role: data engineer": where what follows begins, 0 for neither."""
        line = _LINE_OF_PROFILE.match(self.text, at, made.end)
        if line and (named := _AFTER_LABEL.match(self.text, line.end(), made.end)):
            label = line[0][:1].lower() + line[0][1:]
            made.edits.append(Edit(at, named.end(), f"my {label} is "))
            made.told = made.known = True
            return named.end()
        found = _CLIPPED.match(self.text, at, made.end)
        if found is None or self._goes_on_about_other(found, made):
            return 0
        being = "I was" if found["was"] else "I'm"
        article = "" if not found["a"] else " an" if found["a"][0] in "oO" else " a"
        opening = self.text[at].lower()
        made.edits.append(Edit(at, at + 1, f"{being}{article} {opening}"))
        made.told = made.known = True
        return found.end()

    def _goes_on_about_other(self, found: re.Match[str], made: _Sentence) -> bool:
        """ "My doctor was Lim. Retired.": one word behind what is told of somebody else."""
        alone = not self.text[found.end() : made.end].strip(" .,;!\n")
        before = _SENTENCE_END.split(self.text[: made.start].rstrip(" .!?\n"))[-1]
        return alone and _OF_SOMEBODY.search(before) is not None

    def _read_rest(self, made: _Sentence, at: int) -> None:
        """Its further verbs and possessives: "… and hates loud places with their sister"."""
        for found in _AND_VERB.finditer(self.text, at, made.end):
            low = found["verb"].lower().replace("’", "'")
            base = _find_base(low)
            if base and (low in _AUXILIARIES or base in _PERSONAL_VERBS):
                made.edits.append(Edit(*found.span("verb"), base))
        for found in _POSSESSIVE.finditer(self.text, at, made.end):
            if not found["with"]:
                made.edits.append(Edit(*found.span("own"), "my"))
        for found in _SELF.finditer(self.text, at, made.end):
            made.edits.append(Edit(*found.span(), "myself"))
        made.edits.sort()


def _find_base(word: str) -> str:
    """The form after "I" of one after "she": ("doesn't") → "do not"; "" where there is none."""
    word = word.lower().replace("’", "'")
    if word in _AUXILIARIES:
        return _AUXILIARIES[word]
    if not word.endswith("s") or len(word) < 4 or "'" in word:
        return ""
    lemma = find_lemma(word)
    return lemma if lemma != word and inflect_verb(lemma, "VBZ") == word else ""


def _is_plain(sentence: str) -> bool:
    """Short, and neither of "me" nor to "you"."""
    short = len(sentence) <= _MAX_LISTED and not sentence.rstrip().endswith("!")
    return short and not _FIRST_OR_SECOND.search(sentence)
