"""Answers without a model: a date for "when", a phrase where one is asked for, or a quotation.

Every answer is taken from the memories word by word and says from where. With nothing recalled, or
where what was recalled is another person's, it says that nothing is known (E32).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import timedelta
from functools import partial

from memoryhub.engines.local.answers.asked import (
    asks_for_agenda,
    asks_for_overview,
    asks_measure,
    asks_own_name,
    asks_whether_still,
    asks_yes_or_no,
    counts_in_asked,
    drop_whom_before,
    find_asked_identity,
    find_asked_month,
    find_asked_tense,
    find_value_kind,
    has_value,
    is_about_relative,
    tells_measure,
)
from memoryhub.engines.local.answers.dated import (
    ASKS_AHEAD,
    ASKS_DAY_OF,
    ASKS_WHEN,
    answer_with_date,
    answer_with_dated_quote,
    find_put_off,
    is_past_date,
)
from memoryhub.engines.local.answers.decide import (
    NEWS,
    get_shipped_decider,
    select_answering,
    shares_kind,
    tells_kind,
    weigh_sentences,
)
from memoryhub.engines.local.answers.evidence import (
    EvidenceSentence,
    QuestionTerms,
    extract_stems,
    find_named_third,
    may_tell_of_named,
    mentions_name,
    parse_question,
    rank_sentences,
)
from memoryhub.engines.local.answers.former import (
    find_earlier_answer,
    find_earlier_job,
    find_left_job,
    is_present_alone,
    is_stated,
    leave_out_present,
    select_former,
    states_asked_fact,
)
from memoryhub.engines.local.answers.identities import (
    answer_with_identity,
    find_asked_animal,
    list_relatives,
    names_anybody,
    names_relative,
    quote_introduction,
    tells_of_animal,
)
from memoryhub.engines.local.answers.kinds import AskedKind, find_asked_kind
from memoryhub.engines.local.answers.long_quotes import shorten_to_clauses
from memoryhub.engines.local.answers.phrases import (
    Phrase,
    PhraseRequest,
    parse_phrase_request,
    rank_phrases,
)
from memoryhub.engines.local.answers.quoting import (
    MONTH,
    NOTHING_FOUND,
    answer_from_sentence,
    format_dated_quote,
    format_quote,
    is_alike,
    join_parts,
    widen_to_neighbours,
)
from memoryhub.engines.local.answers.relatives import (
    AskedRelative,
    find_counted_kin,
    find_kin_asked_for,
    find_listed_kin,
    find_tie_words,
)
from memoryhub.engines.local.answers.tenses import (
    ASKING,
    GONE,
    HOLDS_SHARE,
    LONG_AGO,
    NAME_INSIDE,
    Weighed,
    asks_after_change,
    find_change_in_number,
    find_due_plan,
    find_end,
    lies_ahead,
    name_whom_it_tells_of,
    order_by_tense,
    tell_latest,
    tells_due_move,
)
from memoryhub.engines.local.answers.told_changes import ToldChange, find_change
from memoryhub.engines.local.answers.typos import correct_typos
from memoryhub.engines.local.chinese.subjects import has_role, is_kin
from memoryhub.engines.local.chinese.traditional import (
    fold_traditional,
    has_traditional,
    list_written_forms,
)
from memoryhub.engines.local.dates.times import format_span
from memoryhub.engines.local.language import LanguageCode, detect_read_language
from memoryhub.engines.types import GroundedAnswer, Quote
from memoryhub.subject_names import PLACEHOLDERS

# What says that something is not so, or not for certain; and "or" asks for a choice.
_HEDGE = re.compile(
    r"\b(?:no|not|never|none|nothing|neither|nor|if|might|may|maybe|perhaps|would|could|hardly|or"
    r"|instead|wish|hope|want|plan|used to|stopped|no longer|hates?|quit|gave up|given up"
    r"|(?:do|does|did|is|are|was|were|ca|could|would|wo|have|has)nt)\b|n['’]t\b|[?？]\W*$"
    r"|不|没|无|别|如果|可能|也许|想|打算|还是",
    re.I,
)
# What is borne badly, and what may be.
_AGAINST = re.compile(
    r"\b(?:allerg\w+|intoleran\w+|dislikes?|detests?|loathes?|afraid|scared|terrified|banned"
    r"|forbidden|refus\w+|avoid\w*)\b",
    re.I,
)
_ASKS_LEAVE = re.compile(r"^\W*(?:can|could|may|should|shall)\b", re.I)
_GIVES_LEAVE = re.compile(
    r"\b(?:can|could|may|able|allowed|know(?:s|n)? how|fine|okay|ok|should|speaks?)\b", re.I
)
# Who teaches children need not have any.
_ASKS_HAVING = re.compile(
    r"\b(?:do|does|did) .{1,40}? (?:have|own)\b|\b(?:have|has) .{1,40}? got\b", re.I
)
_HAVING = re.compile(
    r"\b(?:have|has|had|got|gets?|own\w*|with|keeps?|bought|adopted|my|our|their|his|her)\b|['’]s?\b",
    re.I,
)
_ASKS_WHO_DOES = re.compile(
    r"\W*who (?!(?:is|was|are|were|am|did|do|does)\b)\w+s\b|\W*谁(?![是的叫])", re.I
)
_HURRIED = re.compile(r"\b(what|where|who|when|how)s\b", re.I)
_SOME, _ALL = 0.25, 0.9  # of the question's words
_YES_PREFIX = {"en": "Yes: ", "zh": "是的："}
# How likely a second quotation is to be the answer, as a share of the first one's chance.
_AS_LIKELY = 0.5
# And a fact of the kind that is asked for, as a share of what is likely enough.
_KIND_SHARE = 0.35
# The bar was set for talk with an assistant, of which things are asked that were never told: among
# people a chance of this share of it will do.
_AMONG_PEOPLE = 0.8
# By how much likelier an answer has to be where a search found nothing that bears on the question.
_FAR = 2.0
# Characters of a question, and memories, that are looked at.
_READ, _LOOKED_AT = 1000, 10
_SECOND_QUOTE_MARGIN = 0.1
_MOST_QUOTED, _MOST_LISTED = 2, 4
_CONVERSATION = timedelta(hours=1)
# What may come, and does not hold.
_UNSURE = re.compile(
    r"\b(?:think(?:s|ing)? (?:of|about)|might|may|maybe|perhaps|consider(?:s|ing)|hop(?:es?|ing)"
    r"|dream(?:s|ing)?|looking (?:at|for|into)|not sure|would (?:like|love)|['’]d (?:like|love))\b",
    re.I,
)
# Scores of phrases that are given as the answer, and of others beside the best.
_SURE, _AS_SURE = 1.6, 0.5
# By how much more what another person said must bear on the question than what the asked-for one
# did, in the units of a search's score.
_OTHER_PERSON_MARGIN = 0.8
# Of a question whether something goes on, what says nothing of what that is.
_STILL_CHARACTERS = frozenset("我俺他她你的还在吗么嘛有去是了现这那家要会能想没不，。？? ")
_ASKS_CODE_ZH = re.compile("手机号|电话|号码|邮箱|微信|密码|车牌|账[号户]|卡号|QQ")
_CODE = re.compile(r"[A-Za-z0-9@._-]{4,}")
_ASKS_WHOSE_ZH = re.compile("谁|哪个|哪些人|什么人|家里")
# "Ana's mum" is called by no name.
_OWNER_OF_NO_NAME = re.compile(r"['’]|的")
_COUNTS_KIN = re.compile(
    r"\b(?:twins|triplets|only child|an? (?:\w+ )?(?:son|daughter|brother|sister|boy|girl))\b", re.I
)
# From this chance on it is taken for the answer, whether or not it says the word that is asked
# with: "saw Dr Okafor today" where the doctor is.
_MOST_LIKELY = 0.77


def answer_from_quotes(
    question: str, quotes: Sequence[Quote], *, subject: str = ""
) -> GroundedAnswer:
    """From the quotes, best first; abstains when none bears on the question. Traditional characters
    are read as simplified ones, and the answer is put into those that the memories are told in."""
    written = [question, *(quote.text for quote in quotes)]
    if not any(map(has_traditional, written)):
        return _answer_simplified(question, quotes, subject)
    folded = [
        replace(
            quote,
            text=fold_traditional(quote.text),
            speaker=fold_traditional(quote.speaker),
            owner=fold_traditional(quote.owner),
            object=fold_traditional(quote.object),
            replaced=fold_traditional(quote.replaced),
        )
        for quote in quotes
    ]
    found = _answer_simplified(fold_traditional(question), folded, fold_traditional(subject))
    if not found.used:
        return found
    forms = list_written_forms(quotes[at].text for at in found.used)
    return replace(found, text=found.text.translate(forms))


def _answer_simplified(question: str, quotes: Sequence[Quote], subject: str) -> GroundedAnswer:
    # "whats her job": whoever types in a hurry leaves the apostrophe out.
    known = [quote.text[:_READ] for quote in quotes[:_LOOKED_AT]]
    question = _HURRIED.sub(r"\1 is", correct_typos(question[:_READ], known))
    language: LanguageCode = detect_read_language(question)
    if ASKS_AHEAD.search(question):
        quotes = [quote for quote in quotes if not is_past_date(quote)]
    near, quotes = quotes[:_LOOKED_AT], [quote for quote in quotes if quote.bears][:_LOOKED_AT]
    told_near = quotes or near
    asked = parse_question(question, told_near, subject)
    if quotes and asks_for_overview(question) and (told := _list_claims(asked, quotes)):
        return told
    if asks_for_agenda(question) and (told := _list_agenda(question, near, language)):
        return told
    # A kind of thing, or who somebody is, is told from what else is said: also of what a search
    # does not take to bear on the question, which in Chinese it knows little of.
    assisted = any(quote.assisted for quote in near)
    kind = None if assisted else find_asked_kind(question)
    if kind and not kind.beside and (told := _list_kind(asked, kind, near, language)):
        return told
    if asks_own_name(question) and not is_stated(asked, told_near):
        # Whoever else has a name is not the one who asks.
        return quote_introduction(near) or GroundedAnswer(NOTHING_FOUND[language], quoted=True)
    wanted = find_asked_identity(question)
    people = asked.people
    if wanted and wanted.role:  # "my boss before Mr Lee" is nobody of Mr Lee's
        people = parse_question(drop_whom_before(question), told_near, subject).people
    owners = people or ((subject,) if subject and is_about_relative(question) else ())
    if wanted and (
        named := answer_with_identity(
            wanted, owners, subject, told_near, language, find_asked_tense(question)
        )
    ):
        return named
    stated = is_stated(asked, told_near)
    if assisted and near and not stated:
        # The decider was learned from such talk, and knows better than the rules below.
        asked = parse_question(question, near, subject)
        return _answer_with_likeliest(asked, near, rank_sentences(asked, near), language)
    told = None
    if kind and kind.beside and not stated:
        told = _list_kind(asked, kind, near, language, _MOST_QUOTED)
    if told:
        return told
    if near and not quotes:
        return _answer_with_likeliest(asked, near, rank_sentences(asked, near), language, _FAR)
    sentences = every = rank_sentences(asked, quotes)
    stated = is_stated(asked, quotes)
    if stated:
        sentences = [s for s in sentences if _may_tell_of_asked(asked, quotes[s.quote])]
        if find_asked_tense(question) == "former":
            sentences = select_former(asked, sentences, quotes) or sentences
    if not sentences or not (stated or _has_search_words(asked)):
        return GroundedAnswer(NOTHING_FOUND[language], quoted=True)
    if not stated and language == "en" and _is_about_something_else(asked, quotes):
        return GroundedAnswer(NOTHING_FOUND[language], quoted=True)
    if not stated and _is_about_other_person(asked, quotes):
        return GroundedAnswer(NOTHING_FOUND[language], quoted=True)
    ranked = any(quote.relevance is not None for quote in quotes)
    literal = [each for each in sentences if _says_all(asked, each)]
    if ranked and not stated and (not literal or _is_out_of_date(asked, literal, every, quotes)):
        return _answer_with_likeliest(asked, quotes, every, language, _AMONG_PEOPLE)
    if ASKS_WHEN.search(question):
        made = answer_with_date(asked, sentences, quotes, language)
    elif asks_yes_or_no(question):
        made = _answer_with_yes(asked, sentences[0], quotes, language)
    else:
        made = _answer_with_phrases(asked, sentences, quotes) if language == "en" else None
    return made or _answer_with_quotes(asked, sentences, quotes)


def _list_claims(asked: QuestionTerms, quotes: Sequence[Quote]) -> GroundedAnswer | None:
    """What holds of the one who is asked about, claim by claim."""
    held = [at for at, q in enumerate(quotes) if not q.speaker and q.owner in asked.people]
    parts = [
        (quotes[at].text, Phrase(at, 0, len(quotes[at].text), quotes[at].text, 0.0))
        for at in held
        if quotes[at].until is None
    ]
    return join_parts(parts, " ") if parts else None


def _list_agenda(
    question: str, quotes: Sequence[Quote], language: LanguageCode
) -> GroundedAnswer | None:
    """What is told of days to come, or of those in the month that is asked for, the next first."""
    month = find_asked_month(question)
    ahead = [
        (quote.event, at, quote)
        for at, quote in enumerate(quotes)
        if quote.event and quote.owner and not quote.passed and quote.until is None
        if month in (0, quote.event.start.month)
    ]
    ahead.sort(key=lambda each: each[0].start)
    parts = [
        (f"{format_span(event, language)}: “{quote.text}”", Phrase(at, 0, len(quote.text), "", 0.0))
        for event, at, quote in ahead
    ]
    return join_parts(parts, " ") if parts else None


def _list_kind(
    asked: QuestionTerms,
    kind: AskedKind,
    quotes: Sequence[Quote],
    language: LanguageCode,
    most: int = _MOST_LISTED,
) -> GroundedAnswer | None:
    """What holds of the one who is asked about of a kind that is asked for, the latest first."""
    if find_asked_tense(asked.text) == "former":
        return None
    found = [
        (at, quote)
        for at, quote in enumerate(quotes)
        if quote.until is None and tells_kind(kind, asked, quote)
    ]
    if kind.beside:
        # What was read of a message says it more shortly than the message.
        found = [each for each in found if each[1].owner] or found
    found.sort(key=lambda each: each[1].said_at or LONG_AGO, reverse=True)
    parts = list[tuple[str, Phrase]]()
    for at, quote in found[:most]:
        when = MONTH[language].format(quote.said_at) if quote.said_at else ""
        phrase = Phrase(at, 0, len(quote.text), quote.text, 0.0)
        parts.append((f"“{quote.text}”{when}", phrase))
    return join_parts(parts, " ") if parts else None


def _says_all(asked: QuestionTerms, sentence: EvidenceSentence) -> bool:
    """Whether the one who is asked about says in so many words what the question does. Where the
    question names them, fewer of its words will do."""
    theirs = not asked.people or sentence.person in asked.people
    named = any(mentions_name(asked.text, name) for name in asked.people)
    literal = sentence.coverage >= (_SOME if named else _ALL) and (named or len(asked.stems) > 1)
    return theirs and literal and not sentence.is_question


def _is_out_of_date(
    asked: QuestionTerms,
    literal: Sequence[EvidenceSentence],
    sentences: Sequence[EvidenceSentence],
    quotes: Sequence[Quote],
) -> bool:
    """Whether of what holds now something newer tells of a change in it: "changed gyms"."""
    if find_asked_tense(asked.text) != "now":
        return False
    latest = max(quotes[each.quote].said_at or LONG_AGO for each in literal)
    newer = (s for s in sentences if (quotes[s.quote].said_at or LONG_AGO) > latest)
    return any(NEWS.search(s.text) and extract_stems(s.text) & asked.stems for s in newer)


def _answer_with_likeliest(
    asked: QuestionTerms,
    quotes: Sequence[Quote],
    sentences: Sequence[EvidenceSentence],
    language: LanguageCode,
    far: float = 1.0,
) -> GroundedAnswer:
    """What the learned decider takes for the answer, if it takes any for likely enough: a date, a
    yes, or quoted, with what is at least half as likely and stands elsewhere: of what holds now the
    later first, of what held before the earlier. `far`: how often as likely it has to be."""
    decider = get_shipped_decider()
    weighed = weigh_sentences(asked, quotes, sentences, decider)
    telling = [each for each in weighed if not each[1].is_question] or weighed
    if language == "en":  # of Chinese the search's floor says little
        least = _KIND_SHARE * decider.get_bar(language)
        near = {e.text for chance, e in telling if chance >= least and not quotes[e.quote].bears}
        answering = select_answering(asked, sorted(near))
        telling = [e for e in telling if quotes[e[1].quote].bears or e[1].text in answering]
        if who := find_named_third(asked.text, quotes, asked.subject):
            of_them = partial(may_tell_of_named, who, asked)
            telling = [e for e in telling if of_them(e[1], quotes[e[1].quote])]
    if (kind := find_value_kind(asked.text)) in ("phone", "mail"):
        telling = [each for each in telling if has_value(each[1].text, kind)]
    telling = [each for each in telling if tells_measure(each[1].text, asked.text)]
    telling = [each for each in telling if counts_in_asked(each[1].text, asked.text)]
    counted, spoken_of = find_counted_kin(asked.text), find_tie_words(asked.text)
    if spoken_of:
        telling = [e for e in telling if spoken_of.search(e[1].text)]
    if counted:
        telling = [e for e in telling if counted.search(e[1].text)]
    if language == "zh" and asks_yes_or_no(asked.text):
        telling = _leave_out_unrelated(asked, telling, quotes)
    if kin := find_kin_asked_for(asked.text):
        telling = [e for e in telling if kin.search(e[1].text)]
    telling = [e for e in telling if not _tells_of_another_relative(asked, e[1], quotes)]
    if asked.relative and asks_measure(asked.text):
        telling = [e for e in telling if _tells_of_relative(asked.relative, e[1], quotes)]
    if language == "en":
        least = _KIND_SHARE * decider.get_bar(language)
        telling = _prefer_companions(asked, telling, quotes, least)
    telling = leave_out_present(asked, telling, quotes)
    if is_present_alone(asked, telling, quotes, decider.get_bar(language)):
        return GroundedAnswer(NOTHING_FOUND[language], quoted=True)
    if animal := find_asked_animal(asked.text):
        telling = [e for e in telling if tells_of_animal(e[1].text, animal)]
    wanted = find_asked_identity(asked.text)
    if wanted and wanted.role and language == "en":
        names = {q.owner for q in quotes if not _OWNER_OF_NO_NAME.search(q.owner)}
        names -= {"", asked.subject, *PLACEHOLDERS}
        telling = [
            e
            for e in telling
            if names_relative(e[1].text, wanted.role, asked.text, names)
            or (e[0] >= _MOST_LIKELY and names_anybody(e[1].text, names))
        ]
    telling = (
        find_left_job(asked, quotes, telling)
        or find_earlier_answer(asked, quotes, weighed)
        or _list_likely(asked, quotes, telling, decider.get_bar(language) * far)
        or tell_latest(asked, quotes, telling)
        or find_earlier_job(asked, quotes, telling)
    )
    if not telling:
        kin = find_listed_kin(asked.text)
        listed = list_relatives(asked, kin, quotes) if kin else None
        return listed or GroundedAnswer(NOTHING_FOUND[language], quoted=True)
    telling = _put_own_first(asked, telling, weighed, quotes)
    telling = order_by_tense(asked, telling, weighed, quotes)
    telling = name_whom_it_tells_of(asked, telling, weighed, quotes)
    chance, best = telling[0]
    made = None
    kind_of_day = find_asked_kind(asked.text)
    is_day_told = bool(best.coverage or (kind_of_day and kind_of_day.tells.search(best.text)))
    is_day_told = is_day_told or chance >= _MOST_LIKELY
    if ASKS_DAY_OF.search(asked.text) and not is_day_told:
        return GroundedAnswer(NOTHING_FOUND[language], quoted=True)
    if ASKS_WHEN.search(asked.text) and quotes[best.quote].assisted:
        best = find_put_off(asked, best, _list_news(asked, quotes), quotes) or best
        made = answer_with_dated_quote(asked, best, quotes[best.quote], language)
    elif ASKS_WHEN.search(asked.text):
        made = answer_with_date(asked, [best], quotes, language)
    elif asks_yes_or_no(asked.text):
        made = _answer_with_yes(asked, best, quotes, language)
    others = (
        sentence
        for likely, sentence in telling[1:]
        if likely >= _AS_LIKELY * chance and sentence.quote != best.quote
    )
    second = next((each for each in others if not is_alike(each, best)), None)
    chosen = [best, second] if second else [best]
    sure = any(likely >= decider.get_bar(language) for likely, each in telling if each is second)
    if second and _comes_first(asked, second, best, quotes, at_once=sure):
        chosen = [second, best]
        made = None if _have_value(asked, chosen) else made
    chosen = [widen_to_neighbours(each, quotes[each.quote]) for each in chosen]
    if made:
        return made
    change = _find_change(asked, chosen[0])
    # Of a change the side that is asked for is cut out already.
    first, *rest = (
        each if change and each is chosen[0] else shorten_to_clauses(asked.text, each, language)
        for each in chosen
    )
    told = format_dated_quote(asked, first, quotes[first.quote], language, change=change)
    beside = [(format_dated_quote(asked, s, quotes[s.quote], language), s) for s in rest]
    return join_parts([(told, first), *beside], " ")


def _prefer_companions(
    asked: QuestionTerms, telling: Sequence[Weighed], quotes: Sequence[Quote], least: float
) -> list[Weighed]:
    """Of whom somebody lives with or is to marry only what tells that, where a fact of theirs does
    so likely enough, and each such fact as likely as the likeliest: a landlord is neither."""
    kind = find_asked_kind(asked.text)
    if kind is None or kind.of_others is None:
        return [*telling]
    own = [e for e in telling if tells_kind(kind, asked, quotes[e[1].quote])]
    facts = [chance for chance, each in own if quotes[each.quote].owner and chance >= least]
    if not facts:
        return [*telling]
    best = max(facts)
    raised = [(max(best, c) if c >= least and quotes[e.quote].owner else c, e) for c, e in own]
    return sorted(raised, key=lambda each: -each[0])


def _leave_out_unrelated(
    asked: QuestionTerms, telling: Sequence[Weighed], quotes: Sequence[Quote]
) -> list[Weighed]:
    """Without what has not one character of what the question asks about, where something has, and
    altogether where it asks whether something goes on."""
    sought = {*asked.text} - _STILL_CHARACTERS
    related = [e for e in telling if sought & {*e[1].text, *quotes[e[1].quote].replaced}]
    still = asks_whether_still(asked.text)
    return related if still or (related and not asked.predicates) else [*telling]


def _tells_of_another_relative(
    asked: QuestionTerms, piece: EvidenceSentence, quotes: Sequence[Quote]
) -> bool:
    """Whether it is a claim about some other relative or acquaintance of the subject's than the one
    who is asked about, and speaks of that one nowhere: a head teacher is no father."""
    owner = quotes[piece.quote].owner
    if asked.relative is None or not (is_kin(owner) or has_role(owner)):
        return False
    return not (asked.relative.is_called(owner) or asked.relative.is_spoken_of(piece.text))


def _put_own_first(
    asked: QuestionTerms,
    telling: Sequence[Weighed],
    weighed: Sequence[Weighed],
    quotes: Sequence[Quote],
) -> list[Weighed]:
    """Who asks in Chinese about themselves, and names no relative, is told of their own wedding and
    not of a cousin's, where there is one."""
    chance, best = telling[0]
    owner, role = quotes[best.quote].owner, quotes[best.quote].owner.rpartition("的")[2]
    of_self = asked.people == (asked.subject,) and asked.relative is None
    if not (of_self and is_kin(owner)) or role in asked.text or _ASKS_WHOSE_ZH.search(asked.text):
        return [*telling]
    own = (
        (chance, each)
        for likely, each in weighed
        if quotes[each.quote].owner == asked.subject
        and (likely >= HOLDS_SHARE * chance or each.coverage >= best.coverage > 0)
    )
    first = next(own, None)
    beside = [each for each in telling if not is_kin(quotes[each[1].quote].owner)]
    return [first, *beside] if first else [*telling]


def _find_change(asked: QuestionTerms, sentence: EvidenceSentence) -> ToldChange | None:
    """The change that it tells of, unless this is what is asked after."""
    if ASKS_WHEN.search(asked.text) or asks_after_change(asked.text):
        return None
    return find_change(asked.text, sentence.text, find_asked_tense(asked.text))


def _comes_first(
    asked: QuestionTerms,
    one: EvidenceSentence,
    other: EvidenceSentence,
    quotes: Sequence[Quote],
    *,
    at_once: bool,
) -> bool:
    """Whether of two that may answer the one was said later and holds, where it is asked for what
    holds now, or earlier, where it is asked for what held before. `at_once`: also within one
    conversation, in which what comes next seldom takes the place of what was just said."""
    times = [quotes[each.quote].said_at or LONG_AGO for each in (one, other)]
    tense = find_asked_tense(asked.text)
    if tense == "former":
        return LONG_AGO < times[0] < times[1]
    if tense != "now" or quotes[one.quote].until is not None:
        return False
    gone = [quotes[e.quote].tells_end or bool(GONE.search(e.text)) for e in (one, other)]
    unsure = [bool(_UNSURE.search(e.text)) for e in (one, other)]
    if gone == [False, True] and times[0] >= times[1]:
        return True
    if unsure[0] != unsure[1] and not _UNSURE.search(asked.text):
        return unsure[1]
    return times[0] - times[1] > (timedelta() if at_once else _CONVERSATION)


def _have_value(asked: QuestionTerms, sentences: Sequence[EvidenceSentence]) -> bool:
    """Whether each has what is asked for, a number or a day: "number changed, 0770 …" after "call
    me on 0161 …"."""
    kind = find_value_kind(asked.text)
    return kind not in ("", "identity") and all(has_value(s.text, kind) for s in sentences)


def _list_likely(
    asked: QuestionTerms,
    quotes: Sequence[Quote],
    weighed: Sequence[tuple[float, EvidenceSentence]],
    bar: float,
) -> list[tuple[float, EvidenceSentence]]:
    """What is likely enough, likeliest first: where that is none, of what holds now, facts of the
    very kind of thing that is asked for, of which less will do."""
    if weighed and weighed[0][0] >= bar:
        return [*weighed]
    if len(asked.stems) == 1 and (named := [e for e in weighed if e[1].coverage >= _ALL]):
        # "kayak?": a single word is no question that a decider could weigh.
        return [each for each in named if each[0] >= _KIND_SHARE * bar]
    if code := _ASKS_CODE_ZH.search(asked.text):
        told = [e for e in weighed if code[0] in e[1].text and _CODE.search(e[1].text)]
        if told and told[0][0] >= _KIND_SHARE * bar:
            return told
    if _ASKS_WHO_DOES.match(asked.text) and len(asked.stems) > 1:
        # "who keeps bees": who says so does, though "I keep bees" names nobody.
        said = [each for each in weighed if each[1].coverage >= _ALL and not each[1].is_question]
        if said:
            return said
    if find_asked_tense(asked.text) != "now":
        return []
    kind, measured = find_asked_kind(asked.text), asks_measure(asked.text)
    # What speaks of other relatives was left out before.
    counted = find_counted_kin(asked.text)
    alike = (
        (chance, each)
        for chance, each in weighed
        if shares_kind(asked, quotes[each.quote], each.text)
        or (kind and quotes[each.quote].owner and tells_kind(kind, asked, quotes[each.quote]))
        # What tells no measure was left out before.
        or (measured and quotes[each.quote].owner in asked.people)
        or (counted and (has_value(each.text, "amount") or _COUNTS_KIN.search(each.text)))
    )
    return [each for each in alike if each[0] >= _KIND_SHARE * bar]


def _tells_of_relative(
    relative: AskedRelative, piece: EvidenceSentence, quotes: Sequence[Quote]
) -> bool:
    """Whether the words are about the very relative who is measured: the dog's age is not the
    children's."""
    owner = quotes[piece.quote].owner
    return relative.is_called(owner) if owner else relative.may_be_spoken_of(piece.text)


def _may_tell_of_asked(asked: QuestionTerms, quote: Quote) -> bool:
    if asked.relative is not None:
        return not quote.owner or asked.relative.is_called(quote.owner)
    return quote.owner in ("", *asked.people)


def _list_news(asked: QuestionTerms, quotes: Sequence[Quote]) -> list[EvidenceSentence]:
    """What may tell of the one who is asked about: also what names nobody, as who tells that Mum's
    appointment was put off need not name her again."""
    return [
        each
        for each in rank_sentences(replace(asked, relative=None), quotes)
        if _may_tell_of_asked(asked, quotes[each.quote])
        and not (asked.relative and asked.relative.is_another(each.text))
    ]


def _has_search_words(asked: QuestionTerms) -> bool:
    """Whether it has words to look for, or names somebody to be told about."""
    return bool(asked.stems) or any(mentions_name(asked.text, name) for name in asked.people)


def _is_about_something_else(asked: QuestionTerms, quotes: Sequence[Quote]) -> bool:
    """Whether none of what it asks about, names aside, is spoken of anywhere there, and it asks for
    nothing that is known by another word."""
    sought = asked.stems - _extract_name_stems(asked.text) - ASKING
    known = any(
        extract_stems(f"{quote.text} {quote.replaced}") & sought
        or shares_kind(asked, quote, quote.text)
        for quote in quotes
    )
    return bool(sought) and not known and not asked.predicates and not find_value_kind(asked.text)


def _extract_name_stems(question: str) -> set[str]:
    return {stem for name in NAME_INSIDE.findall(question) for stem in extract_stems(name)}


def _is_about_other_person(asked: QuestionTerms, quotes: Sequence[Quote]) -> bool:
    """Whether the question is about one person, and another one said what bears on it."""
    if len(asked.people) != 1:
        return False
    person = asked.people[0]
    theirs = [q for q in quotes if _is_about(q, person)]
    others = [q for q in quotes if not _is_about(q, person) and (q.speaker or q.owner)]
    if not others or any(q.relevance is None for q in quotes):
        return False  # they were not ranked side by side
    best = max((q.relevance or 0.0 for q in theirs), default=None)
    return best is None or max(q.relevance or 0.0 for q in others) - best > _OTHER_PERSON_MARGIN


def _is_about(quote: Quote, person: str) -> bool:
    return person in (quote.owner, quote.speaker)


def _answer_with_yes(
    asked: QuestionTerms, best: EvidenceSentence, quotes: Sequence[Quote], language: LanguageCode
) -> GroundedAnswer | None:
    """Where the one who is asked about says all that the question does, without ifs and buts."""
    whose = not asked.people or best.person in asked.people
    said_plainly = not (_HEDGE.search(best.text) or GONE.search(best.text))
    plain = said_plainly and not _HEDGE.search(asked.text.rstrip("?？ "))
    plain = plain and not _speaks_against(asked.text, best.text)
    told_over = quotes[best.quote].tells_end  # a bike that was stolen is none any more
    had = not _ASKS_HAVING.search(asked.text) or (_HAVING.search(best.text) and not told_over)
    if not (whose and plain and had and best.coverage >= _ALL):
        return None
    changed = quotes[best.quote].replaced or quotes[best.quote].tells_end
    sought = asked.stems - _extract_name_stems(asked.text)
    if changed and not (sought and sought <= extract_stems(best.text)):
        return None  # what it took the place of was so, or what it says is over
    if gone := find_end(best, quotes):
        return join_parts([(f"“{quotes[gone.quote].text}”", gone)], "")
    said = format_quote(asked, best, quotes[best.quote])
    return answer_from_sentence(f"{_YES_PREFIX[language]}{said}", best)


def _speaks_against(question: str, text: str) -> bool:
    """Whether it has the words of a question after what is possible, and says nothing of that, or
    says what is borne badly: who is allergic to cats can have none."""
    against = {match[0].lower() for match in _AGAINST.finditer(text)}
    against -= {match[0].lower() for match in _AGAINST.finditer(question)}
    unsaid = bool(_ASKS_LEAVE.match(question)) and not _GIVES_LEAVE.search(text)
    return bool(against) or unsaid


def _answer_with_phrases(
    asked: QuestionTerms, sentences: Sequence[EvidenceSentence], quotes: Sequence[Quote]
) -> GroundedAnswer | None:
    """The phrases asked for, where they are sure enough. Of one thing, what a fact states goes
    before what was said: it is kept up to date, and knows itself which of its words is meant."""
    wish = parse_phrase_request(asked.text)
    if wish.kind == "other":
        return None
    stating = [s for s in sentences if not wish.many and states_asked_fact(asked, quotes[s.quote])]
    former = find_asked_tense(asked.text) == "former"
    if former:
        stating = select_former(asked, stating, quotes) or stating
    # What is asked for first goes first: a job is what somebody does before it is where.
    # And what is so already before what is planned.
    stating.sort(
        key=lambda each: (
            lies_ahead(quotes[each.quote]),
            asked.predicates.index(quotes[each.quote].predicate),
        )
    )
    planned = [s for s in sentences if tells_due_move(asked, quotes[s.quote])]
    if stating and not former and (due := find_due_plan([*stating, *planned], quotes)):
        both = [due, *(s for s in stating[:1] if s.quote != due.quote)]
        told = [(format_dated_quote(asked, s, quotes[s.quote], "en"), s) for s in both]
        return join_parts(told, " ")
    if stating and quotes[stating[0].quote].object and wish.kind != "why":
        quote = quotes[stating[0].quote]
        # Where somebody started is not what they do there.
        exact = quote.predicate == asked.predicates[0] or former
        exact = exact and not lies_ahead(quote)
        value = _answer_with_value(stating[0], quote) if exact else None
        counts = quote.predicate.startswith("has_count_")
        since = counts and (
            find_end(stating[0], quotes) or find_change_in_number(asked, stating[0], quotes)
        )
        if since:
            had = format_dated_quote(asked, stating[0], quote, "en")
            return join_parts([(had, stating[0]), (f"“{since.text}”", since)], " ")
        return value or _answer_with_quotes(asked, stating[:1], quotes)
    for among in (stating, sentences):
        ranked = rank_phrases(asked, wish, among) if among else []
        found = [p for p in ranked if p.score >= _SURE and not _is_replaced(p, quotes)]
        if chosen := list(_select_distinct_phrases(found, wish)):
            return join_parts([(p.text, p) for p in chosen], ", ")
    return None


def _is_replaced(phrase: Phrase, quotes: Sequence[Quote]) -> bool:
    """Whether it is of what its memory took the place of: "switched from Barclays to Monzo"."""
    return phrase.text.casefold() in quotes[phrase.quote].replaced.casefold()


def _answer_with_value(sentence: EvidenceSentence, quote: Quote) -> GroundedAnswer | None:
    """What the fact says of the one thing asked for, where its text has it in these words."""
    words = rf"(?<!\w){re.escape(quote.object)}(?!\w)"
    match = re.search(words, sentence.text, re.I)
    if match is None:
        return None
    start, end = sentence.start + match.start(), sentence.start + match.end()
    phrase = Phrase(sentence.quote, start, end, match[0], sentence.score)
    return join_parts([(phrase.text, phrase)], "")


def _select_distinct_phrases(found: Sequence[Phrase], wish: PhraseRequest) -> Iterator[Phrase]:
    """The best, and where several are asked for those nearly as good: one a memory, each once."""
    given = list[Phrase]()
    for phrase in found[: 1 if not wish.many else None]:
        known = any(_repeats_phrase(phrase, each) for each in given)
        sure = phrase.score >= found[0].score - _AS_SURE
        if sure and not known and len(given) < _MOST_LISTED:
            given.append(phrase)
            yield phrase


def _repeats_phrase(phrase: Phrase, given: Phrase) -> bool:
    one, other = phrase.text.lower(), given.text.lower()
    return phrase.quote == given.quote or one in other or other in one


def _answer_with_quotes(
    asked: QuestionTerms, sentences: Sequence[EvidenceSentence], quotes: Sequence[Quote]
) -> GroundedAnswer:
    chosen = list[EvidenceSentence]()
    telling = [sentence for sentence in sentences if not sentence.is_question]
    for sentence in telling or sentences:
        near = not chosen or sentence.score >= chosen[0].score - _SECOND_QUOTE_MARGIN
        if near and len(chosen) < _MOST_QUOTED and not any(is_alike(sentence, c) for c in chosen):
            chosen.append(sentence)
    return join_parts([(format_quote(asked, s, quotes[s.quote]), s) for s in chosen], " ")
