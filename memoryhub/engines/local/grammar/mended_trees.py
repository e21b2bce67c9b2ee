"""What the parser takes for something else in the way people type, put right in its tree.

Verbs of a list: "I teach at Oakwood and run the chess club" has an infinitive to it, "I like tea
and hate coffee" a list of what is liked, "My brother is a plumber and lives in Cork" two nouns.
Each verb is told of the subject, and what one clause says is ended, replaced and found by itself.
Openings without "I" or "the": "work at Halden Foods", "rent up to 690", "gaz sacked". What is over
beside what is so now: "I live in Bath now not Bristol" denies nothing of Bath.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from memoryhub.engines.local.grammar.clauses import SUBJECT_DEPENDENCIES, find_verb_subject
from memoryhub.engines.local.grammar.verbs import (
    ACTIVITY_VERBS,
    LIFE_VERBS,
    TOLD_VERBS,
    find_lemma,
    inflect_verb,
    is_dictionary_word,
    is_past_form,
)
from memoryhub.engines.local.wordlists import ANIMALS, JOBS, PEOPLE, split_words

if TYPE_CHECKING:
    from spacy.tokens import Doc, Span, Token

# What was so instead of what a clause tells.
CONTRAST = "contrast"
_WITHIN_CLAUSE = split_words("attr acomp dobj pobj prep conj compound npadvmod")
_SPEAKERS = frozenset({"i", "we"})
_NOT_ONE = split_words("i we you they these those")
# What is hardly ever a noun behind a noun and "and".
_DONE = TOLD_VERBS | LIFE_VERBS | ACTIVITY_VERBS
_PLURAL_TAGS = frozenset({"NNS", "NNPS"})


# Who leaves out "I" before them says more of themselves than of a thing, if this follows.
_BARE_VERBS = split_words("work bank study volunteer train live")
_BEHIND_BARE = split_words("at for with w w/ as")
_PRICES = split_words("rent pay")
_DONE_BARE = split_words("finished passed quit joined started booked bought sold ditched cancelled")
_LEAST_NAME = 3  # letters
# "Not Bristol" behind "now" or before "any more", "rather than the Golf", "no longer at Asda".
_BY_NOW = split_words("now nowadays days")
_OPENS_CONTRAST = (("not",), ("rather", "than"), ("instead", "of"), ("no", "longer"))
_CONTRASTING = frozenset(opened[0] for opened in _OPENS_CONTRAST)
_ENDS_CONTRAST = split_words(". , ; : ! ? ( ) - – — and but so because since cos")
_ROLES = PEOPLE | JOBS | {"leader"}


def mend_tree(doc: Doc) -> None:
    """Makes each listed verb a verb in its form, listed with the verb before it, and what opens a
    sentence what it is."""
    for sentence in doc.sents:
        if len(sentence) > 1:
            _mend_opening(sentence[0], sentence[1])
    for token in doc:
        _mend_word(token)
        if token.lower_ in _CONTRASTING:
            _set_contrast_apart(token)
        verb = _find_verb_before(token)
        tag = _find_tag(token, verb) if verb is not None else ""
        if verb is not None and tag:
            _list_with(token, verb, tag)


def _mend_opening(first: Token, second: Token) -> None:
    low = first.lower_
    if first.dep_ == "amod" and low in _DONE_BARE and first.head.tag_ == "NNP":
        _make_verb(first)
    elif first.head != first:
        # A name in lower case, of somebody to whom it was done, or who is something to others.
        told = second.head == second and second.tag_ in ("VBN", "VBD") and is_past_form(second.text)
        told = told and not _has_child(second, *SUBJECT_DEPENDENCIES)
        named = first.is_alpha and len(low) >= _LEAST_NAME and not is_dictionary_word(low)
        if named and not first.is_stop and (told or _tells_role(first, second)):
            first.dep_, first.tag_, first.pos_ = "nsubj", "NNP", "PROPN"
    elif low in _PRICES and first.tag_ in ("VB", "VBP") and second.lower_ in ("up", "down"):
        first.tag_, first.pos_ = "NN", "NOUN"
    elif low == "owe" or (low in _BARE_VERBS and second.lower_ in _BEHIND_BARE):
        told_of = next((c for c in second.children if c.dep_ == "pobj"), None)
        if low == "owe" or (told_of is not None and not told_of.like_num):
            first.tag_, first.pos_, first.lemma_ = "VBP", "VERB", low


def _set_contrast_apart(token: Token) -> None:
    """Hangs what opens here, as "not Bristol" of "in Bath now not Bristol", on the verb as a part
    that stands for itself."""
    doc, start = token.doc, token.i
    opened = next((o for o in _OPENS_CONTRAST if _list_words(doc, start, len(o)) == o), ())
    before = doc[start - 1 - (doc[start - 1].text in (",", "and"))] if start > 1 else None
    if not opened or before is None or before.sent != token.sent:
        return
    by_now = before.lower_ in _BY_NOW
    verb = _find_verb_above(before.head if by_now else before)
    if verb is None or before.i <= verb.i + by_now:
        return  # "she is now not well", "I am no longer there"
    end = start + len(opened)
    while end < token.sent.end and doc[end].lower_ not in _ENDS_CONTRAST:
        end += 1
    over = doc[start + len(opened) : end]
    told_now = by_now or opened == ("no", "longer") or _is_any_more(over)
    if not over or not told_now or any(t.pos_ in ("VERB", "AUX") for t in over):
        return
    last = over[-1]
    last.head, last.dep_ = verb, CONTRAST
    for part in doc[start : end - 1]:
        if not start <= part.head.i < end or part.head == part or part.dep_ == "neg":
            part.head, part.dep_ = last, "dep"


def _is_any_more(over: Span) -> bool:
    return over.text.lower().endswith(("any more", "anymore"))


def _list_words(doc: Doc, start: int, many: int) -> tuple[str, ...]:
    return tuple(t.lower_ for t in doc[start : start + many])


def _make_verb(first: Token) -> None:
    """ "Finished" of "finished Dune"."""
    thing = first.head
    if thing.dep_ != "ROOT" or _has_child(thing, *SUBJECT_DEPENDENCIES):
        return
    first.head, first.dep_, first.tag_, first.pos_ = first, "ROOT", "VBD", "VERB"
    first.lemma_ = find_lemma(first.lower_)
    thing.head, thing.dep_ = first, "dobj"


def _mend_word(token: Token) -> None:
    low, before = token.lower_, token.nbor(-1) if token.i else None
    if token.pos_ == "VERB" and low in (f"{token.lemma_}ing", f"{token.lemma_}ed"):
        whole = f"{token.lemma_}e"  # "hoping" is no form of "hop"
        if inflect_verb(token.lemma_, token.tag_) != low == inflect_verb(whole, token.tag_):
            token.lemma_ = whole
    if before is None or token.dep_ != "ROOT":
        return
    if token.tag_ == "VB" and before.tag_ == "VB" and before.head == token:
        _make_object(token, before)
    elif before.tag_ == "POS" and before.head.i == token.i - 2:
        _make_statement(token, before)


def _make_object(token: Token, verb: Token) -> None:
    """ "Gluten" of "I don't eat gluten", a verb to the parser."""
    for child in list(token.children):
        child.head = verb
    verb.head, verb.dep_ = verb, "ROOT"
    token.head, token.dep_, token.tag_, token.pos_ = verb, "dobj", "NN", "NOUN"


def _make_statement(told: Token, clipped: Token) -> None:
    """ "My back's bad", "my daughter's started": "is" or "has", and nothing that the back owns."""
    subject = clipped.head
    done = told.tag_ in ("VBD", "VBN") or (told.tag_ == "JJ" and is_past_form(told.text))
    if subject.dep_ == "nsubj" and done:
        # "My daughter's started", and "my car's broken".
        has = subject.lemma_.lower() in PEOPLE | ANIMALS or subject.pos_ == "PROPN"
        has = has or _has_child(told, "dobj", "prt")
        clipped.head, clipped.dep_ = told, "aux" if has else "auxpass"
        clipped.lemma_ = "have" if has else "be"
        told.tag_, told.pos_, told.lemma_ = "VBN", "VERB", find_lemma(told.lower_)
    elif told.tag_ in ("JJ", "JJR") and subject.dep_ in ("poss", "nsubj"):
        for child in list(told.children):
            child.head = clipped
        clipped.head, clipped.dep_, clipped.lemma_ = clipped, "ROOT", "be"
        told.head, told.dep_ = clipped, "acomp"
        subject.head, subject.dep_ = clipped, "nsubj"
    else:
        return
    clipped.tag_, clipped.pos_ = "VBZ", "AUX"


def _tells_role(subject: Token, verb: Token) -> bool:
    """ "haziq is leader"."""
    roles = (c for c in verb.children if c.dep_ in ("attr", "acomp"))
    is_told = subject.head == verb and verb.lemma_ == "be"
    return is_told and any(c.lemma_.lower() in _ROLES for c in roles)


def _find_verb_before(token: Token) -> Token | None:
    """The verb whose list it may go on: the one that it hangs on, or the one of the noun that it
    hangs on."""
    if token.dep_ not in ("conj", "dep", "advcl") or not token.i or token.head.i >= token.i:
        return None
    if token.dep_ != "conj" and token.doc[token.left_edge.i - 1].text != ",":
        return None
    if token.dep_ == "advcl" and token.tag_ != "NN":
        return None
    return _find_verb_above(token.head)


def _find_verb_above(token: Token) -> Token | None:
    """The verb of whose clause it is a part, itself if it is one."""
    while token.pos_ not in ("VERB", "AUX"):
        if token.dep_ not in _WITHIN_CLAUSE or token.head == token:
            return None
        token = token.head
    return token


def _find_tag(token: Token, verb: Token) -> str:
    """The tag that it should have beside this verb; "" where it is as it should be, or no verb."""
    if token.i <= verb.i + 2 or _has_child(token, "aux", "auxpass", *SUBJECT_DEPENDENCIES):
        return ""  # "we cook and sell jam" is one thing that is done
    subject = find_verb_subject(verb)
    if token.tag_ in _PLURAL_TAGS:
        third = verb.tag_ == "VBZ" and subject is not None and not _is_several(subject)
        # "Works at a mill and retires in May" is read as of "I".
        own = subject is not None and subject.lower_ == "i" and find_lemma(token.lower_) in _DONE
        if not (third or own) or not _is_taken_for_noun(token):
            return ""
        return "VBZ" if third else "VBP"
    if token.tag_ == "NN" and subject is not None and subject.lower_ in _SPEAKERS:
        opens = token.nbor(-1).text == "," and _has_child(token, "prep", "dobj")
        present = verb.tag_ == "VBP" and token.lower_ in _DONE
        return "VBP" if opens and present else ""
    if token.pos_ != "VERB" or subject is None:
        return ""
    if token.tag_ in ("VB", "VBP"):
        mended = token.dep_ == "conj" and token.head == verb and token.tag_ == "VBP"
        present = verb.tag_ == "VBP" and not _has_child(verb, "aux", "auxpass")
        told = not mended and (present or _is_perfect(verb) or verb.tag_ == "VBD")
        past = verb.tag_ == "VBD" and inflect_verb(find_lemma(token.lower_), "VBD") == token.lower_
        return ("VBD" if past else "VBP") if told and subject.lower_ in _SPEAKERS else ""
    if _has_child(token, "compound", "det", "poss"):
        return ""  # "contract" in "my contract runs until May" is its subject
    same = token.tag_ == verb.tag_ and token.tag_ in ("VBZ", "VBD")
    moved = token.head != verb or token.dep_ == "dep"
    return token.tag_ if same and moved and not _has_child(verb, "aux", "auxpass") else ""


def _has_child(token: Token, *deps: str) -> bool:
    return any(child.dep_ in deps for child in token.children)


def _is_several(subject: Token) -> bool:
    return subject.tag_ in _PLURAL_TAGS or subject.lower_ in _NOT_ONE or any(subject.conjuncts)


def _is_taken_for_noun(token: Token) -> bool:
    """ "lives in Cork" behind "and"."""
    if token.nbor(-1).lower_ not in (",", "and", "but"):
        return False
    lemma = find_lemma(token.lower_)
    if lemma == token.lower_ or inflect_verb(lemma, "VBZ") != token.lower_:
        return False
    if _has_child(token, "prep", "prt", "advmod"):
        return token.head.pos_ in ("VERB", "AUX") or lemma in _DONE
    return lemma in _DONE and bool(_list_behind(token))


def _list_behind(token: Token) -> list[Token]:
    """What stands behind it and hangs on the noun before it."""
    return [c for c in token.head.children if c.i > token.i and c.dep_ in ("prep", "npadvmod")]


def _is_perfect(verb: Token) -> bool:
    """No bare verb goes on with "have": "I've moved to Lyon and work at a bank"."""
    aided = [c.lower_ for c in verb.children if c.dep_ in ("aux", "auxpass")]
    return len(aided) == 1 and aided[0] in ("have", "'ve", "’ve")


def _list_with(token: Token, verb: Token, tag: str) -> None:
    link = token.nbor(-1)
    if link.dep_ in ("cc", "punct") and link.head != verb and link.head.sent == verb.sent:
        link.head = verb
    for part in _list_behind(token) if token.head != verb else ():
        part.head = token
    token.head, token.dep_ = verb, "conj"
    token.tag_, token.pos_ = tag, "VERB"
    token.lemma_ = find_lemma(token.lower_)
