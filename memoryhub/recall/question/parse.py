"""What a question asks for, read by rules: whom, when, which predicate. No model call."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from memoryhub.engines.local.answers import asked
from memoryhub.engines.local.answers.asked import AskedIdentity, AskedTense, ValueKind
from memoryhub.engines.local.answers.kinds import AskedKind, find_asked_kind
from memoryhub.engines.local.answers.relatives import (
    find_listed_kin,
)
from memoryhub.engines.local.answers.typos import correct_typos
from memoryhub.engines.local.chinese import rules
from memoryhub.engines.local.claims import predicates
from memoryhub.engines.local.dates.english import find_times
from memoryhub.engines.local.language import LanguageCode, detect_language
from memoryhub.engines.types import TimeSpan
from memoryhub.subject_names import PLACEHOLDERS, get_first_name
from notes.index.indexer import split_into_chunks, strip_names
from notes.index.lexemes import build_lexical_text

_WHEN_PATTERN = re.compile(
    r"\b(?:when|what (?:time|day|date|month|year)|which (?:day|month|year)|how long ago)\b"
    r"|什么时候|哪天|几月|几号|何时|哪年|哪一天",
    re.I,
)
# Characters of a question that are read: for its words, and by the rules.
READ_WORDS, READ = 20_000, 4_000
_CHINESE_NAME_PATTERN = re.compile(r"[\u4e00-\u9fff]{3}")
# Roles and words that also are names: not taken for somebody when written in lower case.
_ROLE_WORDS = frozenset({"user", "assistant", "system", "tool"})
_WORDS_NOT_NAMES = _ROLE_WORDS | {"will", "may", "can", "mark", "art"}


@dataclass(frozen=True, slots=True)
class ParsedQuestion:
    """What the rules made of a question.

    `embed`: without names, cut to what the embedder reads; `words`: the same, for the lexical
    arm. `named`: participants it names; `spans`: times it names; `asks_when`: it wants
    one. `predicates`: keys of the facts that would answer it. `subject`: whom the space is
    about, where the question is about somebody and names nobody, or whoever asks. `tense`: whether
    it is after what holds or what held before; `past`: what is over may answer it;
    `value`: what kind of value answers it; `mentions_relative`: it speaks of somebody's sister,
    boss or dog; `wants_overview`: of the subject, it asks for all that is known, `wants_agenda`:
    for all that lies ahead; `identity`: it asks who somebody is; `kind`: it asks for what none of
    its words need tell; `kin`: it asks how many such relatives somebody has, or whether any.
    `called`: all that the subject is called, where it is the one who is meant.
    """

    query: str
    text_to_embed: str
    words: str
    truncated: bool
    named: tuple[str, ...]
    spans: tuple[TimeSpan, ...]
    asks_when: bool
    predicates: tuple[str, ...]
    language: LanguageCode
    subject: str = ""
    tense: AskedTense = ""
    past: bool = False
    value: ValueKind = ""
    mentions_relative: bool = False
    wants_overview: bool = False
    wants_agenda: bool = False
    identity: AskedIdentity | None = None
    kind: AskedKind | None = None
    kin: re.Pattern[str] | None = None
    called: frozenset[str] = frozenset()

    @property
    def speaker(self) -> str:
        """The one participant the question is about, or ""."""
        if self.named:
            return self.named[0] if len(self.named) == 1 else ""
        return self.subject

    @property
    def speaker_names(self) -> frozenset[str]:
        """All that `speaker` is called; none where it is nobody."""
        who = self.speaker
        return (self.called if who in self.called else frozenset({who})) - {""}


def parse_question(
    query: str,
    speakers: Iterable[str],
    now: datetime,
    max_tokens: int,
    subject: str = "",
    called: Iterable[str] = (),
) -> ParsedQuestion:
    """Read `query`, which is not empty, as asked at `now` of a space with these speakers, of whom
    one may be its `subject`, who is also `called` so.

    Of a query longer than READ_WORDS characters the rest is not looked at.
    """
    length, query = len(query.strip()), query.strip()[:READ_WORDS]
    typed, query = query, correct_typos(query[:READ]) + query[READ:]
    named = tuple(name for name in speakers if _mentions_name(query, name))
    forms = [form for name in named for form in _list_name_forms(name)]
    bare = strip_names(query, [*forms, *(f"{form}s" for form in forms)])
    about = subject if not named and asked.is_about_subject(query[:READ]) else ""
    of_subject = bool(subject) and subject in (about, *named)
    pieces, language = split_into_chunks(bare, max_tokens), detect_language(query[:READ])
    return ParsedQuestion(
        query=typed,
        text_to_embed=pieces[0],
        # What seems a slip may be a name: it is looked for as well.
        words=build_lexical_text(bare if query == typed else f"{bare} {typed}"),
        truncated=len(pieces) > 1 or length > len(typed),
        named=named,
        spans=find_times(query[:READ], now),
        asks_when=bool(_WHEN_PATTERN.search(query)),
        predicates=_find_predicates(query[:READ], language),
        language=language,
        subject=about,
        tense=asked.find_asked_tense(query[:READ]),
        past=asked.asks_for_past(query[:READ]),
        value=asked.find_value_kind(query[:READ]),
        mentions_relative=asked.mentions_relative(query[:READ]),
        wants_overview=of_subject and asked.asks_for_overview(query[:READ]),
        wants_agenda=of_subject and asked.asks_for_agenda(query[:READ]),
        identity=asked.find_asked_identity(query[:READ]),
        kind=find_asked_kind(query),
        kin=find_listed_kin(query[:READ]),
        called=frozenset(called),
    )


def _find_predicates(question: str, language: LanguageCode) -> tuple[str, ...]:
    if language == "zh":
        return rules.find_question_predicates(question)
    return predicates.find_question_predicates(question)


def _list_name_forms(name: str) -> Sequence[str]:
    """How a name may be written: in full, its first word, both in lower case; 林晓雨 as 晓雨."""
    if name in PLACEHOLDERS:
        return [name]
    first = get_first_name(name)
    lower = [form.lower() for form in (name, first) if form.lower() not in _WORDS_NOT_NAMES]
    given = [name[1:]] if _CHINESE_NAME_PATTERN.fullmatch(name) else []
    return [name, first, *lower, *given]


def _mentions_name(query: str, name: str) -> bool:
    if not name or name.lower() in _ROLE_WORDS:
        return False
    alternatives = "|".join(re.escape(form) for form in _list_name_forms(name))
    # "anas job": whoever types in a hurry leaves the apostrophe out.
    return bool(re.search(rf"(?<![A-Za-z])(?:{alternatives})s?(?![A-Za-z])", query))
