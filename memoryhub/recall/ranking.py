"""What was said, is held true and was noted, as one ranked list (spec §12.2 steps 2, 3, 5).

Their scores come from the same two arms, so they can be compared outright: one statement, one
linear ranker, one floor (docs/explanation/recall.md).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from uuid import UUID

from memoryhub.policies.schema import Channel
from memoryhub.recall import fading
from memoryhub.recall.arms import PER_ARM, Looked, candidates
from memoryhub.recall.asking import Ask, Clock
from memoryhub.recall.channels.hits import Hit
from memoryhub.recall.channels.similar import arms_of, reason
from memoryhub.recall.fusion import Scored, fuse
from memoryhub.recall.hydration import Links, Span, links_of
from memoryhub.recall.results import Dropped, Finding, ItemKind
from memoryhub.recall.selection import distinct, relevant
from memoryhub.recall.unread import unread
from notes.forgetting import hides

# The channels whose findings are ranked together.
KIND_OF: Mapping[Channel, ItemKind] = {"facts": "fact", "raw": "turn", "notes": "note"}
_CHANNEL_OF = {kind: channel for channel, kind in KIND_OF.items()}
# Where policy hides what has faded, so many more are looked at, lest they crowd out the rest.
_CROWD = 3
# Scores are relative to what else is looked at: in each arm so many times what is wanted in all,
# or of each kind.
WIDE, _POOL = 2, 4
# Links are read of so many times what is wanted: some give way to one another.
SPARE = 3


@dataclass(frozen=True, slots=True)
class Ranked:
    """`chosen` best first, each thing once. The rest is kept to explain it: `order` is every
    candidate, ranked, and `links` the turns of those that were looked at. `barren`: nothing bears
    on the question, and nothing more would be found among what has faded."""

    chosen: Sequence[Scored] = ()
    order: Sequence[Scored] = ()
    passed: Sequence[Scored] = ()
    links: dict[UUID, Mapping[UUID, Span | None]] = field(default_factory=dict)
    barren: bool = False

    def counts(self) -> dict[str, int]:
        """Candidates by channel."""
        counts: dict[str, int] = {}
        for scored in self.order:
            channel = _CHANNEL_OF[scored.candidate.kind]
            counts[channel] = counts.get(channel, 0) + 1
        return counts


def ranked(
    ask: Ask, channels: Sequence[Channel], most: int, per_kind: int | None, clock: Clock
) -> Ranked:
    """The `most` best, each thing once; or of each kind the best `per_kind`, as they are.

    Call inside the tenant's scope.
    """
    kinds = [KIND_OF[channel] for channel in channels if channel in KIND_OF]
    if not kinds:
        return Ranked()
    with clock.stage("candidates"):
        known, hidden = candidates_of(ask, kinds, _POOL * per_kind if per_kind else WIDE * most)
    with clock.stage("rank"):
        order = fuse(
            ask.way, known, kept=partial(fading.kept, ask) if fading.matters(ask) else None
        )
        passed = relevant(order)
        offered = _first_of_each(passed, per_kind) if per_kind else passed[: SPARE * most]
    with clock.stage("hydrate"):
        ids = [s.candidate.id for s in offered if s.candidate.kind in ("fact", "note")]
        links = {**{at: {} for at in ids}, **links_of(ids)}
    chosen = offered[:most] if per_kind else distinct(offered, links, most)
    return Ranked(chosen, order, passed, links, barren=not (passed or hidden))


def candidates_of(ask: Ask, kinds: Sequence[ItemKind], per_arm: int) -> Looked:
    """Everything that is ranked: of each kind the `per_arm` best of each arm, PER_ARM at least.
    Call inside the tenant's scope."""
    crowd = _CROWD if hides(ask.policy.forget) else 1
    known = candidates(
        ask.space,
        words=ask.way.words,
        vector=ask.vector,
        model=ask.model,
        kinds=kinds,
        visibility=ask.visibility,
        per_arm=crowd * max(PER_ARM, per_arm),
    )
    return Looked(known.seen + unread(ask), known.hidden) if "turn" in kinds else known


def _first_of_each(passed: Sequence[Scored], count: int) -> list[Scored]:
    seen: dict[str, int] = {}
    kept = []
    for scored in passed:
        kind = scored.candidate.kind
        seen[kind] = seen.get(kind, 0) + 1
        if seen[kind] <= count:
            kept.append(scored)
    return kept


def findings(
    order: Sequence[Scored], wanted: Iterable[Scored], by_place: Iterable[Scored] = ()
) -> dict[UUID, Finding]:
    """Of the wanted candidates, their place in their own channel, by the ranker's score, and in
    both arms; of those wanted `by_place`, only the former."""
    told = {scored.candidate.id for scored in wanted}
    briefly = {scored.candidate.id for scored in by_place}
    by_kind: dict[ItemKind, list[Scored]] = defaultdict(list)
    for scored in order:
        by_kind[scored.candidate.kind].append(scored)
    found: dict[UUID, Finding] = {}
    for kind, own in by_kind.items():
        channel = _CHANNEL_OF[kind]
        arms = arms_of([scored.candidate for scored in own], told)
        for place, scored in enumerate(own, 1):
            at = scored.candidate.id
            if at in arms:
                why = reason(scored.candidate)
                found[at] = Finding(channel, place, round(scored.score, 4), why, arms[at])
            elif at in briefly:
                found[at] = Finding(channel, place, round(scored.score, 4))
    return found


def hits(taken: Sequence[Scored]) -> list[Hit]:
    """As hits of a channel, for their places."""
    return [Hit(s.candidate.kind, s.candidate.id, 0.0, reason(s.candidate)) for s in taken]


def left_over(result: Ranked, most: int) -> list[Scored]:
    """The first `most` candidates that were not chosen."""
    shown = {scored.candidate.id for scored in result.chosen}
    rest = (scored for scored in result.order if scored.candidate.id not in shown)
    return list(islice(rest, most))


def dropped(
    result: Ranked, left: Sequence[Scored], found: Mapping[UUID, Finding], *, in_full: bool
) -> list[Dropped]:
    """Why these were not chosen; `in_full`: with the parts of their scores."""
    passed = set(map(id, result.passed))  # the same objects: quicker than by the memories' ids
    holder = _holders(result)
    return [
        _dropped(s, id(s) in passed, holder, result.links, found, s.parts if in_full else {})
        for s in left
    ]


def _holders(result: Ranked) -> dict[UUID, UUID]:
    """By turn, the first memory chosen that shows it."""
    holder: dict[UUID, UUID] = {}
    for scored in result.chosen:
        for turn in _turns_of(scored, result.links):
            holder.setdefault(turn, scored.candidate.id)
    return holder


def _turns_of(scored: Scored, links: Links) -> Sequence[UUID]:
    own = scored.candidate
    return [own.id] if own.kind == "turn" else list(links.get(own.id, ()))


def _dropped(
    scored: Scored,
    has_passed: bool,
    holder: Mapping[UUID, UUID],
    links: Links,
    found: Mapping[UUID, Finding],
    parts: Mapping[str, float],
) -> Dropped:
    own = scored.candidate
    turns = _turns_of(scored, links)
    of = next((holder[turn] for turn in turns if turn in holder), None)
    told = own.kind != "fact" and has_passed and turns and holder.keys() >= set(turns)
    place = found.get(own.id)
    return Dropped(
        kind=own.kind,
        id=own.id,
        text=own.text[:120],
        why="below_floor" if not has_passed else "duplicate" if told else "over_limit",
        score=scored.score,
        parts=parts,
        of=of if told else None,
        found=[place] if place else [],
    )
