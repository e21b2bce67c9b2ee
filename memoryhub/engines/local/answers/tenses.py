"""What holds, what held before and what became of something: which of the likely pieces answers a
question after one of these. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime

from memoryhub.engines.local.answers.asked import (
    asks_yes_or_no,
    find_asked_identity,
    find_asked_tense,
)
from memoryhub.engines.local.answers.evidence import (
    EvidenceSentence,
    QuestionTerms,
    extract_stems,
    mentions_name,
)
from memoryhub.engines.local.answers.kinds import find_asked_kind
from memoryhub.engines.local.answers.phrases import Phrase
from memoryhub.engines.local.answers.relatives import find_counted_kin
from memoryhub.engines.local.comparison.ties import COUPLE_OVER
from memoryhub.engines.local.wordlists import split_words
from memoryhub.engines.types import Quote

LONG_AGO = datetime.min.replace(tzinfo=UTC)
NAME_INSIDE = re.compile(r"(?<=[\w,;:'’] )[A-Z][a-z][\w'’-]*")
GONE = re.compile(
    r"\b(?:died|dead|put down|put to sleep|passed away|ran away|gone|sold|moved out|left|divorced"
    r"|broke up|split up|given away|gave away|rehome\w*|(?:get|got) rid of|lost|goodbye to"
    r"|stolen|nicked|scrapped|written off)\b"
    r"|被偷|去世|过世|死了|走了|没了|丢了|卖了|卖掉|送人|分手|离婚|搬走|坏了",
    re.I,
)
# That there is one more of something.
_ONE_MORE = re.compile(
    r"\b(?:born|another|one more|third|fourth|fifth|sixth|adopted|rescued|took in|twins)\b"
    r"|出生|又(?:生|养|买|领)",
    re.I,
)
# That somebody no longer does or has something.
STOPPED = r"quit|stopped|gave up|given up|cancel\w*|resigned|dropped|no longer|not .{1,40}any ?more"
_OVER = re.compile(
    rf"{GONE.pattern}|\b(?:{STOPPED}|retired|finished|ended|switched|swapped|moved)\b"
    r"|不再|辞|停了|退了|换了|改|取消|放弃|不\w{1,6}了",
    re.I,
)
_PARTNER = re.compile(
    r"\b(?:girlfriend|boyfriend|gf|bf|partner|wife|husband|married|dating|together)\b"
    r"|女友|男友|女朋友|男朋友|对象|老婆|老公",
    re.I,
)
_STILL = re.compile(r"\b(?:still|any ?more|any longer|yet)\b|还.{1,12}[吗么]\W*$", re.I)
_WHY = re.compile(r"\bwhy\b|\bhow come\b|为什么|为啥|为何|怎么(?:没|不|就)", re.I)
# After what became of somebody or something.
_ASKS_FATE = re.compile(
    r"\bwhat(?:['’]?s| has| ever)* happened (?:to|with)\b|\b(?:alive|dead)\b"
    r"|怎么了|怎么样了|咋了|还(?:在|活着|养着|有)吗|活着吗",
    re.I,
)
_THAT_ONE_ZH = re.compile("[那这](?:[辆只个条台部匹]|位)?|我的?")
_FATE_WORDS = split_words("happen still so be my the 我 我的")
# Of a question, what is done with what is known, and not what is asked about.
ASKING = split_words("""
    about tell know remember say think mean remind again anything something still yet
""")
# And what holds beside what tells that something is over, as a share of the latter's chance.
HOLDS_SHARE = 0.25
# So much of what was read of a message is told in it word by word.
_MOST_SHARED = 0.7
_HOME = frozenset({"lives_in", "address"})
# Of somebody who was named before, perhaps by what was answered to.
_OPENS_WITH_PRONOUN = re.compile(
    r"\W*(?:(?:no|nope|nah|yes|yeah|yep|yup|and|but|so|well|oh|ok|okay)\b\W*)*"
    r"(?:(?:she|he|they)\b|(?:she|he|they)['’]|(?:shes|hes|theyre)\b)",
    re.I,
)
# A plan to move, of which nobody need say that somebody will live there.
_MOVES = re.compile(r"\bmov(?:es?|ing)\b[^.;!?]{0,30}?\b(?:in)?to\b", re.I)
# A piece with its chance to be the answer.
Weighed = tuple[float, EvidenceSentence]


# "Switched my minor from stats to econ" tells both what is and what was.
_TELLS_CHANGE = re.compile(r"\bfrom \S.{0,40}? to \S|从.{1,20}[换改转调]", re.I)


def order_by_tense(
    asked: QuestionTerms,
    telling: Sequence[Weighed],
    weighed: Sequence[Weighed],
    quotes: Sequence[Quote],
) -> list[Weighed]:
    """Those that are likely, `telling`, as the question's tense wants them. `weighed`: all pieces,
    the likeliest first, from which what answers it better may be taken."""
    telling = [*telling]
    if find_asked_tense(asked.text) == "former":
        telling = _put_replaced_first(telling, weighed, quotes)
    elif _STILL.search(asked.text) and asks_yes_or_no(asked.text):
        telling = _put_later_ending_first(asked, telling, weighed, quotes)
    elif find_asked_tense(asked.text) == "now" and not asks_yes_or_no(asked.text):
        telling = _put_holding_first(asked, telling, weighed, quotes)
    if _WHY.search(asked.text) and (whole := _find_message(telling[0][1], weighed, quotes)):
        telling = [(telling[0][0], whole)]
    return telling


def asks_after_change(question: str) -> bool:
    """Why or whether something is so now, or what became of it: both sides of a change answer."""
    return bool(_WHY.search(question) or _ASKS_FATE.search(question) or asks_yes_or_no(question))


def _put_replaced_first(
    telling: Sequence[Weighed],
    weighed: Sequence[Weighed],
    quotes: Sequence[Quote],
) -> list[Weighed]:
    """What was before is what the likeliest took the place of, however little it is like the
    question, or else what is over."""
    chance, best = telling[0]
    if quotes[best.quote].until is not None:
        return [*telling]
    over = [e for e in weighed if quotes[e[1].quote].until is not None]
    replaced = quotes[best.quote].replaced
    before = [(chance, e) for _, e in over if replaced and quotes[e.quote].text == replaced]
    likely = [e for e in over if e[0] >= HOLDS_SHARE * chance]
    if best.coverage and _TELLS_CHANGE.search(best.text):
        likely = [e for e in likely if e[1].coverage >= best.coverage] or [telling[0]]
    return before[:1] or likely[:1] or [*telling]


def _put_later_ending_first(
    asked: QuestionTerms,
    telling: Sequence[Weighed],
    weighed: Sequence[Weighed],
    quotes: Sequence[Quote],
) -> list[Weighed]:
    """Whether something is still so is told by what says that it is over, where that was said no
    earlier."""
    over = _find_ending(asked, weighed)
    if over is None:
        return [*telling]
    ended, told = (quotes[e[1].quote].said_at or LONG_AGO for e in (over, telling[0]))
    return [over] if ended >= told else [*telling]


def _put_holding_first(
    asked: QuestionTerms,
    telling: Sequence[Weighed],
    weighed: Sequence[Weighed],
    quotes: Sequence[Quote],
) -> list[Weighed]:
    """What car somebody drives is not told by the one that they sold, where another is known: by
    what holds, or else by the message that tells of the end, which may tell what came after."""
    lasting = [e for e in telling if not is_left_later(quotes[e[1].quote], quotes)]
    chance, best = (lasting or telling)[0]
    kind = find_asked_kind(asked.text)
    if kind is None or not quotes[best.quote].tells_end:
        return lasting or [*telling]
    holding = (e for e in lasting if not quotes[e[1].quote].tells_end)
    holding = (e for e in holding if e[0] >= HOLDS_SHARE * chance)
    if first := next((e for e in holding if kind.tells.search(e[1].text)), None):
        return [first]
    message = _find_message(best, weighed, quotes)
    return [(chance, message)] if message else lasting


def is_left_later(home: Quote, quotes: Sequence[Quote]) -> bool:
    """Whether another fact tells later that who lives there has moved out."""
    return home.predicate in _HOME and any(
        quote.tells_end
        and quote.predicate in _HOME
        and quote.owner == home.owner
        and (quote.said_at or LONG_AGO) > (home.said_at or LONG_AGO)
        for quote in quotes
    )


def name_whom_it_tells_of(
    asked: QuestionTerms,
    telling: Sequence[Weighed],
    weighed: Sequence[Weighed],
    quotes: Sequence[Quote],
) -> list[Weighed]:
    """With what was read of a message in the place of one that calls somebody only he or she, where
    that says who it is: "she lives in Leeds with Mark" answers nobody."""
    chance, best = telling[0]
    if quotes[best.quote].owner or not _OPENS_WITH_PRONOUN.match(best.text):
        return [*telling]
    told = extract_stems(best.text)
    read = (
        (chance, each)
        for _, each in weighed
        if quotes[each.quote].owner
        and not _OPENS_WITH_PRONOUN.match(each.text)
        and len(told & extract_stems(each.text)) >= _MOST_SHARED * len(told)
    )
    return [*([found] if (found := next(read, None)) else []), *telling]


def _find_message(
    best: EvidenceSentence,
    weighed: Sequence[Weighed],
    quotes: Sequence[Quote],
) -> EvidenceSentence | None:
    """The message in which it was said, which may tell why; what was read of it does not."""
    told = extract_stems(best.text)
    whole = (
        each
        for _, each in weighed
        if not quotes[each.quote].owner
        and len(each.text) > len(best.text)
        and len(told & extract_stems(each.text)) >= _MOST_SHARED * len(told)
    )
    return next(whole, None)


def tell_latest(
    asked: QuestionTerms, quotes: Sequence[Quote], weighed: Sequence[Weighed]
) -> list[Weighed]:
    """Of somebody or something named, of whom it is asked who they are, what became of them, or
    whether something is still so, what was told last: "do I still have Miso"."""
    telling = [each for each in weighed if not each[1].is_question]
    if _ASKS_FATE.search(asked.text):
        named = _THAT_ONE_ZH.sub("", _ASKS_FATE.sub(" ", asked.text))
        names = extract_stems(named) - _FATE_WORDS
        telling = [e for e in telling if GONE.search(e[1].text)]
    elif asks_yes_or_no(asked.text) and _STILL.search(asked.text):
        found = NAME_INSIDE.findall(asked.text)
        names = {stem for name in found for stem in extract_stems(name)}
        if not names and (over := _find_ending(asked, telling)):
            return [over]
        if not names and (was := _find_former(asked, telling, quotes)):
            return [was]
    elif (wanted := find_asked_identity(asked.text)) and wanted.name:
        names = extract_stems(wanted.name)
    else:
        return []
    telling = [e for e in telling if names and names <= extract_stems(e[1].text)]
    telling.sort(key=lambda each: quotes[each[1].quote].said_at or LONG_AGO, reverse=True)
    return telling[:1]


def _find_ending(asked: QuestionTerms, weighed: Sequence[Weighed]) -> Weighed | None:
    """The likeliest that says that something is over, and most of what the question asks about:
    "quit the bike shop today" of whether one still works there."""
    sought = asked.stems - _FATE_WORDS - ASKING
    over = (e for e in weighed if _OVER.search(e[1].text))
    return next((e for e in over if len(sought & extract_stems(e[1].text)) * 2 > len(sought)), None)


def _find_former(
    asked: QuestionTerms, weighed: Sequence[Weighed], quotes: Sequence[Quote]
) -> Weighed | None:
    """The likeliest that was so and is over, and says most of what the question asks about."""
    sought = asked.stems - _FATE_WORDS - ASKING
    over = (e for e in weighed if quotes[e[1].quote].until is not None)
    return next((e for e in over if len(sought & extract_stems(e[1].text)) * 2 > len(sought)), None)


def find_change_in_number(
    asked: QuestionTerms, best: EvidenceSentence, quotes: Sequence[Quote]
) -> Phrase | None:
    """What says later that there is one more of what is counted, or one less: how many there are
    now is more than is known."""
    counted = find_counted_kin(asked.text)
    told = quotes[best.quote].said_at or LONG_AGO
    for at, quote in enumerate(quotes):
        later = not quote.speaker and quote.owner and (quote.said_at or LONG_AGO) > told
        changed = GONE.search(quote.text) or _ONE_MORE.search(quote.text)
        if not (later and changed):
            continue
        if counted.search(quote.text) if counted else asked.stems & extract_stems(quote.text):
            return Phrase(at, 0, len(quote.text), quote.text, 0.0)
    return None


def find_end(best: EvidenceSentence, quotes: Sequence[Quote]) -> Phrase | None:
    """What says later that somebody whom it names is gone: the cat that somebody had."""
    names = [name for name in NAME_INSIDE.findall(best.text) if name != best.person]
    coupled = _PARTNER.search(best.text) is not None
    told = quotes[best.quote].said_at or LONG_AGO
    for at, quote in enumerate(quotes):
        later = not quote.speaker and quote.owner and (quote.said_at or LONG_AGO) > told
        gone = GONE.search(quote.text) and any(mentions_name(quote.text, n) for n in names)
        over = coupled and quote.owner == best.person and COUPLE_OVER.search(quote.text)
        if later and (gone or over):
            return Phrase(at, 0, len(quote.text), quote.text, 0.0)
    return None


def lies_ahead(quote: Quote) -> bool:
    """Whether it tells how something will be, from a day on that has not come: a new job."""
    told, planned = quote.said_at, quote.event
    coming = told is not None and planned is not None and planned.start > told
    return coming and not quote.due and not quote.predicate.startswith("scheduled_")


def tells_due_move(asked: QuestionTerms, quote: Quote) -> bool:
    """Whether it is a plan of who is asked about to move somewhere, whose day has come."""
    theirs = bool(quote.owner) and (quote.owner,) == asked.people
    return (
        theirs and quote.due and "lives_in" in asked.predicates and bool(_MOVES.search(quote.text))
    )


def find_due_plan(
    stating: Sequence[EvidenceSentence], quotes: Sequence[Quote]
) -> EvidenceSentence | None:
    """The plan whose day has come since what is held was told: who said in May that they move next
    week, and nothing since, may live there by now."""
    told = [quotes[each.quote] for each in stating]
    held = max((q.said_at or LONG_AGO for q in told if not q.due), default=LONG_AGO)
    due = [s for s, q in zip(stating, told, strict=True) if q.due and (q.said_at or held) > held]
    return max(due, key=lambda s: quotes[s.quote].said_at or LONG_AGO, default=None)
