"""Whether a clause says something specific enough to be worth remembering."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from memoryhub.engines.local.grammar.clauses import Clause, has_subject
from memoryhub.engines.local.grammar.polarity import answers_no, is_negated
from memoryhub.engines.local.grammar.speech import is_correction
from memoryhub.engines.local.grammar.verbs import EMPTY_PRESENT_VERBS, EMPTY_VERBS
from memoryhub.engines.local.wordlists import CONDITIONS, VAGUE_NOUNS, split_words

if TYPE_CHECKING:
    from spacy.tokens import Span, Token

_DEICTIC_WORDS = frozenset({"this", "that", "these", "those", "such", "your"})
_POINTING_WORDS = split_words("""
    it they them this that these those he she him her his its their one ones here there both
    each everything something anything nothing another other others theirs hers itself
    themselves himself herself
""")
_POSSESSIVE_WORDS = frozenset({"his", "her", "its", "their"})
_REMOVABLE_DEPENDENCIES = split_words("prep advcl relcl acl appos npadvmod conj advmod dep ccomp")
_WEAK_VERBS = split_words("""
    be have do get go feel come make take give keep put seem become start try need
""")
_EMPTY_WORDS = split_words("thing stuff way lot bit kind sort something anything everything")
_DOUBT_AUXILIARIES = split_words("would could might should may must 'd ’d ought")
_DEFINING_DEPENDENCIES = frozenset({"amod", "relcl", "acl", "compound"})
_PREMISES = split_words("flat apartment house room place office studio")
_LET_PLACES = _PREMISES | {"cottage", "garage", "shop"}
_SHARED_PLACES = _PREMISES | {"kitchen", "garden"}
_PHATIC_VERBS = split_words("let say tell thank share hear know")  # "I wanted to let you know"
TELLING_VERBS = split_words("""
    say tell claim reckon swear bet joke yell shout insist warn think believe suppose guess
""")
_QUOTATION = re.compile(r"(?<!\w)[\"“‘'](\w+(?:\W+\w+)+?)[.!?,]?[\"”’'](?!\w)")
_GIVING_UP = re.compile(r"\bso much for\b", re.I)
_HOW_OFTEN = re.compile(
    r"\b(?:(?:every|each) (?!time\b)\w+|(?:once|twice|times) (?:a|every) \w+|weekly|monthly|daily"
    r"|(?:on )?(?:mon|tues|wednes|thurs|fri|satur|sun)days)\b",
    re.I,
)
_MAX_TOKENS = 32


_NO_NEWS = frozenset({"same", "unchanged"})


def _is_as_before(clause: Clause) -> bool:
    """ "My email is the same as ever": what it is was told before."""
    told = clause.children("attr", "acomp")
    stays = clause.main.lemma_.lower() in ("be", "stay", "remain")
    return stays and any(t.lower_ in _NO_NEWS for t in told)


def is_empty_clause(clause: Clause) -> bool:
    """Its verb reports a state of mind, or is only considered possible."""
    lemma = clause.head.lemma_.lower()
    if lemma == "say" and is_correction(clause.head.sent.text):
        return True
    if clause.head.lower_ == "said" and any(map(_is_passed_on, clause.children("ccomp"))):
        return True  # "I said Al is in Leeds": that is told by then
    if len(clause.chain) > 1 and clause.main.lemma_.lower() in _PHATIC_VERBS:
        return True
    if _is_as_before(clause):
        return True
    if lemma in ("tell", "mention") and any(t.lower_ == "you" for t in clause.head.children):
        return True
    now = clause.head.tag_ in ("VBP", "VB", "VBZ") and not _is_perfect_or_ahead(clause)
    doubtful = any(
        (c.lower_ in _DOUBT_AUXILIARIES and c.dep_ == "aux") or c.lower_ in ("maybe", "perhaps")
        for c in clause.head.children
    )
    wishes = lemma in ("like", "love") and len(clause.chain) > 1
    cannot = any(c.lower_ in ("ca", "can", "could") for c in clause.head.children)
    cannot = cannot and lemma in EMPTY_VERBS | EMPTY_PRESENT_VERBS
    hopes_to = lemma == "hope" and len(clause.chain) > 1
    empty = (lemma in EMPTY_VERBS and not hopes_to) or (
        now
        and lemma in EMPTY_PRESENT_VERBS
        and not (_does_regularly(clause) or _is_paper(clause.subject))
    )
    empty = empty and not _is_let(clause)
    empty = (empty and not (_shares_place(clause) or _stays_somewhere(clause))) or _only_says_since(
        clause
    )
    return empty or cannot or (doubtful and not wishes) or _has_if(clause)


def _is_let(clause: Clause) -> bool:
    """ "I was let go" tells of a dismissal, "the flat is let to two dentists" of a lease."""
    done = any(c.lower_ in ("was", "were", "got", "been", "is") for c in clause.head.children)
    if not done or clause.head.lower_ != "let":
        return False
    leased = clause.subject is not None and clause.subject.lemma_.lower() in _LET_PLACES
    return leased or any(t.lower_ == "go" for t in clause.chain[1:])


def _does_regularly(clause: Clause) -> bool:
    """ "I see a counsellor on Thursdays", "I send my mother 500 every month": a habit."""
    own = clause.subject is not None and clause.subject.lower_ in ("i", "we")
    if any(t.lower_ in _POINTING_WORDS for t in clause.children("dobj", "dative")):
        return False  # "I see her every Sunday"
    return own and _HOW_OFTEN.search(" ".join(t.text for t in clause.main.subtree)) is not None


def _shares_place(clause: Clause) -> bool:
    """ "I share a flat with Jo" is no news that is shared."""
    shared = (t.lemma_.lower() for t in clause.children("dobj"))
    return clause.main.lemma_.lower() == "share" and not _SHARED_PLACES.isdisjoint(shared)


def _stays_somewhere(clause: Clause) -> bool:
    """ "My mum stays in Amravati", "I stay with my aunt" is no stay at what is said."""
    where = {c.lower_ for c in clause.main.children if c.dep_ == "prep"}
    return clause.main.lemma_.lower() == "stay" and not where.isdisjoint({"in", "at", "with"})


def _only_says_since(clause: Clause) -> bool:
    """Since when something is so, and not what: "have been since school"."""
    rest = [c for c in clause.main.children if c.i > clause.main.i and not c.is_punct]
    been = clause.main.lower_ == "been" and bool(rest)
    return been and all(c.lower_ in ("since", "for") and c.dep_ == "prep" for c in rest)


# What these say is so: "the placement test says B1".
_PAPERS = split_words("test scan letter result report x-ray biopsy certificate invoice contract")


def _is_paper(subject: Token | None) -> bool:
    return subject is not None and subject.lemma_.lower() in _PAPERS


def is_report(clause: Clause) -> bool:
    """What somebody else says, thinks or bets: theirs, and not told as if it were so."""
    subject = clause.subject
    if subject is None or subject.lower_ in ("i", "we", "me") or _is_paper(subject):
        return False
    lemmas = {clause.main.lemma_.lower(), clause.head.lemma_.lower()}
    content = any(c.i > clause.main.i and _is_told_clause(c) for c in clause.children("ccomp"))
    object_of = any(clause.children("ccomp", "xcomp", "dobj", "oprd", "dative", "intj"))
    return content or (bool(lemmas & TELLING_VERBS) and object_of)


def _is_passed_on(token: Token) -> bool:
    """Whether a clause stands right behind who says it: not "I said yes, and we are married"."""
    subject = next((c for c in token.children if c.dep_ in ("nsubj", "nsubjpass")), None)
    behind = token.head.i + 1
    if subject is None or behind == len(token.doc):
        return False
    first, after = subject.left_edge.i, token.doc[behind]
    opens = behind in (first, first - 1)
    return _is_told_clause(token) and opens and after.lower_ not in ("yes", "no", "and")


_DIAGNOSING = split_words("""
    doctor doc gp consultant nurse dentist optician midwife physio vet specialist hospital surgeon
    cardiologist dermatologist neurologist oncologist psychiatrist paediatrician pediatrician
""")


def is_diagnosis(clause: Clause) -> bool:
    """ "The doctor says I've got high blood pressure", whose word it is that it is so."""
    told = clause.subject is not None and clause.subject.lemma_.lower() in _DIAGNOSING
    return told and clause.main.lemma_.lower() in ("say", "confirm", "find")


def _is_told_clause(token: Token) -> bool:
    finite = token.tag_ in ("VBD", "VBP", "VBZ", "MD") or any(
        c.dep_ in ("aux", "auxpass") for c in token.children
    )
    return finite and has_subject(token)


def quotes_words(tokens: Iterable[Token]) -> bool:
    """Somebody's words stand in it: a quotation, not a title or a name."""
    own = list(tokens)
    if not own:
        return False
    text = own[0].doc[own[0].i : own[-1].i + 2].text
    return any(found[1][:1].islower() for found in _QUOTATION.finditer(text))


def _is_perfect_or_ahead(clause: Clause) -> bool:
    words = {c.lower_ for c in clause.head.children if c.dep_ == "aux"}
    return bool(words & {"have", "'ve", "’ve", "did", "will", "'ll", "’ll"})


def _has_if(clause: Clause) -> bool:
    if clause.main.lemma_ == "be" and any(
        t.pos_ in ("PROPN", "NUM") for t in clause.children("attr")
    ):
        return False  # "manager is Denise if I need to ring in sick"
    marks = (c for a in clause.children("advcl", "ccomp") for c in a.children if c.dep_ == "mark")
    return any(mark.lower_ in ("if", "unless", "whether") for mark in marks)


def addresses_listener(tokens: Iterable[Token], clause: Clause) -> bool:
    """It tells the listener of themselves ("I admire your courage")."""
    found = {t.lower_ for t in tokens if t.pos_ in ("PRON", "DET")}
    happened = clause.head.tag_ in ("VBD", "VBN")
    return "your" in found or "yours" in found or ("you" in found and not happened)


def drop_precaution(tokens: list[Token]) -> list[Token]:
    """Without why the listener is told: ", in case you suggest recipes"."""
    words = [t.lower_ for t in tokens]
    for at, pair in enumerate(pairwise(words)):
        if pair == ("in", "case") and not {"you", "u"}.isdisjoint(words[at:]):
            return tokens[:at]
    return tokens


# What people ask an assistant to make, write or find.
_ASKED_FOR = split_words("""
    hand help list idea recipe bio email mail text message letter note draft sequence tip suggestion
    advice caption pattern speech itinerary template summary poem quote reply response title excuse
    line word wording name checklist outline script toast blurb subject sign thing resume cv
""")
_ASKED_TO = split_words("write send tell explain ask say word draft message text email reply know")


def asks_for_help(clause: Clause) -> bool:
    """ "I need a packing list", "I want to write my teacher": what an assistant is to do."""
    head, subject = clause.head, clause.subject
    own = subject is None or subject.lower_ in ("i", "we")
    now = head.tag_ in ("VBP", "VB", "VBZ") or (subject is None and head.lower_ == "need")
    if not own or not now or head.lemma_.lower() not in ("need", "want"):
        return False
    asked = {t.lemma_.lower() for t in head.children if t.dep_ == "dobj"}
    done = {t.lemma_.lower() for t in head.children if t.dep_ in ("xcomp", "ccomp")}
    return bool(asked & _ASKED_FOR or done & _ASKED_TO)


def gives_up(tokens: Iterable[Token]) -> bool:
    """ "So much for the diet": what is spoken of is no state of anybody's."""
    return _GIVING_UP.search(" ".join(token.text for token in tokens)) is not None


def is_in_quotes(token: Token) -> bool:
    before = token.doc[: token.i].text
    return before.count('"') % 2 == 1 or before.count("“") > before.count("”")


def is_quoted(sentence: Span) -> bool:
    """Somebody else's words: the sentence stands in quotation marks."""
    text = sentence.text.strip()
    return len(text) > 2 and text[0] in "\"“‘'" and text.rstrip(".!?,")[-1] in "\"”’'"


def drop_pointing_parts(
    tokens: Sequence[Token], core: Iterable[Token], person: Token | None = None
) -> list[Token] | None:
    """The tokens without the parts that point outside the clause; None when its core does.

    `person`: who the clause is about, whose things are theirs: "my dad sold his house".
    """
    firm = {t.i for t in core}
    kept = {t.i for t in tokens}
    for token in tokens:
        if token.i in kept and _is_pointing(token, tokens, kept, person):
            part = _find_removable_part(token, firm)
            if part is None:
                return None
            kept -= {t.i for t in part.subtree}
            if _is_left_hanging(part.head, kept):
                beside = _find_removable_part(part.head, firm)  # "… and hoping" without its clause
                if beside is None or beside != part.head:
                    return None
                kept -= {t.i for t in beside.subtree}
    return [t for t in tokens if t.i in kept]


def _is_left_hanging(verb: Token, kept: set[int]) -> bool:
    """A verb that lost all it was about: "I love watching them play" without "them play"."""
    about = ("dobj", "prep", "attr", "acomp", "xcomp", "ccomp", "prt", "oprd", "npadvmod", "dative")
    if verb.lemma_ == "be" and verb.dep_ not in ("aux", "auxpass"):
        told = ("attr", "acomp", "prep", "oprd", "xcomp", "ccomp", "advmod", "agent")
        return not any(c.dep_ in told and c.i in kept for c in verb.children)  # "is there daily"
    return verb.pos_ == "VERB" and not any(c.dep_ in about and c.i in kept for c in verb.children)


_HOW_LONG = frozenset({"from", "until", "till", "til", "since"})


def _is_pointing(
    token: Token, tokens: Sequence[Token], kept: set[int], person: Token | None
) -> bool:
    if token.lower_ == "one" and token.dep_ in ("dobj", "attr"):
        return not any(c.dep_ in _DEFINING_DEPENDENCIES or c.lower_ == "of" for c in token.children)
    shouted = token.text == "IT"  # a noun to the parser
    if token.lower_ not in _POINTING_WORDS or not (
        shouted or token.pos_ in ("PRON", "DET", "ADV", "SCONJ")
    ):
        return False
    if token.pos_ == "DET" and token.lower_ not in _POSSESSIVE_WORDS:
        return False
    if token.lower_ == "there" and token.head.lemma_ == "be":
        # "We're there from the 16th": without it nothing would be told but a time.
        return not any(c.dep_ == "prep" and c.lower_ in _HOW_LONG for c in token.head.children)
    relates = token.head.dep_ == "relcl" and token.lower_ in ("that", "which")
    if relates or token.dep_ in ("mark", "expl"):
        return False
    if person is not None and person.i < token.i and _is_theirs(token, person):
        return False
    own = token.lower_ in _POSSESSIVE_WORDS or token.lower_ in ("them", "they", "him")
    return not (own and _has_antecedent(token, tokens, kept))


def _is_theirs(token: Token, person: Token) -> bool:
    """ "My dad sold his house", "my dad fell so he's staying with us": nobody else is named."""
    if token.lower_ in ("he", "she"):
        others = (t for t in token.doc[person.i + 1 : token.i] if t.pos_ == "PROPN")
        return token.dep_ in ("nsubj", "nsubjpass") and not any(others)
    return token.lower_ in ("his", "her") and token.dep_ == "poss"


def _has_antecedent(token: Token, tokens: Sequence[Token], kept: set[int]) -> bool:
    """A noun before it in the clause that it may stand for."""
    many = token.lower_ in ("their", "them", "they")
    for t in tokens:
        if t.i >= token.i:
            return False
        if t.i in kept and t.pos_ in ("NOUN", "PROPN") and (t.tag_.endswith("S") == many):
            return True
    return False


def _find_removable_part(token: Token, firm: set[int]) -> Token | None:
    for part in [token, *token.ancestors]:
        if part.i in firm:
            return None
        if part.dep_ in _REMOVABLE_DEPENDENCIES:
            return None if any(t.i in firm for t in part.subtree) else part
    return None


def shorten_tokens(tokens: Sequence[Token], core: Iterable[Token]) -> list[Token]:
    """Side clauses taken away, last first, while the clause is long."""
    firm = {t.i for t in core}
    kept = list(tokens)
    sides = [t for t in reversed(kept) if t.dep_ in ("advcl", "relcl", "ccomp", "conj", "acl")]
    for side in sides:
        part = {t.i for t in side.subtree}
        if len(kept) > _MAX_TOKENS and not part & firm:
            kept = [t for t in kept if t.i not in part]
    return kept


def is_specific(tokens: Iterable[Token], names: frozenset[str]) -> bool:
    """Some token names a thing, a person, a number or a lasting condition."""
    return any(_is_content(token, names) for token in tokens)


def _is_content(token: Token, names: frozenset[str]) -> bool:
    low = token.lower_
    if token.pos_ == "PROPN":
        return low not in names and low.isalpha()
    number = token.pos_ == "NUM" and (token.ent_type_ not in ("DATE", "TIME") or len(low) > 4)
    if low in CONDITIONS or number or token.like_email:
        return True
    return token.pos_ == "NOUN" and is_telling_noun(token)


def may_be_content(token: Token) -> bool:
    """A word that may say something, times and feelings among them."""
    if token.pos_ in ("NUM", "PROPN", "ADJ") or token.like_email:
        return True
    return token.pos_ in ("NOUN", "VERB") and token.lemma_.lower() not in _EMPTY_WORDS


def is_telling_noun(noun: Token) -> bool:
    """A noun that carries content and is not pointed at ("this thing")."""
    return is_naming_noun(noun) and not _is_pointed_at(noun)


def is_naming_noun(noun: Token) -> bool:
    if noun.dep_ == "attr" and noun.lemma_.lower() in ("kid", "child", "teen", "teenager"):
        return False
    is_time = noun.ent_type_ in ("DATE", "TIME")
    return not is_time and noun.lemma_.lower() not in VAGUE_NOUNS and len(noun.text) > 2


def _is_pointed_at(noun: Token) -> bool:
    deps = ("det", "predet", "poss")
    return any(c.lower_ in _DEICTIC_WORDS for c in noun.children if c.dep_ in deps)


def has_strong_verb(clause: Clause) -> bool:
    """The verb alone says something ("I smoke", "I moved yesterday")."""
    lemma = clause.main.lemma_
    weak = lemma.lower() in _WEAK_VERBS | EMPTY_VERBS | EMPTY_PRESENT_VERBS
    return lemma.isalpha() and not weak and not clause.children("dobj")


def is_echo_word(token: Token, clause: Clause) -> bool:
    """A word that only ties the clause to the talk: "I still live in Rome" says "lives in Rome"."""
    if token.lower_ not in ("still", "also", "really") or token.dep_ != "advmod":
        return False
    return token.head in clause.chain and token.i < clause.main.i and not is_negated(clause)


def skip_announcement(tokens: list[Token], clause: Clause) -> list[Token]:
    """Without an announcement: "Long story: my car broke down", "Not really, my friend came"."""
    opens = (clause.subject or clause.head).i
    marks = (":", ",") if tokens and answers_no(tokens[0]) else (":",)
    colons = [i for i, t in enumerate(tokens) if t.text in marks and t.i < opens]
    return tokens[colons[-1] + 1 :] if colons else tokens
