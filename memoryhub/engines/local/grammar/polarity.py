"""Whether a clause holds, is denied, has ended or is still to come, and of what kind it is."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from memoryhub.engines.local.claims.predicates import OWNED_THINGS, is_single_valued
from memoryhub.engines.local.grammar.clauses import Clause
from memoryhub.engines.local.grammar.mended_trees import CONTRAST
from memoryhub.engines.local.grammar.verbs import ENDING_VERBS, LIKING_VERBS, is_past_form
from memoryhub.engines.local.wordlists import split_words
from memoryhub.engines.types import FactKind, Polarity, TimeSpan

if TYPE_CHECKING:
    from spacy.tokens import Token

_FUTURE_AUXILIARIES = frozenset({"will", "'ll", "’ll", "gon", "shall", "wo"})
_PLANNING_VERBS = split_words(
    "plan want hope intend aim prepare wish think look consider decide dream"
)
_LOSING_VERBS = split_words("quit leave lose resign sell")
_GIVING_UP = (("give", "up"), ("move", "out"), ("cut", "out"), ("jack", "in"), ("pack", "in"))
_GIVING_VERBS = split_words("give hand put send submit tender turn email post deliver serve")
_MOVING_VERBS = split_words("move relocate emigrate")
_PUTTING_OFF_VERBS = split_words(
    "move reschedule postpone push put bring change shift shove bump knock switch delay"
)
_ARRANGING_VERBS = split_words(
    "book reserve schedule arrange fix set register enrol enroll confirm plan pencil slate"
)
_ROUND_AGAIN = split_words("every each once twice weekly daily monthly nightly yearly")
_PRESENT_BE = frozenset({"am", "are", "is", "'m", "’m", "m", "'re", "’re", "re", "'s", "’s"})


def derive_polarity(clause: Clause, event: TimeSpan | None, at: datetime) -> Polarity:
    """The polarity of a clause said at `at`."""
    apart = {t for v in clause.chain for c in v.children if c.dep_ == CONTRAST for t in c.subtree}
    words = {t.lower_ for verb in clause.chain for t in verb.subtree if t not in apart}
    if _has_ended(clause, words):
        return "ended"
    if is_negated(clause):
        return "denied"
    return "planned" if _is_planned(clause, event, at) else "holds"


def is_negated(clause: Clause) -> bool:
    likes = clause.head.lemma_.lower() in LIKING_VERBS
    direct = (c for verb in clause.chain for c in find_negations(verb))
    direct = (c for c in direct if not likes or c.i < clause.head.i)  # not "I hate not working"
    return any(direct) or _has_no(clause)


def is_only_near(clause: Clause) -> bool:
    """ "I nearly quit my job", which nobody did."""
    before = (c for verb in clause.chain for c in verb.lefts)
    return any(c.lower_ in ("nearly", "almost") for c in before)


def find_negations(verb: Token) -> list[Token]:
    """What denies the verb; after a comma it denies something else ("on Tuesday, not Monday")."""
    found = (c for c in verb.children if c.dep_ == "neg" or c.lower_ == "never")
    return [c for c in found if (c.i == 0 or c.doc[c.i - 1].text != ",") and not answers_no(c)]


def answers_no(token: Token) -> bool:
    """ "Not really, Amira moved in": it denies what was asked and not what follows."""
    doc, sentence = token.doc, token.sent
    if token.i != sentence.start or token.lower_ not in ("not", "no"):
        return False
    after = doc[token.i + 1 : min(token.i + 3, sentence.end)]
    return any(t.text == "," for t in after)


def _has_no(clause: Clause) -> bool:
    things = clause.children("dobj", "attr")
    return any(c.lower_ == "no" and c.dep_ in ("det", "neg") for t in things for c in t.children)


def _has_ended(clause: Clause, words: set[str]) -> bool:
    longer = "no" in words and "longer" in words
    more = is_negated(clause) and ("anymore" in words or {"any", "more"} <= words)
    return longer or more or _is_stopping(clause) or _has_used_to(clause)


_PACKED = split_words("boxes box bags bag suitcase case hurry rush advance car")


def _is_stopping(clause: Clause) -> bool:
    head = _find_done_verb(clause)
    done = head.tag_ in ("VBD", "VBN") or head != clause.head
    particle = {c.lower_ for c in head.children if is_particle(c)}
    if is_negated(clause) or is_only_near(clause) or head.tag_ == "VBG":
        return False
    if (head.lemma_.lower(), *particle) in _GIVING_UP or _packs_in(head):
        return True
    gone = head.lower_ == "quit" or head.lemma_.lower() in _LOSING_VERBS
    if head.lemma_.lower() == "sell" and done:
        return any(_is_known_thing(c) for c in clause.children("dobj"))
    # "Handed in my notice", "sent in my resignation", "sent off my resignation letter".
    into = (c for p in clause.children("prep", "prt") if p.lower_ == "in" for c in p.children)
    given = (*clause.children("dobj"), *into)  # the parser may take "in my notice" for a place
    things = {t.lower_ for c in given for t in (*c.lefts, c)}
    leaves = things & {"notice", "resignation"} and head.tag_ in ("VBD", "VBN")
    if leaves and head.lemma_.lower() in _GIVING_VERBS:
        return True
    job = any(c.lemma_.lower() in ("job", "position", "post") for c in clause.children("dobj"))
    return head.lemma_.lower() in ENDING_VERBS or head.lower_ == "quit" or (gone and job)


def _find_done_verb(clause: Clause) -> Token:
    """ "Stop" of "I had to stop running", which was done."""
    forced = clause.head.lower_ == "had" and len(clause.chain) > 1
    if forced and any(c.lower_ == "to" for c in clause.chain[1].children):
        return clause.chain[1]
    return clause.head


def _packs_in(head: Token) -> bool:
    """ "Packed in tennis", the "in" of which the parser takes for where something is packed."""
    things = (t for p in head.children if p.dep_ == "prep" and p.lower_ == "in" for t in p.children)
    things = (t for t in things if t.dep_ == "pobj" and t.lemma_.lower() not in _PACKED)
    return head.lower_ in ("packed", "jacked", "chucked") and any(things)


def _is_known_thing(token: Token) -> bool:
    """What somebody had, and no wares: "sold the Corolla", "sold my van"."""
    if token.lemma_.lower() in OWNED_THINGS:
        return True
    named = token.pos_ == "PROPN" or any(c.lower_ in ("the", "our") for c in token.children)
    return named and token.tag_ in ("NN", "NNP")


def is_particle(token: Token) -> bool:
    moving = token.lower_ == "out" and token.head.lemma_.lower() == "move"
    return token.dep_ == "prt" or (moving and not any(token.children))


def _has_used_to(clause: Clause) -> bool:
    return clause.head.lower_ == "used" and len(clause.chain) > 1


def _is_planned(clause: Clause, event: TimeSpan | None, at: datetime) -> bool:
    head = clause.head
    auxiliaries = {c.lower_ for verb in clause.chain for c in verb.children if c.dep_ == "aux"}
    if auxiliaries & _FUTURE_AUXILIARIES or _is_going_to(clause) or _is_hoping(clause):
        return True
    if _is_about_to(clause, auxiliaries):
        return True
    # What was arranged for a day ahead, or put off to one, is still to come: "the flight got moved
    # to the 15th"; and who has got something on a day ahead has not had it.
    settled = head.lemma_.lower() in _PUTTING_OFF_VERBS | _ARRANGING_VERBS or _has_got(head)
    past = head.tag_ in ("VBD", "VBN") and not settled
    # What comes round is so already: "every second Saturday", "once in a month".
    round_again = any(t.lower_ in _ROUND_AGAIN for verb in clause.chain for t in verb.subtree)
    # "I like skiing in winter" is so already, too.
    likes = head.lemma_.lower() in LIKING_VERBS and head.tag_ in ("VBP", "VBZ")
    ahead = event is not None and event.start > at
    return ahead and not (past or round_again or likes)


def _is_about_to(clause: Clause, auxiliaries: set[str]) -> bool:
    """ "We are moving to Glasgow": who says so has not moved yet, whatever day is told."""
    moving = clause.head.tag_ == "VBG" and clause.head.lemma_.lower() in _MOVING_VERBS
    return moving and bool(auxiliaries & _PRESENT_BE)


def _is_going_to(clause: Clause) -> bool:
    head = clause.head
    return head.lower_ in ("going", "gon") and len(clause.chain) > 1


def _is_hoping(clause: Clause) -> bool:
    head = clause.head
    if head.tag_ == "VBD" or head.lemma_.lower() not in _PLANNING_VERBS | {"like", "love"}:
        return False
    would = any(c.lower_ in ("would", "'d", "’d") for c in head.children)
    if head.lemma_.lower() in ("like", "love"):
        return would
    return len(clause.chain) > 1 or bool(_find_gerunds(head))


def _find_gerunds(head: Token) -> list[Token]:
    return [g for p in head.children if p.dep_ == "prep" for g in p.children if g.dep_ == "pcomp"]


def derive_kind(clause: Clause, polarity: Polarity, key: str) -> FactKind:
    """What sort of claim it is."""
    lemmas = {verb.lemma_.lower() for verb in clause.chain}
    if polarity == "planned":
        return "plan"
    if key.startswith("favourite_") or (lemmas & LIKING_VERBS and clause.head.tag_ != "VBD"):
        return "preference"
    if is_single_valued(key):
        return "attribute"
    return "event" if is_event(clause) else "state"


def _has_got(head: Token) -> bool:
    """ "I've got a sister": who says so has one."""
    return head.lower_ == "got" and _is_perfect(head)


def _is_perfect(head: Token) -> bool:
    aided = {c.lower_ for c in head.children if c.dep_ == "aux"}
    return not aided.isdisjoint({"have", "'ve", "ve", "has", "’ve"})


def is_event(clause: Clause) -> bool:
    head = clause.head
    been = _is_perfect(head)
    if _has_got(head):
        return False
    past = head.tag_ in ("VBD", "VBN") or is_past_form(head.text)
    return head.lemma_.lower() != "be" and (past or been)
