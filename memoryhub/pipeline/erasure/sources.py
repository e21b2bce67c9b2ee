"""The turns that tell what is to be forgotten, and what of them goes (spec §11.9)."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import reduce
from operator import and_, or_
from uuid import UUID

from django.db.models import Q, QuerySet

from memoryhub.dialogues.models import Turn
from memoryhub.engines.local.claims.predicates import get_search_words
from memoryhub.engines.local.language import HAN
from notes.erasure.clauses import (
    ToldClaim,
    TurnCut,
    find_told_spans,
    find_wish_spans,
    leave_out_repeating,
    says_more,
)
from notes.facts.words import extract_stems
from notes.models import Derivation, Fact, Page

_LEAST_OWN_CHARACTERS = 4  # of a word that tells a claim by itself
_LEAST_QUOTED_WORDS = 2  # of a claim's value, by which a reply elsewhere is known to repeat it

_LEAST_HAN = 2  # characters of a word
# Characters that bind or point; what stands between them tells something.
_IDLE_HAN = re.compile(
    "[我你您他她它们的了在是有不没无也都就和与及很还又再已经过着个这那里上下中到去来会能要说被把给对从为约做请]"
)
_HAN_RUN = re.compile(f"[{HAN}]{{2,}}")

FoundTurns = tuple[list[Turn], list[TurnCut]]


def find_told_turns(
    held: QuerySet[Turn], facts: Sequence[Fact], wishes: Collection[UUID]
) -> FoundTurns:
    """(turns that go whole, turns that lose a clause): those that the claims rest on; of the
    exchanges in which they were told or wished to be forgotten, and of replies anywhere, what
    repeats them. Call inside the tenant's scope.
    """
    links = _load_supports(Q(child_id__in=[fact.id for fact in facts]))
    rows = {fact.id: fact for fact in facts}
    told: dict[UUID, list[ToldClaim]] = defaultdict(list)
    for link in links:
        told[link.turn_id].append(_build_claim(rows[link.child_id], link))
    claims = [_build_claim(fact) for fact in facts]
    known = [text for fact in facts for text in (fact.text, get_search_words(fact.predicate_key))]
    sources = list(held.filter(id__in=told))
    near = list(held.filter(_repeats_near(sources, held.filter(id__in=wishes), wishes)))
    if facts:
        told_by = {turn.id for turn in sources} | set(wishes)
        quoting = _quotes(facts) | _says_own_words(held, facts, told_by) | _cites(facts)
        near += held.filter(quoting).exclude(role=Turn.Role.USER)
    beside = _load_kept_claims([*sources, *near], set(rows))
    words = _list_word_claims(claims, beside)
    replies = set(held.filter(_replies_to(sources)).values_list("id", flat=True)) if words else ()
    whole: list[Turn] = []
    cuts: list[TurnCut] = []
    said: list[str] = []
    for turn in {turn.id: turn for turn in [*sources, *near]}.values():
        here = told.get(turn.id)
        kept = leave_out_repeating(beside[turn.id], here or ())
        meant = [*claims, *words] if turn.id in replies else claims
        spans = find_told_spans(turn.words, here or meant, kept, () if here else said)
        if here and not spans:
            spans = [(0, len(turn.text))]
        if not spans:
            continue
        cut = TurnCut(turn, spans)
        if here:
            said.append(cut.lost)
        if kept or says_more(turn.words, spans, known):
            cuts.append(cut)
        else:
            whole.append(turn)
    return whole, cuts


def find_wishes(held: QuerySet[Turn], wishes: Collection[UUID]) -> FoundTurns:
    """Where nothing was found that is meant, the wish's own words are all there is of it."""
    whole: list[Turn] = []
    cuts: list[TurnCut] = []
    for turn in held.filter(id__in=wishes):
        spans = find_wish_spans(turn.words)
        if spans and says_more(turn.words, spans, ()):
            cuts.append(TurnCut(turn, spans))
        else:
            whole.append(turn)
    return whole, cuts


def load_facts_told_only_by(turns: Sequence[Turn], but: Iterable[Fact]) -> list[Fact]:
    """The other claims that rest on these turns and on no others."""
    gone = {turn.id for turn in turns}
    touched = _load_supports(Q(turn__in=gone)).values("child_id")
    links = _load_supports(Q(child_id__in=touched))
    elsewhere = links.exclude(turn__in=gone).values("child_id")
    told = Fact.objects.filter(id__in=touched).exclude(id__in=elsewhere)
    return list(told.exclude(id__in=[fact.id for fact in but]))


def _build_claim(fact: Fact, link: Derivation | None = None) -> ToldClaim:
    start, end = (link.span_start, link.span_end) if link else (None, None)
    span = None if start is None or end is None else (start, end)
    return ToldClaim(fact.text, fact.object or fact.text, fact.owner, span)


def _load_supports(about: Q) -> QuerySet[Derivation]:
    links = Derivation.objects.filter(about, child_type="fact")
    return links.filter(role=Derivation.Role.SUPPORT)


def _load_kept_claims(turns: Iterable[Turn], gone: Collection[UUID]) -> dict[UUID, list[ToldClaim]]:
    """By turn, the other claims that rest on it."""
    links = _load_supports(Q(turn__in=list(turns))).exclude(child_id__in=gone)
    rows = Fact.objects.in_bulk({link.child_id for link in links})
    kept: dict[UUID, list[ToldClaim]] = defaultdict(list)
    for link in links:
        if link.child_id in rows:
            kept[link.turn_id].append(_build_claim(rows[link.child_id], link))
    return kept


def _repeats_near(sources: Iterable[Turn], asked: Iterable[Turn], wishes: Collection[UUID]) -> Q:
    """The wishes, all of their exchanges, and the replies to what told the claims."""
    near = Q(pk__in=wishes)
    for turn in asked:
        near |= _is_beside(turn)
    return near | _replies_to(sources)


def _replies_to(sources: Iterable[Turn]) -> Q:
    near = Q(pk=None)
    for turn in sources:
        near |= _is_beside(turn) & ~Q(role=Turn.Role.USER)
    return near


def _list_word_claims(
    claims: Iterable[ToldClaim], kept: Mapping[UUID, Sequence[ToldClaim]]
) -> list[ToldClaim]:
    """Of the claims each word of Han that tells something and that no kept claim has: the reply to
    what told them takes one up ("结节请放宽心"), and not only the value."""
    others = " ".join(each.text for found in kept.values() for each in found)
    words = {
        word
        for claim in claims
        for part in _HAN_RUN.findall(claim.text.replace(claim.owner or "\n", " "))
        for word in _IDLE_HAN.split(part)
        if len(word) >= _LEAST_HAN and word not in others
    }
    return [ToldClaim(word, word, "") for word in sorted(words)]


def _is_beside(turn: Turn) -> Q:
    near = Q(pk=None)
    for page in Page.objects.filter(
        session=turn.session_id, first_seq__lte=turn.seq, last_seq__gte=turn.seq
    ):
        near |= Q(session=page.session_id, seq__range=(page.first_seq, page.last_seq))
    return near


def _quotes(facts: Iterable[Fact]) -> Q:
    """Texts with every word of what one of the claims is about, if that has several."""
    found = Q(pk=None)
    for fact in facts:
        words = extract_stems(fact.object or fact.text, fact.owner)
        if len(words) >= _LEAST_QUOTED_WORDS:
            found |= reduce(and_, (Q(text__icontains=word) for word in words))
    return found


def _says_own_words(held: QuerySet[Turn], facts: Iterable[Fact], told_by: Collection[UUID]) -> Q:
    """Texts with a word of what one of the claims is about, where nobody's words say it but those
    that tell the claims and questions: a reply of one word repeats such a claim."""
    words = {
        word for fact in facts for word in _list_own_words(fact.object or fact.text, fact.owner)
    }
    others = held.filter(role=Turn.Role.USER).exclude(id__in=told_by).exclude(speech_act="question")
    found = Q(pk=None)
    for word in words:
        says = Q(text__icontains=word)
        if not others.filter(says).exists():
            found |= says
    return found


def _list_own_words(text: str, owner: str) -> set[str]:
    """Words of a text that tell something by themselves: of Han, two characters or more."""
    stems = {stem for stem in extract_stems(text, owner) if len(stem) >= _LEAST_OWN_CHARACTERS}
    return stems | set(_HAN_RUN.findall(text.replace(owner, " ") if owner else text))


def _cites(facts: Iterable[Fact]) -> Q:
    """Replies that were put together from one of the claims."""
    found = Q(pk=None)
    for fact in facts:
        found |= Q(metadata__cites__contains=[str(fact.id)])
    return found


def find_turns_of_same_words(
    held: QuerySet[Turn], facts: Sequence[Fact], gone: Collection[UUID], most: int
) -> list[Turn]:
    """What people said besides with a word of what the claims are about: it stays, unless it is
    chosen. The newest first. Call inside the tenant's scope."""
    told = ((fact.object or fact.text, fact.owner) for fact in facts)
    words = {word for text, owner in told for word in _list_own_words(text, owner)}
    if not words:
        return []
    says = reduce(or_, (Q(text__icontains=word) for word in words))
    return list(held.filter(says).exclude(id__in=gone).order_by("-seq")[:most])
