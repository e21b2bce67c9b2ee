"""Which claims a wish to forget means: by the relation it names, and by reading it beside each.

What stands out is meant for certain, the more so where nothing else is likely. Of several alike a
person says which; so too where nothing but the last thing told can be meant, and that was several,
and where a part of the wish finds nothing.

MiniLM reads wish and claim in one, with corrections learned by `manage.py lab train-wish-reader`;
beside it count the words, the vectors, who is spoken of and what was told with it: a logistic
regression (`forget_decider.json`), learned by `manage.py lab train-wishes` of scenes that the
reader has not seen (memoryhub/lab/training/meant_claims.py).
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cache
from math import exp
from pathlib import Path
from typing import NamedTuple

from memoryhub.engines.local.answers.relatives import list_kin
from memoryhub.engines.local.claims.predicates import find_question_predicates, get_search_words
from memoryhub.engines.local.comparison.pairs import describe_meaning
from memoryhub.engines.local.grammar.speech import extract_wish, extract_wish_words
from memoryhub.engines.local.language import (
    HAN,
    can_embed_language,
    detect_language,
    detect_read_language,
)
from memoryhub.engines.local.logistic import Logistic
from memoryhub.engines.reranking.packaged import PackagedReranker, get_packaged_reranker
from memoryhub.engines.types import ClaimCandidate, ClaimComparison, ClaimVerdict, HeldClaim

WISHES_GRAPH_FILE = Path(__file__).with_name("minilm_wishes.onnx")
FORGET_DECIDER_FILE = Path(__file__).with_name("forget_decider.json")
MOST_WISH_TOKENS = 56
# So many claims, those that are likest, are read beside a wish.
_MOST_READ = 24
_MOST_DOUBTFUL = 4
_LEAST_ANSWER = -3.0  # the odds, as a logarithm, from which on a claim may answer a wish
_READ_ALONE = -8.0  # the odds, as a logarithm, of what was told with a claim where nothing was
# What speaks for a claim before it is read: each word in common (two at most), the characters, and
# the topics.
_WORD_WORTH, _MOST_WORDS, _TOPIC_WORTH = 0.25, 2, 0.3
_CHARACTERS_WORTH = {"en": 0.3, "zh": 0.5}


class _Likeness(NamedTuple):
    worth: float
    claim: HeldClaim
    cosine: float | None


class MeantBars(NamedTuple):
    """From which chance on the likeliest claim is meant for certain: `bar`, or `alone` where the
    next has no more than `beside`. From `more` on others are meant with it."""

    bar: float
    alone: float
    beside: float
    more: float


@dataclass(frozen=True, slots=True)
class ForgetDecider:
    """`meant`: what traits of a wish and a claim are worth. From the chance `ask` on a person is
    asked. `cosine`: what counts where none is known."""

    meant: Logistic
    bars: MeantBars
    ask: float
    cosine: float


def take_meant(chances: Sequence[float], bars: MeantBars) -> list[int]:
    """The places of what is meant for certain, the likeliest first."""
    likely = sorted(range(len(chances)), key=lambda at: -chances[at])
    best, second = ([chances[at] for at in likely] + [0.0, 0.0])[:2]
    if best < bars.bar and (best < bars.alone or second > bars.beside):
        return []
    return [likely[0], *(at for at in likely[1:] if chances[at] >= bars.more)]


@cache
def get_wish_reader() -> PackagedReranker:
    """One for all of a process."""
    return PackagedReranker(1, WISHES_GRAPH_FILE, MOST_WISH_TOKENS)


@cache
def _load_decider(language: str) -> ForgetDecider:
    given = json.loads(FORGET_DECIDER_FILE.read_text(encoding="utf-8"))[language]
    meant = Logistic(given["bias"], given["bar"], given["traits"])
    bars = MeantBars(given["bar"], given["alone"], given["beside"], given["more"])
    return ForgetDecider(meant, bars, given["ask"], given["cosine"])


# What opens another thing of a list, and no clause that says why.
_OF_LIST = (
    r"(?:my|our|the|his|her|their|that|about|what|who|where|when|how"
    r"|(?!(?:it|he|she|that|what|who|there|let)['’]s)[\w-]+['’]s)\b"
)
_PART = re.compile(
    rf"[,;] (?=(?:and |or )?{_OF_LIST})|[；，、]|以及|还有|(?<=[{HAN}]{{2}})和(?=[{HAN}]{{2}})"
    r"|\b(?:and|or|as well as)\b(?! (?:i|me|im|it|we|he|she|they|you)\b)",
    re.I,
)
# What is longer is no name of a thing, but a clause.
_MOST_PART_WORDS = 4
_PART_WORD = re.compile(rf"[{HAN}]{{1,2}}|[^\W_]+(?:['’][^\W_]+)?")
_ALL = re.compile(r"\b(?:all|any|every|everything|anything|whatever)\b|所有|全部|一切|任何", re.I)


def match_forget_wish(
    wish: ClaimCandidate, offered: Sequence[HeldClaim], comparison: ClaimComparison
) -> list[ClaimVerdict]:
    """Verdicts `forget`; not `sure` where a person is to say whether that is meant."""
    words = extract_wish_words(wish.text)
    names = (wish.owner, comparison.subject, *comparison.aliases)
    if not find_question_predicates(wish.text) and not describe_meaning(words, names).stems:
        return _take_last_told(wish, offered)
    found = _match_part(wish, words, extract_wish(wish.text), offered, comparison)
    parts = split_wish_parts(words)
    if len(parts) == 1:
        return found
    # The cosines are those of the whole wish: a part is found by its own words.
    alone = replace(wish, similar=())
    by_part = [_match_part(alone, part, part, offered, comparison) for part in parts]
    every = [*found, *(verdict for verdicts in by_part for verdict in verdicts)]
    sure = {verdict.target for verdict in every if verdict.sure}
    # A part of which nothing is found is not let go unsaid.
    clear = all(any(verdict.target in sure for verdict in verdicts) for verdicts in by_part)
    targets = dict.fromkeys(verdict.target for verdict in every)
    if clear:
        targets = dict.fromkeys(target for target in targets if target in sure)
    return [ClaimVerdict(wish.handle, "forget", target, sure=clear) for target in targets]


def split_wish_parts(words: str) -> list[str]:
    """The things that a wish names: ("my job and the dog",) -> ["my job", "the dog"]."""
    parts = [part.strip() for part in _PART.split(words)]
    parts = [part for part in parts if describe_meaning(part).stems]
    if any(len(_PART_WORD.findall(part)) > _MOST_PART_WORDS for part in parts):
        return [words]
    return parts or [words]


def _match_part(
    wish: ClaimCandidate,
    words: str,
    asked: str,
    offered: Sequence[HeldClaim],
    comparison: ClaimComparison,
) -> list[ClaimVerdict]:
    """`words`: what the wish says of the thing; `asked`: where its relation is read, and what is
    read beside the claims."""
    names = (wish.owner, comparison.subject, *comparison.aliases)
    if named := _list_told_of_named(words, offered, names):
        few = len(named) <= _MOST_NAMED
        return [ClaimVerdict(wish.handle, "forget", each.handle, sure=few) for each in named]
    keys = find_question_predicates(asked)
    by_key = [claim for claim in offered if claim.predicate_key and claim.predicate_key in keys]
    if by_key:
        wanted = _ALL.search(wish.text) is not None
        clear = wanted or (len(by_key) == 1 and _is_accounted_for(words, by_key[0], names))
        return [ClaimVerdict(wish.handle, "forget", each.handle, sure=clear) for each in by_key]
    nearest = _rank_claims(wish, words, offered, comparison, names)[:_MOST_READ]
    decider = _load_decider(detect_read_language(wish.text))
    cosines = [each.cosine for each in nearest]
    described = describe_meant_claims(
        asked, words, [each.claim for each in nearest], cosines, names, decider.cosine
    )
    handles = [each.claim.handle for each in nearest]
    chances = [decider.meant.estimate(traits) for traits in described]
    # A nephew's illness is not a brother's, however near it is.
    own = [
        chance if not (traits["other_kin"] and traits["more_kin"]) else 0.0
        for chance, traits in zip(chances, described, strict=True)
    ]
    sure = [handles[at] for at in take_meant(own, decider.bars)]
    telling = [each for each in offered if _is_accounted_for(words, each, names)]
    if not sure and len(telling) == 1 and describe_meaning(words, names).stems:
        sure = [telling[0].handle]
    if sure:
        return [ClaimVerdict(wish.handle, "forget", handle) for handle in sure]
    # What answers the wish as a question tells of "the love life" in other words still.
    asked_for = _read_as_question(words, [each.claim for each in nearest])
    likely = sorted(zip(chances, handles, strict=True), key=lambda each: -each[0])
    doubtful = [*asked_for, *(handle for chance, handle in likely if chance >= decider.ask)]
    return [
        ClaimVerdict(wish.handle, "forget", handle, sure=False)
        for handle in list(dict.fromkeys(doubtful))[:_MOST_DOUBTFUL]
    ]


# "About Callum", "my ex Marc", 关于小鱼的: nothing but somebody's name.
_NAMED_ALONE = re.compile(
    r"(?:(?:about|abt|everything|anything|all|the|my|our|ex|boy|girl)[ -])*"
    r"(?:(?:ex|boyfriend|girlfriend|friend|colleague|mate|cousin|neighbou?r|boss) )?"
    rf"(?P<name>[^\W\d_{HAN}]{{3,}})(?=$|[.,;!])"
    rf"|(?:关于|有关)?(?P<name_zh>[{HAN}]{{2,3}}?)(?:的(?:事情?|一切|那些事)?)?(?=$|[。，！])",
    re.I,
)
_IDENTITY = re.compile(r"(?P<name>\S+?)(?: is |是)(?P<role>.+?)[.。]")
_MOST_NAMED = 5  # claims of one person that go unasked


def _list_told_of_named(
    words: str, offered: Sequence[HeldClaim], names: tuple[str, ...]
) -> list[HeldClaim]:
    """What is told of the one whom a wish names and says no more of, and of nobody besides."""
    found = _NAMED_ALONE.match(words.strip())
    called = (found["name"] or found["name_zh"] or "") if found else ""
    known = {name.casefold() for name in names}
    if not called or called.casefold() in known:
        return []
    bound = "" if found and found["name_zh"] else r"\b"
    whom = re.compile(rf"{bound}{re.escape(called)}{bound}", re.I)
    owners = {each.owner for each in offered} - {*names}
    if not any(owner.casefold() == called.casefold() for owner in owners):
        return []
    # Who is called so by name and by what they are: "Dana is Ana's niece".
    told = (_IDENTITY.fullmatch(each.text) for each in offered)
    roles = {each["role"] for each in told if each and each["name"].casefold() == called.casefold()}
    others = [
        re.compile(rf"\b{re.escape(owner)}\b")
        for owner in owners - roles
        if owner and not whom.search(owner)
    ]
    return [
        each
        for each in offered
        if (whom.search(each.text) or each.owner in roles)
        and not any(other.search(each.text) for other in others)
    ]


def _read_as_question(words: str, claims: Sequence[HeldClaim]) -> list[str]:
    """The handle of the claim that best answers what the wish says of the thing, if one does. That
    is never certain: what is meant may not be held at all."""
    scores = get_packaged_reranker(1).score_texts(words, [claim.text for claim in claims])
    best = max(range(len(scores)), key=lambda at: scores[at], default=-1)
    return [claims[best].handle] if scores and scores[best] >= _LEAST_ANSWER else []


def describe_meant_claims(
    said: str,
    words: str,
    claims: Sequence[HeldClaim],
    cosines: Sequence[float | None],
    names: tuple[str, ...],
    unknown_cosine: float,
) -> list[dict[str, float]]:
    """What speaks for and against each claim's being meant by a wish: how much likelier it is than
    that nothing is, read together with what is `said` and with the `words` for the thing, as
    logarithms; its share of the odds; how near its vector is; by how much it is ahead in these; of
    the words the share that it tells, their characters and topics; whether either names relatives
    that the other does not, and whether a name is all that they have in common; the best that is
    read of what was told in the same message; when it was told, from early (near 0) to late (near
    1); whether its relation is known; and how many hundred characters are said."""
    texts = [claim.text for claim in claims]
    read = get_wish_reader().score_texts(said, texts)
    named = get_wish_reader().score_texts(words, texts)
    near = [unknown_cosine if each is None else each for each in cosines]
    wanted = describe_meaning(words, names)
    kin, low = list_kin(words), said.casefold()
    odds = [exp(score) for score in read]
    told_at = [claim.said_at or claim.valid_from for claim in claims]
    times = sorted(set(told_at))
    described = []
    for at, claim in enumerate(claims):
        told = describe_meaning(f"{claim.text} {get_search_words(claim.predicate_key)}", names)
        shared = wanted.stems & told.stems
        others = list_kin(claim.text)
        called = {name for name in told.names if name in low}
        more = {stem for stem in shared if not any(name.startswith(stem) for name in called)}
        described.append(
            {
                "read": read[at],
                "read_lead": _measure_lead(read, at),
                "read_share": odds[at] / (1 + sum(odds)),
                "named": named[at],
                "named_lead": _measure_lead(named, at),
                "cosine": near[at],
                "cosine_lead": _measure_lead(near, at),
                "words": len(shared) / max(1, len(wanted.stems)),
                "characters": len(wanted.grams & told.grams) / max(1, len(wanted.grams)),
                "topics": len(wanted.topics & told.topics) / max(1, len(wanted.topics)),
                "other_kin": float(bool(kin) and not kin & others),
                "more_kin": float(bool(others) and not kin & others),
                "only_name": float(bool(called or kin & others) and not more),
                "told_with": _find_best_told_with(read, told_at, at),
                "told_late": (bisect_left(times, told_at[at]) + 1) / (len(times) + 1),
                "has_relation": float(bool(claim.predicate_key)),
                "said": len(said) / 100,
            }
        )
    return described


def _measure_lead(values: Sequence[float], at: int) -> float:
    """By how much one is ahead of the best of the others; of one alone, 0."""
    others = [value for place, value in enumerate(values) if place != at]
    return values[at] - max(others) if others else 0.0


def _find_best_told_with(read: Sequence[float], told_at: Sequence[datetime], at: int) -> float:
    others = (place for place, when in enumerate(told_at) if when == told_at[at] and place != at)
    return max((read[place] for place in others), default=_READ_ALONE)


def _is_accounted_for(words: str, claim: HeldClaim, names: tuple[str, ...]) -> bool:
    """Whether the claim tells every word of the wish: "my sister's job" is not one's own."""
    told = describe_meaning(
        f"{claim.text} {claim.predicate_key.replace('_', ' ')}"
        f" {get_search_words(claim.predicate_key)}",
        names,
    )
    return describe_meaning(words, names).stems <= told.stems


def _take_last_told(wish: ClaimCandidate, offered: Sequence[HeldClaim]) -> list[ClaimVerdict]:
    """What was told last before "forget that", which names nothing."""
    before = [claim for claim in offered if (claim.said_at or claim.valid_from) < wish.said_at]
    last = max((claim.said_at or claim.valid_from for claim in before), default=None)
    meant = [claim for claim in before if (claim.said_at or claim.valid_from) == last]
    sure = len(meant) == 1
    return [ClaimVerdict(wish.handle, "forget", c.handle, sure=sure) for c in meant]


def _rank_claims(
    wish: ClaimCandidate,
    words: str,
    offered: Sequence[HeldClaim],
    comparison: ClaimComparison,
    names: tuple[str, ...],
) -> list[_Likeness]:
    """The likest first. Cosines count where the embedder reads the language."""
    language = detect_language(wish.text)
    reads = bool(comparison.embedder) and can_embed_language(comparison.embedder, language)
    similar = wish.similar or (None,) * len(wish.offered)
    cosines = dict(zip(wish.offered, similar, strict=True)) if reads else {}
    said = describe_meaning(words, names)
    found = []
    for claim in offered:
        told = describe_meaning(f"{claim.text} {get_search_words(claim.predicate_key)}", names)
        shared = len(said.grams & told.grams) / len(said.grams) if said.grams else 0.0
        topics = len(said.topics & told.topics) / len(said.topics) if said.topics else 0.0
        worth = _WORD_WORTH * min(_MOST_WORDS, len(said.stems & told.stems))
        worth += _CHARACTERS_WORTH.get(language, 0.0) * shared + _TOPIC_WORTH * topics
        cosine = cosines.get(claim.handle)
        found.append(_Likeness(worth + (cosine or 0.0), claim, cosine))
    return sorted(found, key=lambda each: -each.worth)
