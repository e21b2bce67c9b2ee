"""What the local engine says of claims side by side. Doubt is left to a person.

What a new claim does to those held was learned (`deciders`), a wish to forget is matched by what it
says of the thing meant (`forget`), and names are only kept apart, never merged.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import islice, takewhile

from memoryhub.engines.local.chinese.endings import may_end_claim
from memoryhub.engines.local.chinese.traditional import fold_traditional, has_traditional
from memoryhub.engines.local.claims.predicates import is_many_valued
from memoryhub.engines.local.comparison.deciders import DecidersFile, get_shipped_deciders
from memoryhub.engines.local.comparison.exchanges import find_given_up
from memoryhub.engines.local.comparison.forget import match_forget_wish
from memoryhub.engines.local.comparison.frames import mark_subject, match_frames
from memoryhub.engines.local.comparison.levels import outgrows_level
from memoryhub.engines.local.comparison.life_changes import (
    ends_leave,
    ends_stage,
    gives_up_plan,
    opens_on_day,
    overturns_denial,
    reaches_aim,
)
from memoryhub.engines.local.comparison.matters import (
    may_contradict,
    names_other_month,
    tells_status_alone,
)
from memoryhub.engines.local.comparison.may_end import (
    is_likely,
    is_name_within_other,
    is_of_neighbour,
    is_of_relative,
    may_end,
    tells_relative,
    tokenise_text,
    view_claim,
)
from memoryhub.engines.local.comparison.messages import (
    CUES_OF_CHANGE,
    Chances,
    MessageEnds,
    asks_of_messages,
    end_by_messages,
    list_message_ends,
)
from memoryhub.engines.local.comparison.pairs import (
    ClaimView,
    describe_pairs,
    find_cues,
    is_repetition,
    list_telling_words,
    may_take_place,
    names_ended_thing,
)
from memoryhub.engines.local.comparison.reading import describe_reading
from memoryhub.engines.local.comparison.slots import fills_slot_anew, read_slot
from memoryhub.engines.local.comparison.ties import ends_tie, tells_end_of_thing
from memoryhub.engines.local.language import CHINESE_WORDS_SUFFIX, HAN, detect_language
from memoryhub.engines.local.wordlists import split_words
from memoryhub.engines.types import (
    ClaimCandidate,
    ClaimComparison,
    ClaimSlots,
    ClaimVerdict,
    HeldClaim,
    NamePair,
    ToldMessage,
    VerdictOp,
)

_NAME = re.compile(rf"[A-Z\u00c0-\u00de{HAN}]")
# What something is called is told of all that has the name (`local.claims.name_corrections`).
_NOT_THIS_VALUE = re.compile(
    r" (?:is|was|are|were) (?!called |named )[^,.]{1,40}?,? (?:and )?not "
    r"(?:in |on |at |a |an |the )?(?P<old>[^,.]{1,40})\.$"
)
# Who has a thing no more that goes by a name: what is told of it by that name is over.
_NO_LONGER_HAS = re.compile(
    r"(?i: (?:does not|doesn['’]t|no longer) (?:have|has|own|owns|drive|drives|use|uses)"
    r" (?:the |their |his |her )?)(?P<thing>[A-Z][\w'’-]*(?: [A-Z][\w'’-]*){0,2})"
    r"(?: any ?more)?\.$"
)
_LIKELIER_THAN_NOT = 0.5
_MOST_SURE = 0.99  # that is told: nothing here is certain
_COURTSHIP = re.compile(
    r"['’]s? (?:boyfriend|girlfriend|bf|gf)(?: is (?:called )?[A-Z][\w'’-]+)?\.$"
    r"|的(?:男朋友|女朋友|男友|女友|对象)。$"
)
_MARRIED = re.compile(r"\b(?:got|get|are|is|am) married\b", re.I)
_WEDS = re.compile(
    r"\b(?i:married|eloped with) (?P<whom>[A-Z][\w'’-]+)"
    r"|^(?P<who>[A-Z][\w'’-]+) and [^,.;]+ (?i:got married|eloped)\b"
)
_LEFT_PLACE = re.compile(
    r"\bleft (?:the )?"
    r"(?P<place>[A-Z][\w&'’-]*(?: (?:of |and |& )?[A-Z][\w&'’-]*)*)(?! at \d)"
)
_LONGEST_VALUE = 12  # characters that are put right
_LIKING_WORDS = split_words("like likes love loves enjoy enjoys adore adores prefer prefers")
_DISLIKING_WORDS = split_words("""
    dislike dislikes hate hates detest detests loathe loathes avoid avoids
""")
_LIKING_ZH, _DISLIKING_ZH = ("喜欢", "爱", "热爱"), ("不喜欢", "讨厌", "不爱", "厌恶")
_STOP_WORDS = split_words("""
    a an the i my me you your his her their its it that this of to in on at for with about and
    or from do not all can could would is are was were be has have had
""")
_STOP_HAN = frozenset("你我他她它们的了把得吧")


class ClaimRules:
    def resolve_claims(self, comparison: ClaimComparison) -> list[ClaimVerdict]:
        """What new claims do to those offered, and what wishes to forget are about. What was
        learned acts where it is sure; `sure` False: a person is to say."""
        comparison, found, chances = _judge_candidates(comparison)
        return [*found, *end_by_messages(comparison, found, chances)]

    def compare_names(self, pairs: Sequence[NamePair]) -> dict[str, bool]:
        """Apart, unless both are names and one's words are all in the other: that is left open.
        Plain words ("the marathon" beside "Madrid marathon") are no second name of anything."""
        return {p.handle: False for p in pairs if not _may_be_one(p.left, p.right)}


def find_message_ends(comparison: ClaimComparison) -> list[MessageEnds]:
    """What each message may end: what its decider learns from."""
    return [*list_message_ends(*_judge_candidates(comparison))]


def _judge_candidates(
    comparison: ClaimComparison,
) -> tuple[ClaimComparison, list[ClaimVerdict], Chances]:
    """The comparison as it is read, what is said of each candidate by itself, and how likely it is
    to end each claim."""
    comparison = _fold_comparison(comparison)
    held = {claim.handle: claim for claim in comparison.held}
    known: dict[str, HeldClaim | ClaimCandidate] = {**held}
    known |= {c.handle: c for c in comparison.candidates}
    found: list[ClaimVerdict] = []
    chances: Chances = {}
    for candidate in comparison.candidates:
        if candidate.is_wish:
            offered = [held[h] for h in candidate.offered if h in held]
            found += match_forget_wish(candidate, offered, comparison)
        else:
            found += _judge_candidate(candidate, known, comparison, chances)
    return comparison, found, chances


def _fold_comparison(comparison: ClaimComparison) -> ClaimComparison:
    """With simplified characters for traditional ones: verdicts have none of the words."""
    told = [each.text for each in comparison.candidates]
    told += [each.text for each in comparison.held]
    if not any(map(has_traditional, (*told, comparison.subject, *comparison.aliases))):
        return comparison

    def fold_slots(slots: ClaimSlots) -> ClaimSlots:
        return replace(
            slots, verb=fold_traditional(slots.verb), object=fold_traditional(slots.object)
        )

    return replace(
        comparison,
        candidates=[
            replace(
                each,
                text=fold_traditional(each.text),
                owner=fold_traditional(each.owner),
                speaker=fold_traditional(each.speaker),
                said=fold_traditional(each.said),
                message=each.message
                and ToldMessage(
                    fold_traditional(each.message.text), fold_traditional(each.message.asked)
                ),
                slots=fold_slots(each.slots),
            )
            for each in comparison.candidates
        ],
        held=[
            replace(
                each,
                text=fold_traditional(each.text),
                owner=fold_traditional(each.owner),
                slots=fold_slots(each.slots),
            )
            for each in comparison.held
        ],
        subject=fold_traditional(comparison.subject),
        aliases=tuple(map(fold_traditional, comparison.aliases)),
    )


def _may_be_one(left: str, right: str) -> bool:
    names = all(_NAME.search(name) for name in (left, right))
    return names and is_name_within_other(left, right)


def _has_learned_vectors(comparison: ClaimComparison, learned: DecidersFile) -> bool:
    """Whether cosines are those that were learned from. Of English the packaged embedder gives what
    MiniLM gives, whatever it has for Chinese."""
    return comparison.embedder.removesuffix(CHINESE_WORDS_SUFFIX) == learned.embedder


def _judge_candidate(
    candidate: ClaimCandidate,
    known: Mapping[str, HeldClaim | ClaimCandidate],
    comparison: ClaimComparison,
    chances: Chances,
) -> list[ClaimVerdict]:
    """All that it ends for sure, or repeats; else the one that it most likely ends, if any.
    `chances` gets how likely it is to end each."""
    language, learned = detect_language(candidate.text), get_shipped_deciders()
    decider = learned.deciders.get(language)
    similar = candidate.similar or (None,) * len(candidate.offered)
    offered = [
        (handle, known[handle], cosine)
        for handle, cosine in zip(candidate.offered, similar, strict=True)
        if detect_language(known[handle].text) == language
    ]
    if decider is None or not offered:
        return []
    aliases = (comparison.subject, *comparison.aliases)
    new = view_claim(candidate, aliases)
    held = [view_claim(claim, aliases) for _, claim, _ in offered]
    rows = describe_pairs(new, held, [cosine for _, _, cosine in offered], comparison.subject)
    reading = describe_reading(new, held, rows, assisted=candidate.assisted)
    rows = [row | read for row, read in zip(rows, reading, strict=True)]
    slots, ends = decider.judge_rows(rows)
    for (handle, *_), chance in zip(offered, ends, strict=True):
        chances[candidate.handle, handle] = float(chance)
    op: VerdictOp = "deny" if candidate.polarity in ("ended", "denied") else "contradict"
    seen = not decider.needs_vectors or _has_learned_vectors(comparison, learned)
    repeats = [
        at for at, row in enumerate(rows) if seen and is_repetition(row, slots[at], ends[at])
    ]
    if repeats:
        return [ClaimVerdict(candidate.handle, "same", offered[repeats[0]][0])]
    ask = decider.ask if candidate.assisted else decider.ask_among_people
    verdicts = [
        ClaimVerdict(
            candidate.handle,
            op,
            offered[at][0],
            reason=_explain_verdict(slots[at], ends[at], candidate),
            sure=bool(
                seen
                and ends[at] >= decider.act
                and may_take_place(rows[at])
                and not _stands_beside_plan(candidate, offered[at][1])
                and not is_of_relative(candidate, offered[at][1])
                and not is_of_neighbour(candidate, offered[at][1])
            ),
        )
        for at in sorted(range(len(rows)), key=lambda at: -ends[at])
        if ends[at] >= ask
        and may_end(candidate, offered[at][1], aliases, likely=is_likely(candidate, ends[at]))
        and not tells_status_alone(candidate.text, offered[at][1].text)
        and not (
            offered[at][1].polarity == "planned"
            and names_other_month(candidate.text, offered[at][1].text)
        )
    ]
    shares = list(zip(slots, ends, strict=True))
    told = (
        _correct_value(candidate, offered, slots.tolist())
        or _end_named_thing(candidate, offered, aliases)
        or _end_given_up(candidate, offered, find_given_up(new, held, aliases))
        or _fill_slot(candidate, offered, aliases, shares)
        or _end_courtship(candidate, offered, aliases)
        or _end_level(candidate, offered, new, held)
        or _end_tie(candidate, offered, new, held, aliases)
        or _end_told_thing(candidate, offered, new, held, aliases)
        or _end_left_post(candidate, offered, new, held)
        or _suspect_opposites(candidate, offered)
    )
    # What words tell of one claim says nothing of the others: there the deciders are heard.
    settled = {verdict.target for verdict in told}
    sure = [each for each in verdicts if each.sure and each.target not in settled]
    return (
        [*told, *sure]
        or _suspect_ending(candidate, offered, aliases)
        or _suspect_new_status(candidate, offered, aliases)
        or _select_askable(candidate, verdicts, known, aliases)
    )


def _stands_beside_plan(new: ClaimCandidate, old: HeldClaim | ClaimCandidate) -> bool:
    """Whether both are plans and no word tells of a change: one may have two appointments."""
    both = new.polarity == old.polarity == "planned"
    return both and not find_cues(f"{new.said}\n{new.text}") & CUES_OF_CHANGE


def _select_askable(
    candidate: ClaimCandidate,
    verdicts: Iterable[ClaimVerdict],
    known: Mapping[str, HeldClaim | ClaimCandidate],
    aliases: Collection[str],
) -> list[ClaimVerdict]:
    """The likeliest of those that a person can be asked in earnest, unless that is asked of its
    message in whole."""
    if asks_of_messages(candidate):
        return []
    new = view_claim(candidate, aliases)
    askable = (
        verdict
        for verdict in verdicts
        if may_contradict(new, view_claim(known[verdict.target], aliases), aliases)
    )
    return list(islice(askable, 1))


def _correct_value(
    candidate: ClaimCandidate,
    offered: _Offered,
    slots: Sequence[float],
) -> list[ClaimVerdict]:
    """What says in so many words which value is wrong ("Otis was 5 and not 4") ends the claim of
    the same owner and, likelier than not, the same slot that has it; so does Chinese that tells a
    claim anew with one value put right."""
    put_right = candidate.correction and detect_language(candidate.text) == "zh"
    anew = [
        ClaimVerdict(candidate.handle, "contradict", handle, reason="put right")
        for handle, old, _ in offered
        if put_right
        and old.owner == candidate.owner
        and _differs_by_value(candidate.text, old.text)
    ]
    if anew:
        return anew
    told = _NOT_THIS_VALUE.search(candidate.text)
    if told is None:
        return []
    value = re.compile(rf"(?<!\w){re.escape(told['old'])}(?!\w)", re.I)
    wrong = [
        handle
        for (handle, old, _), slot in zip(offered, slots, strict=True)
        if old.owner == candidate.owner and slot >= _LIKELIER_THAN_NOT and value.search(old.text)
    ]
    reason = f"not {told['old']}"
    return [ClaimVerdict(candidate.handle, "contradict", each, reason=reason) for each in wrong]


def _differs_by_value(new: str, old: str) -> bool:
    """Whether two claims are the same but for one short part."""
    if new == old:
        return False
    shortest = min(len(new), len(old))
    opening = _measure_opening(new, old)
    closing = min(_measure_opening(new[::-1], old[::-1]), shortest - opening)
    longest = max(len(new), len(old)) - opening - closing
    return longest <= _LONGEST_VALUE and opening + closing >= 2 * longest


def _measure_opening(one: str, other: str) -> int:
    """Characters that two texts open with alike."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


def _end_named_thing(
    candidate: ClaimCandidate, offered: _Offered, aliases: Collection[str]
) -> list[ClaimVerdict]:
    """What holds of the thing that the same person has no more, and is told by its name."""
    told = _NO_LONGER_HAS.search(candidate.text)
    if told is None or candidate.polarity != "ended":
        return []
    name = re.compile(rf"(?<!\w){re.escape(told['thing'])}(?!\w)")
    person = view_claim(candidate, aliases).person
    return [
        ClaimVerdict(candidate.handle, "deny", handle, reason=f"no longer: {told['thing']}")
        for handle, old, _ in offered
        if old.polarity == "holds"
        and name.search(old.text)
        and view_claim(old, aliases).person == person
        and may_end(candidate, old, aliases)
    ]


def _fill_slot(
    candidate: ClaimCandidate,
    offered: _Offered,
    aliases: Collection[str],
    shares: Sequence[tuple[float, float]],
) -> list[ClaimVerdict]:
    """What stands in the same slot of the same person with another value: "Ana's landlord is Mrs
    Green" after Mr Patel."""
    if candidate.polarity not in ("holds", "planned"):
        return []
    told = mark_subject(candidate.text, aliases)
    slot = read_slot(told)
    changed = find_cues(f"{candidate.said}\n{candidate.text}") & CUES_OF_CHANGE
    # What was put off takes the place of what was planned before.
    replaceable = {"holds", candidate.polarity, *(("planned",) if slot and slot.renewed else ())}
    found = []
    for (handle, old, _), (same, ends) in zip(offered, shares, strict=True):
        beside = old.slots.predicate_key and is_many_valued(old.slots.predicate_key)
        if beside or old.polarity not in replaceable:
            continue
        held = mark_subject(old.text, aliases)
        name = ""
        # Among people, who tell what happened, only what is known to be one or says that it is new.
        if slot and fills_slot_anew(slot, read_slot(held), one_by_default=candidate.assisted):
            name = slot.name
        elif candidate.assisted and "event" not in (candidate.slots.kind, old.slots.kind):
            name = match_frames(told, held)
            # Of names and days one may have several at once, unless the words tell of a change.
            name = name if name == "number" or changed else ""
        if name:
            reason = f"{_explain_verdict(same, ends, candidate)}; one {name} at a time"
            found.append(ClaimVerdict(candidate.handle, "contradict", handle, reason=reason))
    return found


def _end_given_up(
    candidate: ClaimCandidate, offered: _Offered, things: Sequence[str]
) -> list[ClaimVerdict]:
    """What held of a thing that was given for another: "switched from Barclays to Monzo".
    `things`: what was given up of each claim offered, or ""."""
    return [
        ClaimVerdict(candidate.handle, "contradict", handle, reason=f"given up: {thing}")
        for (handle, *_), thing in zip(offered, things, strict=True)
        if thing
    ]


def _end_level(
    candidate: ClaimCandidate, offered: _Offered, new: ClaimView, held: Sequence[ClaimView]
) -> list[ClaimVerdict]:
    """A lower level of a language than the one that was reached."""
    outgrown = [outgrows_level(new, old) for old in held]
    return [
        ClaimVerdict(
            candidate.handle, "contradict", handle, reason="a higher level", sure=how == "surely"
        )
        for (handle, *_), how in zip(offered, outgrown, strict=True)
        if how
    ]


def _end_tie(
    candidate: ClaimCandidate,
    offered: _Offered,
    new: ClaimView,
    held: Sequence[ClaimView],
    aliases: Collection[str],
) -> list[ClaimVerdict]:
    """What somebody named was to the person, and what was of a time of life that is over: "Priya
    left" ends "Priya is Ana's manager", "Ana got divorced" that she is married."""
    over = (
        ends_tie(new, old, aliases)
        or ends_stage(new, old, aliases)
        or ends_leave(new, old)
        or gives_up_plan(new, old)
        or opens_on_day(new, old)
        or reaches_aim(new, old)
        or overturns_denial(new, old)
        for old in held
    )
    return [
        ClaimVerdict(candidate.handle, "deny", handle, reason=f"over: {words}")
        for (handle, *_), words in zip(offered, over, strict=True)
        if words
    ]


def _end_told_thing(
    candidate: ClaimCandidate,
    offered: _Offered,
    new: ClaimView,
    held: Sequence[ClaimView],
    aliases: Collection[str],
) -> list[ClaimVerdict]:
    """What the same person had of the very thing that is over: "left the Wet Socks", "plays bass in
    the Wet Socks". Only told to an assistant: people among themselves tell what happened."""
    if candidate.polarity != "ended" or not candidate.assisted:
        return []
    return [
        ClaimVerdict(candidate.handle, "deny", handle, reason="over: what it names")
        for (handle, *_), old in zip(offered, held, strict=True)
        if old.polarity == "holds"
        and (old.person == new.person or _names_them(new, old))
        and tells_end_of_thing(new, old, aliases)
    ]


def _names_them(new: ClaimView, old: ClaimView) -> bool:
    """Whether who the new claim calls only a relative is called so and by name in the older one:
    "Ana的姐姐", "Ana的姐姐Rita在…"."""
    return bool(new.owner and old.owner) and old.text.startswith(f"{new.owner}{old.owner}")


def _end_left_post(
    candidate: ClaimCandidate, offered: _Offered, new: ClaimView, held: Sequence[ClaimView]
) -> list[ClaimVerdict]:
    """Where somebody works, and as what, once they "left Harlow Labs": what they leave at five is
    no name."""
    told = _LEFT_PLACE.search(candidate.text)
    if told is None or not candidate.assisted or candidate.polarity in ("planned", "denied"):
        return []
    # Who left Leeds may still work for a firm there.
    place = re.compile(rf"\b(?:at|for|with) (?:the )?{re.escape(told['place'])}(?!\w| [A-Z])")
    posts = [
        (handle, old)
        for (handle, *_), old in zip(offered, held, strict=True)
        if old.predicate_key in ("works_at", "works_as")
        and old.polarity == "holds"
        and old.person == new.person
    ]
    told_at = {old.said_at for _, old in posts if place.search(old.text)}
    return [  # what was told together with the place was what they were there
        ClaimVerdict(candidate.handle, "deny", handle, reason=f"left {told['place']}")
        for handle, old in posts
        if old.said_at in told_at
    ]


def _explain_verdict(slot: float, ends: float, candidate: ClaimCandidate) -> str:
    """("93 % about the same, 91 % that it ends it; for it: now, left; against it: also")."""
    words = list_telling_words(f"{candidate.said}\n{candidate.text}")
    slot, ends = min(slot, _MOST_SURE), min(ends, _MOST_SURE)
    told = [f"{slot:.0%} about the same, {ends:.0%} that it ends it".replace("%", " %")]
    told += ["; for it: " + ", ".join(words.ending)] if words.ending else []
    told += ["; against it: " + ", ".join(words.keeping)] if words.keeping else []
    return "".join(told)


_Offered = Iterable[tuple[str, HeldClaim | ClaimCandidate, float | None]]


def _suspect_opposites(candidate: ClaimCandidate, offered: _Offered) -> list[ClaimVerdict]:
    """A like and a dislike of one thing."""
    found = (handle for handle, old, _ in offered if _is_opposite(candidate.text, old.text))
    return [ClaimVerdict(candidate.handle, "contradict", h, sure=False) for h in found][:1]


def _suspect_ending(
    candidate: ClaimCandidate, offered: _Offered, aliases: Collection[str]
) -> list[ClaimVerdict]:
    """An ending of what it names: "quit the bakery" of who bakes there."""
    if candidate.polarity != "ended":
        return []
    new, chinese = view_claim(candidate, aliases), detect_language(candidate.text) == "zh"
    held = [
        (handle, view_claim(old, aliases))
        for handle, old, _ in offered
        if old.polarity == "holds" and (chinese or may_end(candidate, old, aliases))
    ]
    if chinese:
        found = [(handle, old) for handle, old in held if may_end_claim(new.text, old.text)]
    else:
        own = (new.owner, *aliases)
        found = [
            (handle, old)
            for handle, old in held
            if old.person == new.person and names_ended_thing(new, old, (*own, old.owner))
        ]
    askable = (
        ClaimVerdict(candidate.handle, "deny", handle, sure=False)
        for handle, old in found
        if may_contradict(new, old, aliases)
    )
    return list(islice(askable, 1))


def _end_courtship(
    candidate: ClaimCandidate, offered: _Offered, aliases: Collection[str]
) -> list[ClaimVerdict]:
    """Who is engaged to somebody is their boyfriend no more, and nobody's betrothed once married:
    "Mateo is engaged to Yuna" after "Mateo is Yuna's boyfriend"."""
    if candidate.slots.predicate_key != "marital_status" or candidate.polarity != "holds":
        return []
    names = {*aliases} or {candidate.speaker}
    whom = "|".join(re.escape(name) for name in names if name)
    engaged = re.compile(rf" (?:is|are)(?: now)? engaged to (?:{whom})\b")
    promised = engaged.search(candidate.text) is not None
    married = _MARRIED.search(candidate.text) is not None
    own = candidate.owner in names
    wed = _WEDS.search(candidate.text)
    own_wedding = wed is not None and (own or any(name in candidate.text for name in names))
    weds = re.compile(rf"\b{wed['whom'] or wed['who']}\b") if wed and own_wedding else None
    return [
        ClaimVerdict(candidate.handle, "deny", handle, reason="over: engaged, then married")
        for handle, old, _ in offered
        if old.polarity == "holds"
        and (
            (promised and old.owner == candidate.owner and _COURTSHIP.search(old.text))
            or (weds and weds.search(old.text) and _COURTSHIP.search(old.text))
            or (married and (own or old.owner == candidate.owner) and engaged.search(old.text))
        )
    ]


def _suspect_new_status(
    candidate: ClaimCandidate, offered: _Offered, aliases: Collection[str]
) -> list[ClaimVerdict]:
    """Who gets engaged, or is single again, has somebody in another way than was known."""
    if candidate.slots.predicate_key != "marital_status":
        return []
    held = ((handle, old) for handle, old, _ in offered if _COURTSHIP.search(old.text))
    found = (handle for handle, old in held if tells_relative(old, (candidate.owner, *aliases)))
    return [ClaimVerdict(candidate.handle, "contradict", h, sure=False) for h in found][:1]


def _is_opposite(new: str, old: str) -> bool:
    """A like and a dislike of the same thing."""
    ours, theirs = _detect_leaning(new), _detect_leaning(old)
    if not (ours and theirs) or ours == theirs:
        return False
    a, b = _extract_things(new), _extract_things(old)
    return bool(a and b) and (a <= b or b <= a)


def _detect_leaning(text: str) -> int:
    found = set(tokenise_text(text))
    if found & _DISLIKING_WORDS or any(word in text for word in _DISLIKING_ZH):
        return -1
    if found & {"not", "never", "doesn't", "don't", "doesn"}:
        return 0  # denials are code's to decide
    return 1 if found & _LIKING_WORDS or any(word in text for word in _LIKING_ZH) else 0


def _extract_things(text: str) -> frozenset[str]:
    """What follows the word that leans, without the words that say nothing."""
    cut = re.split(
        rf"(?i)\b(?:{'|'.join(sorted(_LIKING_WORDS | _DISLIKING_WORDS))})\b"
        r"|不喜欢|讨厌|不爱|厌恶|喜欢|热爱|爱",
        text,
        maxsplit=1,
    )
    return frozenset(tokenise_text(cut[-1])) - _STOP_WORDS - _STOP_HAN
