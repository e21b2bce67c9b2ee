"""What was before, kept apart from what is so now: the job that was left is not the present one."""

from __future__ import annotations

import re
from collections.abc import Sequence

from memoryhub.engines.local.answers.asked import asks_of_former_role, find_asked_tense
from memoryhub.engines.local.answers.evidence import (
    EvidenceSentence,
    QuestionTerms,
    extract_stems,
    mentions_name,
)
from memoryhub.engines.local.answers.tenses import (
    HOLDS_SHARE,
    LONG_AGO,
    Weighed,
    is_left_later,
    lies_ahead,
)
from memoryhub.engines.local.claims.predicates import HOME_AND_JOB
from memoryhub.engines.local.wordlists import split_words
from memoryhub.engines.reranking.packaged import get_packaged_reranker
from memoryhub.engines.types import Quote

_BEFORE_NOW_ZH = re.compile("以前|之前|原来|原先|从前|曾经")
_TELLS_PAST_ZH = re.compile(
    r"[了过]|以前|之前|原来|曾|[去前]年|上个?[月周]|刚|时候|那时|当时|毕业|\d{4}年"
)
_JOB = frozenset({"works_as", "works_at"})
# "Where did I live before Leeds": of whatever is known of the time before.
_ASKS_BEFORE = re.compile(r"\bbefore (?!(?:that|then|this|now)\b)\w", re.I)
_ASKS_WHAT_WAS_DONE = re.compile(
    r"\bdid\b(?! (?:\w+ ){1,2}(?:say|tell|mention|schedule|book|plan|set|move|put)\b)", re.I
)
_PUT_OFF = re.compile(
    r"\b(?:moved|rescheduled|postponed|delayed|cancell?ed|pushed|brought forward|put off"
    r"|changed|called off)\b",
    re.I,
)


_ASKS_WISH = re.compile(
    r"\b(?:want|wish|hope|hoping|plan|planning|planned|going|move|moving|start|starting|will|would"
    r"|next|like|dream|thinking|new)\b|[想要将会]|打算|计划|准备|希望|新",
    re.I,
)


def is_stated(asked: QuestionTerms, quotes: Sequence[Quote]) -> bool:
    """Whether a fact says what is asked for: of what was before, one that is over or took the place
    of another. A home that was left since is none any more."""
    stating = [quote for quote in quotes if states_asked_fact(asked, quote)]
    if find_asked_tense(asked.text) == "former":
        other = bool(_ASKS_BEFORE.search(asked.text))
        return any(
            q.until
            or q.replaced
            or is_left_later(q, quotes)
            or (other and not mentions_name(asked.text, q.object or q.text))
            for q in stating
        )
    return any(
        not (
            is_left_later(quote, quotes)
            or _is_put_off(asked, quote, quotes)
            or _is_changed_since(quote, quotes)
        )
        for quote in stating
    )


def states_asked_fact(asked: QuestionTerms, quote: Quote) -> bool:
    """Whether it is a fact about the one person who is asked about, of the kind that is asked for:
    what others' facts say is then no answer, however well it bears."""
    theirs = bool(quote.owner) and (quote.owner,) == asked.people
    if asked.relative is not None:
        theirs = asked.relative.is_called(quote.owner)
    # That a job was left does not say where somebody works now, nor a plan when it was done.
    fits = not quote.tells_end or find_asked_tense(asked.text) == "former"
    scheduled = quote.predicate.startswith("scheduled_")
    fits = fits and not (scheduled and _ASKS_WHAT_WAS_DONE.search(asked.text))
    # Where somebody wants to live is not where they do.
    wished = quote.planned and quote.predicate in HOME_AND_JOB
    fits = fits and not (wished and not _ASKS_WISH.search(asked.text))
    return theirs and fits and quote.states_any_of(asked.predicates)


# What changes a home or a job, whether or not it says where somebody is then: 调到客服中心去了.
_CHANGES_ZH = {
    **dict.fromkeys(
        _JOB, re.compile("调[到去回]|转[到去行岗]|换了?(?:工作|岗|公司|单位)|跳槽|升|辞|退休")
    ),
    **dict.fromkeys(("lives_in", "address"), re.compile("搬(?!家公司)")),
}


def _is_changed_since(stated: Quote, quotes: Sequence[Quote]) -> bool:
    """Whether a claim about the same person tells a change of it later, in Chinese."""
    changes = _CHANGES_ZH.get(stated.predicate)
    return changes is not None and any(
        quote.owner == stated.owner
        and (quote.said_at or LONG_AGO) > (stated.said_at or LONG_AGO)
        and changes.search(quote.text)
        for quote in quotes
    )


def _is_put_off(asked: QuestionTerms, planned: Quote, quotes: Sequence[Quote]) -> bool:
    """Whether something told later, which states no time by its predicate, moves what was planned:
    "dentist moved to Dec 2"."""
    return planned.predicate.startswith("scheduled_") and any(
        not quote.states_any_of(asked.predicates)
        and (quote.said_at or LONG_AGO) > (planned.said_at or LONG_AGO)
        and _PUT_OFF.search(quote.text)
        and extract_stems(quote.text) & asked.stems
        for quote in quotes
    )


def leave_out_present(
    asked: QuestionTerms, telling: Sequence[Weighed], quotes: Sequence[Quote]
) -> list[Weighed]:
    """Without what tells of nothing but the present one, where another was before it: the job that
    somebody has is not where they worked before."""
    held = [q for q in quotes if states_asked_fact(asked, q) and q.until is None]
    held = [q for q in held if q.object and not q.tells_end and not is_left_later(q, quotes)]
    latest = max(held, key=lambda q: q.said_at or LONG_AGO, default=None)
    if latest is None or find_asked_tense(asked.text) != "former":
        return [*telling]
    if asks_of_former_role(asked.text):
        return [*telling]
    return [
        (chance, each)
        for chance, each in telling
        if not mentions_name(each.text, latest.object)
        or quotes[each.quote].until
        or find_asked_tense(each.text) == "former"
    ]


def is_present_alone(
    asked: QuestionTerms, telling: Sequence[Weighed], quotes: Sequence[Quote], bar: float
) -> bool:
    """Whether of what was before, asked in Chinese, only the present one is known: of all that may
    answer, the likeliest was told last, holds, and says nothing of a time before."""
    if not _BEFORE_NOW_ZH.search(asked.text) or not telling or telling[0][0] < bar:
        return False
    chance, best = telling[0]
    quote = quotes[best.quote]
    over = quote.until or quote.replaced or quote.tells_end or quote.outdated
    if over or _TELLS_PAST_ZH.search(best.text) or find_asked_tense(best.text) == "former":
        return False
    told = quote.said_at or LONG_AGO
    beside = (e for c, e in telling[1:] if c >= HOLDS_SHARE * chance)
    return not any(
        quotes[e.quote].until
        or _TELLS_PAST_ZH.search(e.text)
        or (quotes[e.quote].said_at or LONG_AGO) > told
        or (quotes[e.quote].said_at or told) < told
        for e in beside
    )


def select_former(
    asked: QuestionTerms, sentences: Sequence[EvidenceSentence], quotes: Sequence[Quote]
) -> list[EvidenceSentence]:
    """Those of facts of the kind that is asked for that are over, or of what such facts took the
    place of; what ended last first."""
    stating = [s for s in sentences if states_asked_fact(asked, quotes[s.quote])]
    before = {quotes[s.quote].text for s in stating} | {quotes[s.quote].replaced for s in stating}
    over = [
        s
        for s in sentences
        if (quotes[s.quote].until and quotes[s.quote].text in before)
        or is_left_later(quotes[s.quote], quotes)
    ]
    return sorted(over, key=lambda s: quotes[s.quote].until or LONG_AGO, reverse=True)


def find_left_job(
    asked: QuestionTerms, quotes: Sequence[Quote], weighed: Sequence[Weighed]
) -> list[Weighed]:
    """Of who is asked in Chinese where they worked before, the job that was left last, also where
    it was told as a trade: "在设计公司当插画师"."""
    if not (_BEFORE_NOW_ZH.search(asked.text) and _JOB & {*asked.predicates}):
        return []
    left = [
        (until, each)
        for each in weighed
        if (until := quotes[each[1].quote].until)
        and quotes[each[1].quote].predicate in _JOB
        and quotes[each[1].quote].owner in asked.people
    ]
    return [max(left, key=lambda each: each[0])[1]] if left else []


def find_earlier_job(
    asked: QuestionTerms, quotes: Sequence[Quote], weighed: Sequence[Weighed]
) -> list[Weighed]:
    """Of who is asked what they did before, the job that was told last before the present one."""
    if find_asked_tense(asked.text) != "former" or not _JOB & {*asked.predicates}:
        return []
    told = [q.said_at or LONG_AGO for q in quotes if states_asked_fact(asked, q)]
    earlier = [
        each
        for each in weighed
        if (quote := quotes[each[1].quote]).predicate in _JOB
        and quote.owner in asked.people
        and not (quote.due or lies_ahead(quote))
        and (quote.said_at or LONG_AGO) < max(told, default=LONG_AGO)
    ]
    earlier.sort(key=lambda each: quotes[each[1].quote].said_at or LONG_AGO, reverse=True)
    return earlier[:1]


# How a question says that it asks for what was told first, or before something else.
_BEFORE = re.compile(r",?\s*\b(?:right |just |straight )?before\b(?P<than>.*)$", re.I)
_AT_FIRST = re.compile(
    r",?\s*\b(?:(?:at|in) the (?:very )?(?:start|beginning|outset|first place)|(?:at )?first"
    r"(?: off)?|originally|initially|earlier(?: (?:in|on|this) (?:the )?\w+)?"
    r"|(?:meant|supposed) to(?: (?:be|start|happen|take place))?"
    r"|when (?:i|we) (?:first )?(?:wrote|started|began|signed up|joined))\b",
    re.I,
)
_ONCE = re.compile(r"\b(?:previous(?:ly)?|former(?:ly)?|old|used to|back then)\b", re.I)
# Stems, of which none is asked for here: a dictionary would be loaded by every process that starts.
_NOTHING_NAMED = split_words("then now one move shift change start get join switch")
_MOST_EARLIER = 12  # pieces that are read with the question without these words
_AS_SURE = 2.0  # log-odds


def find_earlier_answer(
    asked: QuestionTerms, quotes: Sequence[Quote], weighed: Sequence[Weighed], least: float = 0.0
) -> list[Weighed]:
    """What answered the question before what does now: of all that answers it without the words
    that ask for an earlier time, what was told first, or before the latest, or before anything was
    told of what the question names ("who was my boss before Priya")."""
    markers = (_BEFORE, _AT_FIRST, _ONCE)
    marked = next((found for each in markers if (found := each.search(asked.text))), None)
    if marked is None:
        return []
    question = f"{asked.text[: marked.start()]}{asked.text[marked.end() :]}".strip()
    named = (
        extract_stems(marked["than"]) - _NOTHING_NAMED if "than" in marked.groupdict() else set()
    )
    named -= extract_stems(question)
    pieces = [each for each in weighed if quotes[each[1].quote].said_at and not each[1].is_question]
    pieces = pieces[:_MOST_EARLIER]
    scores = get_packaged_reranker(1).score_texts(question, [e.text for _, e in pieces])
    told = [
        (score, quotes[each[1].quote].said_at or LONG_AGO, each)
        for score, each in zip(scores, pieces, strict=True)
        if score >= least
    ]
    if named:
        later = [at for _, at, (_, e) in told if extract_stems(e.text) & named]
        told = [t for t in told if not extract_stems(t[2][1].text) & named]
        told = [t for t in told if not later or t[1] < min(later)]
    elif told and not _AT_FIRST.search(asked.text):
        latest = max(at for _, at, _ in told)
        told = [t for t in told if t[1] < latest]
    if not told:
        return []
    best = max(score for score, *_ in told)
    likely = [t for t in told if t[0] >= best - _AS_SURE]
    if _AT_FIRST.search(asked.text):
        return [min(likely, key=lambda t: t[1])[2]]
    first = max(likely, key=lambda t: t[0])
    return [first[2]]
