"""The words of a sentence that answer a question: a name, a place, a number, an object, a reason.

English only: it stands on the dependency parse. Weights were chosen on LoCoMo's conversations
1 and 2 (docs/explanation/answers.md).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from memoryhub.engines.local.answers.evidence import EvidenceSentence, QuestionTerms, extract_stems
from memoryhub.engines.local.grammar.parse import parse_texts
from memoryhub.engines.local.wordlists import PEOPLE, split_words

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

PhraseKind = Literal["who", "where", "number", "why", "what", "other"]

_PLACES = "city|country|town|place|state|area"
_KIND_PATTERNS: tuple[tuple[PhraseKind, re.Pattern[str]], ...] = (
    ("number", re.compile(r"^\W*how (?:many|much|old|often|long)\b", re.I)),
    ("why", re.compile(r"^\W*(?:why|what (?:made|motivated|inspired)|for what reason)\b", re.I)),
    ("where", re.compile(rf"^\W*(?:where|(?:in |at |to )?(?:which|what) (?:{_PLACES})s?)\b", re.I)),
    ("who", re.compile(r"^\W*(?:with |to |for |from )?(?:who|whom|whose)\b", re.I)),
    ("what", re.compile(r"\b(?:what|which)\b", re.I)),
)  # fmt: skip
# Sentences, and characters of one, that are looked at: parsing takes its time.
_LOOKED_AT, _MOST_CHARACTERS = 6, 500
_MOST_TOKENS = 10
_NOUN_DEPENDENCIES = split_words("dobj attr pobj oprd conj appos nsubj ROOT")
_VERB_DEPENDENCIES = frozenset({"xcomp", "ccomp", "pcomp"})
_ASIDE_DEPENDENCIES = split_words("relcl advcl parataxis ccomp intj npadvmod")
_PLACE_ENTITY_TYPES = frozenset({"GPE", "LOC", "FAC", "ORG"})
_TIME_ENTITY_TYPES = frozenset({"DATE", "TIME"})
_REASON = re.compile(
    r"(?:\'cause|\b(?:because|cuz|since|so that|in order to|due to|as it|thanks to)\b)\s*", re.I
)
_DIGIT_WORDS = "one|two|three|four|five|six|seven|eight|nine"
_NUMBER = (
    rf"\d[\d,.]*|an?|(?:twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)(?:-(?:{_DIGIT_WORDS}))?"
    rf"|(?:{_DIGIT_WORDS})|ten|eleven|twelve|(?:thir|four|fif|six|seven|eigh|nine)teen"
    r"|a few|several|a couple(?: of)?"
)
_AMOUNT = re.compile(
    rf"\b(?:(?:for |since )?(?:about |around |over |almost |nearly )?(?:{_NUMBER})"
    r"(?: (?:years?|months?|weeks?|days?|hours?|minutes?|times?))?(?: (?:a|per|each|every) \w+)?"
    r"|once(?: or twice)?(?: an? \w+)?|twice(?: an? \w+)?|every \w+|since \d{4})\b",
    re.I,
)
_UNIT = re.compile(r"year|month|week|day|hour|minute|time|once|twice|every", re.I)
_TITLE = re.compile(r"[\"“]([^\"”]{2,60})[\"”]")
_TITLED_NOUNS = split_words("book movie film song game title show series name album band")


@dataclass(frozen=True, slots=True)
class Phrase:
    """Characters [start, end) of the text of a quote."""

    quote: int
    start: int
    end: int
    text: str
    score: float


@dataclass(frozen=True, slots=True)
class PhraseRequest:
    """What kind of phrase is asked for; `noun` what it is called; `many`: more than one."""

    kind: PhraseKind
    noun: str = ""
    many: bool = False


def parse_phrase_request(question: str) -> PhraseRequest:
    kind: PhraseKind = next(
        (kind for kind, pattern in _KIND_PATTERNS if pattern.search(question)), "other"
    )
    if kind not in ("what", "where"):
        return PhraseRequest(kind)
    doc = _parse_first_pieces([question[:_MOST_CHARACTERS]])[0]
    asking = next((t for t in doc if t.lower_ in ("what", "which")), None)
    noun = _find_asked_noun(asking) if asking is not None else None
    many = noun is not None and noun.tag_ in ("NNS", "NNPS")
    return PhraseRequest(kind, noun.lemma_.lower() if noun is not None else "", many)


def _find_asked_noun(asking: Token) -> Token | None:
    """ "What kind of dance", "which dance", "what is the dance": dance."""
    head = asking.head
    if asking.dep_ in ("det", "nsubj") and head.pos_ in ("NOUN", "PROPN"):
        inner = [t for of in head.children if of.dep_ == "prep" for t in of.children]
        general = head.lemma_ in ("kind", "type", "sort", "name", "genre")
        return inner[0] if general and inner else head
    if head.lemma_ == "be":
        return next((t for t in head.children if t.dep_ == "nsubj" and t.pos_ == "NOUN"), None)
    return None


def rank_phrases(
    asked: QuestionTerms, wish: PhraseRequest, sentences: Sequence[EvidenceSentence]
) -> list[Phrase]:
    """What may answer the question, best first."""
    short = [sentence for sentence in sentences if len(sentence.text) <= _MOST_CHARACTERS]
    looked_at = short[:_LOOKED_AT]
    docs = _parse_first_pieces([sentence.text for sentence in looked_at])
    found = [
        phrase
        for sentence, doc in zip(looked_at, docs, strict=True)
        for phrase in _find_phrases(asked, wish, sentence, doc)
    ]
    return sorted(found, key=lambda each: -each.score)


def _parse_first_pieces(texts: Sequence[str]) -> list[Doc]:
    """The first piece of each: sentences are short."""
    empty = parse_texts([" ."])[0][0].doc
    return [pieces[0].doc if pieces else empty for pieces in parse_texts([t or "." for t in texts])]


def _find_phrases(
    asked: QuestionTerms, wish: PhraseRequest, sentence: EvidenceSentence, doc: Doc
) -> Iterator[Phrase]:
    base = 2 * sentence.score
    for start, end, worth in _find_spans(asked, wish, doc):
        text = doc.text[start:end]
        at = sentence.start + start
        yield Phrase(sentence.quote, at, at + len(text), text, base + worth)


def _find_spans(
    asked: QuestionTerms, wish: PhraseRequest, doc: Doc
) -> Iterator[tuple[int, int, float]]:
    if wish.kind == "number":
        yield from _find_amounts(asked, doc)
    elif wish.kind == "why":
        yield from _find_reasons(doc)
    elif wish.kind != "other":
        yield from _find_titles(wish, doc)
        shared = [token.i for token in doc if _get_stem(token) in asked.stems]
        for token in doc:
            if _may_answer(token, asked):
                yield *_find_extent(token), _score_token(token, asked, wish, shared)


def _find_amounts(asked: QuestionTerms, doc: Doc) -> Iterator[tuple[int, int, float]]:
    """Numbers: with "how many", of what is asked for only; with "how long", of units of time."""
    many = re.search(r"how many", asked.text, re.I)
    long = re.search(r"how (?:long|often)", asked.text, re.I)
    for match in _AMOUNT.finditer(doc.text):
        unit = bool(_UNIT.search(match[0]))
        if match[0].lower() in ("a", "an") or (long and not unit):
            continue
        counted = extract_stems(doc.text[match.start() : match.end() + 25]) & asked.stems
        if counted or not many:
            yield match.start(), match.end(), 0.6 + 0.6 * bool(counted)


def _find_reasons(doc: Doc) -> Iterator[tuple[int, int, float]]:
    for match in _REASON.finditer(doc.text):
        end = len(doc.text.rstrip(" .!"))
        if end - match.end() > 5:
            yield match.end(), end, 0.8
    for token in doc:
        if token.dep_ == "advcl" and token.tag_ == "VB":
            first, last = token.left_edge, token.right_edge
            yield first.idx, last.idx + len(last.text.rstrip(".!")), 0.3


def _find_titles(wish: PhraseRequest, doc: Doc) -> Iterator[tuple[int, int, float]]:
    if wish.noun in _TITLED_NOUNS:
        for match in _TITLE.finditer(doc.text):
            yield match.start(1), match.end(1), 3.0


def _may_answer(token: Token, asked: QuestionTerms) -> bool:
    if token.pos_ == "VERB":
        fits = token.dep_ in _VERB_DEPENDENCIES and token.tag_ in ("VB", "VBG")
    else:
        fits = token.pos_ in ("NOUN", "PROPN", "NUM") and token.dep_ in _NOUN_DEPENDENCIES
    return fits and bool(_extract_new_stems(token, asked))


def _extract_new_stems(token: Token, asked: QuestionTerms) -> set[str]:
    """What the phrase says that the question does not."""
    start, end = _find_extent(token)
    known = asked.stems | {stem for name in asked.people for stem in extract_stems(name)}
    return extract_stems(token.doc.text[start:end]) - known - extract_stems(asked.text)


def _find_extent(token: Token) -> tuple[int, int]:
    """Characters of the phrase around a head, without asides, articles and owners."""
    kept = sorted(_collect_members(token), key=lambda each: each.i)
    at = kept.index(token)
    first, last = at, at
    while first and kept[first - 1].i == kept[first].i - 1:
        first -= 1
    while last + 1 < len(kept) and kept[last + 1].i == kept[last].i + 1:
        last += 1
    run = kept[first : last + 1]
    run = run[-_MOST_TOKENS:] if at > _MOST_TOKENS else run[:_MOST_TOKENS]
    lead = ("DET", "PRON", "PUNCT", "CCONJ")
    while len(run) > 1 and (run[0].pos_ in lead or run[0].lower_ == "to"):
        run = run[1:]
    while len(run) > 1 and run[-1].pos_ in (*lead, "ADP"):
        run = run[:-1]
    return _extend_to_words(token.doc.text, run[0].idx, run[-1].idx + len(run[-1].text))


def _extend_to_words(text: str, start: int, end: int) -> tuple[int, int]:
    """The parser takes "de-stress" apart."""
    while start and re.match(r"[\w-]", text[start - 1]):
        start -= 1
    while end < len(text) and re.match(r"[\w-]", text[end]):
        end += 1
    return start, end


def _collect_members(token: Token) -> Iterator[Token]:
    yield token
    for child in token.children:
        aside = child.dep_ == "conj" and child.pos_ not in ("NOUN", "PROPN")
        if not (aside or child.dep_ in _ASIDE_DEPENDENCIES or child.pos_ == "SCONJ"):
            yield from _collect_members(child)


def _score_token(
    token: Token, asked: QuestionTerms, wish: PhraseRequest, shared: Sequence[int]
) -> float:
    worth = 0.4 * (token.dep_ in ("dobj", "attr")) - 0.4 * (token.dep_ in ("nsubj", "ROOT"))
    worth += 0.6 * (_get_stem(_find_governor(token)) in asked.stems)
    worth += 1.0 * (token.lemma_.lower() == wish.noun)
    worth -= 0.03 * min((abs(i - token.i) for i in shared), default=10)
    worth -= 0.8 * (token.ent_type_ in _TIME_ENTITY_TYPES)
    worth -= 0.4 * (token.pos_ == "VERB")
    worth -= 0.2 * (_is_one_word(token) and not token.ent_type_)
    return worth + _score_kind(token, wish)


def _is_one_word(token: Token) -> bool:
    start, end = _find_extent(token)
    return " " not in token.doc.text[start:end]


def _score_kind(token: Token, wish: PhraseRequest) -> float:
    """For being the kind of thing that is asked for."""
    if wish.kind == "who":
        return 0.8 if token.ent_type_ == "PERSON" or token.lemma_ in PEOPLE else -0.6
    if wish.kind == "where":
        placed = token.dep_ == "pobj" and token.head.lower_ in ("in", "at", "to", "from", "near")
        return 0.8 * (token.ent_type_ in _PLACE_ENTITY_TYPES) + 0.5 * placed - 0.5
    return 0.2 * bool(token.ent_type_ and token.ent_type_ != "PERSON")


def _find_governor(token: Token) -> Token:
    return next((each for each in token.ancestors if each.pos_ in ("VERB", "AUX")), token)


def _get_stem(token: Token) -> str:
    return next(iter(extract_stems(token.text)), "")
