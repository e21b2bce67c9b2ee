"""What is held about somebody, said to them: Ana is told "You work at Casa do Barro"."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import TYPE_CHECKING

from memoryhub.engines.local.grammar.clauses import find_verb_subject
from memoryhub.engines.local.grammar.parse import parse_texts
from memoryhub.engines.local.grammar.verbs import find_lemma
from memoryhub.engines.local.language import HAN
from memoryhub.subject_names import replace_names

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

# The parser knows these better than any name.
_SHE, _HER = "she", "her"
_OWN_WORDS = {"their": "your", "theirs": "yours", "themself": "yourself"}
_IRREGULAR = {"is": "are", "was": "were", "has": "have", "does": "do"}
# What somebody is called is said by the name.
_CALLED_EN = r"(?<!called )(?<!named )(?<!name is )"


def address_person(text: str, names: Collection[str]) -> str:
    """The text, told to the one whom `names` stand for: ("Ana works here.", ["Ana"]) → "You work
    here.", (李敏住在成都。, [李敏]) → 你住在成都。"""
    if re.search(f"[{HAN}]", text):
        return _address_in_chinese(text, names)
    words = sorted({name for name in names if name}, key=len, reverse=True)
    if not words:
        return text
    either = "|".join(map(re.escape, words))
    told = rf"(?:{either}) is (?P<name>{either})(?:, (?P<age>\d{{1,3}}))?\.?"
    if called := re.fullmatch(told, text, re.I):
        aged = f" and are {called['age']}" if called["age"] else ""
        return f"You are called {called['name']}{aged}."
    told = rf"{_CALLED_EN}(?<![\w-])(?:{either})(?P<own>['’]s?)?(?![\w-])"
    plain, places = _put_pronouns(text, re.compile(told, re.I))
    return _reword(plain, places) if places else text


def _address_in_chinese(text: str, names: Collection[str]) -> str:
    called = {name: "\0" * at for at, name in enumerate(names, 1) if f"叫{name}" in text}
    for name, kept in called.items():
        text = text.replace(f"叫{name}", f"叫{kept}")
    told = replace_names(text, names, "你")
    for name, kept in sorted(called.items(), key=lambda pair: -len(pair[1])):
        told = told.replace(kept, name)
    return told


def _put_pronouns(text: str, told: re.Pattern[str]) -> tuple[str, set[int]]:
    """The text with a pronoun for the person, and where these pronouns begin."""
    said, places, end = "", set[int](), 0
    for match in told.finditer(text):
        said += text[end : match.start()]
        places.add(len(said))
        said += _HER if match["own"] else _SHE
        end = match.end()
    return said + text[end:], places


def _reword(text: str, places: set[int]) -> str:
    """With "you" and "your" at these places, and the verbs and possessives that go with them."""
    (pieces,) = parse_texts([text])
    return "".join(
        _reword_doc(doc, {t.i for t in doc if t.idx + start in places}) for start, doc in pieces
    )


def _reword_doc(doc: Doc, mine: Collection[int]) -> str:
    spoken = {t.sent.start for t in doc if t.i in mine and t.lower_ == _SHE}
    return "".join(
        _reword_token(token, mine, of_person=token.sent.start in spoken) + token.whitespace_
        for token in doc
    )


def _reword_token(token: Token, mine: Collection[int], *, of_person: bool) -> str:
    """`of_person`: in a sentence about them, whose "their" is theirs."""
    if token.i in mine:
        word = "your" if token.lower_ == _HER else "you"
        return word.capitalize() if token.is_sent_start else word
    if of_person and token.lower_ in _OWN_WORDS:
        return _OWN_WORDS[token.lower_]
    if _agrees_with(token, mine):
        return _IRREGULAR.get(token.lower_) or find_lemma(token.text)
    return token.text


def _agrees_with(token: Token, mine: Collection[int]) -> bool:
    if token.tag_ != "VBZ" and token.lower_ not in _IRREGULAR:
        return False
    verb = token.head if token.dep_ in ("aux", "auxpass") else token
    subject = find_verb_subject(verb)
    return subject is not None and subject.i in mine and subject.lower_ == _SHE
