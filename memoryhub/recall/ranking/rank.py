"""What was said, is held true and was noted, as one ranked list (spec §12.2 steps 2, 3, 5).

Their scores come from the same two arms, so they can be compared outright: one statement, one
linear ranker, one floor (docs/explanation/recall.md).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from uuid import UUID

from memoryhub.policies.schema import Channel
from memoryhub.recall.candidates.candidate import MemoryCandidate
from memoryhub.recall.candidates.channels.similar import build_arms, format_reason
from memoryhub.recall.candidates.sql import (
    CANDIDATES_PER_ARM,
    CandidateRows,
    retrieve_for_question,
)
from memoryhub.recall.candidates.unindexed_turns import retrieve_unindexed_turns
from memoryhub.recall.question.prepare import PreparedQuestion, StageTimer
from memoryhub.recall.ranking import decay
from memoryhub.recall.ranking.score import ScoredCandidate, choose_weights, score_candidates
from memoryhub.recall.ranking.select import (
    MODEL_MARGIN,
    RULES_MARGIN,
    filter_like,
    filter_relevant,
    select_distinct,
)
from memoryhub.recall.render.hydrate import SourceLinks, Span, load_source_links
from memoryhub.recall.render.results import ChannelRank, DroppedMemory, ItemKind
from notes.retention.curve import is_hiding_enabled

# The channels whose findings are ranked together.
KIND_OF_CHANNEL: Mapping[Channel, ItemKind] = {"facts": "fact", "raw": "turn", "notes": "note"}
_CHANNEL_OF = {kind: channel for channel, kind in KIND_OF_CHANNEL.items()}
# Where policy hides what has faded, so many more are looked at, lest they crowd out the rest.
_FADED_FACTOR = 3
# Scores are relative to what else is looked at: in each arm so many times what is wanted in all,
# or of each kind.
WIDE, _POOL = 2, 4
# Links are read of so many times what is wanted: some give way to one another.
SPARE_FACTOR = 3


@dataclass(frozen=True, slots=True)
class Ranking:
    """`chosen` best first, each thing once. The rest is kept to explain it: `order` is every
    candidate, ranked, and `links` the turns of those that were looked at. `is_exhausted`: nothing
    bears on the question, and nothing more would be found among what has faded."""

    chosen: Sequence[ScoredCandidate] = ()
    order: Sequence[ScoredCandidate] = ()
    relevant: Sequence[ScoredCandidate] = ()
    links: dict[UUID, Mapping[UUID, Span | None]] = field(default_factory=dict)
    is_exhausted: bool = False

    def list_irrelevant_ids(self) -> frozenset[UUID]:
        """Of those chosen, what is only near."""
        if len(self.relevant) == len(self.order):
            return frozenset()
        known = {scored.candidate.id for scored in self.relevant}
        return frozenset(s.candidate.id for s in self.chosen) - known

    def count_by_channel(self) -> dict[str, int]:
        """Candidates by channel."""
        return dict(Counter(_CHANNEL_OF[scored.candidate.kind] for scored in self.order))


def rank_candidates(
    ask: PreparedQuestion,
    channels: Sequence[Channel],
    most: int,
    per_kind: int | None,
    clock: StageTimer,
    *,
    nearest: bool = False,
    nearest_if_none: bool = False,
    least: float | None = None,
) -> Ranking:
    """The `most` best, each thing once; or of each kind the best `per_kind`, as they are. Of what
    bears on the question; `nearest`: then of what else is near; `nearest_if_none`: where nothing
    bears on it as much of that as is read; or of what is like it by so much at `least`, from 0 to
    1.

    Call inside the tenant's scope.
    """
    kinds = [KIND_OF_CHANNEL[channel] for channel in channels if channel in KIND_OF_CHANNEL]
    if not kinds:
        return Ranking()
    with clock.measure_stage("candidates"):
        wide = _POOL * per_kind if per_kind else WIDE * most
        known, hidden = retrieve_ranking_pool(ask, kinds, wide)
    with clock.measure_stage("rank"):
        kept = partial(decay.compute_kept_shares, ask) if decay.is_decay_ranked(ask) else None
        used = choose_weights(known, is_read_by_rules=ask.is_read_by_rules)
        order = score_candidates(ask.parsed_question, known, used, kept=kept)
        relevant = filter_relevant(order)
        is_read = nearest_if_none and not relevant
        if is_read and not nearest:
            most = min(most, ask.policy.recall.rerank_most)
        passed = relevant if least is None else filter_like(order, least)
        offered = passed[: SPARE_FACTOR * most]
        if per_kind:
            offered = _take_first_of_kind(passed, per_kind)
        beside = _list_others(order, relevant)[: SPARE_FACTOR * most] if nearest or is_read else []
    with clock.measure_stage("hydrate"):
        links = _load_links([*offered, *beside])
    margin = RULES_MARGIN if ask.is_read_by_rules else MODEL_MARGIN
    once = partial(select_distinct, margin=margin, value=ask.parsed_question.value)
    chosen = offered[:most] if per_kind else once(offered, links, most)
    if beside and len(chosen) < most:
        chosen += once(_list_untold(beside, chosen, links), links, most - len(chosen))
    if nearest and len(chosen) < most:
        with clock.measure_stage("candidates"):
            late = _retrieve_latest(ask, kinds, wide, known)
            rest = score_candidates(ask.parsed_question, late, used, kept=kept)
            links |= _load_links(rest)
        order = [*order, *rest]
        chosen += once(_list_untold(rest, chosen, links), links, most - len(chosen))
    return Ranking(chosen, order, relevant, links, is_exhausted=not (relevant or hidden))


def retrieve_ranking_pool(
    ask: PreparedQuestion, kinds: Sequence[ItemKind], per_arm: int
) -> CandidateRows:
    """Everything that is ranked: of each kind the `per_arm` best of each arm, PER_ARM at least.
    Call inside the tenant's scope."""
    crowd = _FADED_FACTOR if is_hiding_enabled(ask.policy.forget) else 1
    known = retrieve_for_question(ask, kinds, crowd * max(CANDIDATES_PER_ARM, per_arm))
    if "turn" not in kinds:
        return known
    return known._replace(visible=known.visible + retrieve_unindexed_turns(ask))


def _load_links(found: Sequence[ScoredCandidate]) -> dict[UUID, Mapping[UUID, Span | None]]:
    ids = [each.candidate.id for each in found if each.candidate.kind in ("fact", "note")]
    return {**{at: {} for at in ids}, **load_source_links(ids)}


def _list_untold(
    beside: Sequence[ScoredCandidate], chosen: Sequence[ScoredCandidate], links: SourceLinks
) -> list[ScoredCandidate]:
    """What is only near, without what tells of turns that are shown."""
    shown = {turn for scored in chosen for turn in _list_turns_of(scored, links)}
    return [each for each in beside if shown.isdisjoint(_list_turns_of(each, links))]


def _retrieve_latest(
    ask: PreparedQuestion,
    kinds: Sequence[ItemKind],
    count: int,
    known: Sequence[MemoryCandidate],
) -> list[MemoryCandidate]:
    """What else there is, the latest `count` of each kind: what has no vector of the question's
    model, and none of its words, is found by neither arm."""
    seen = {each.id for each in known}
    late = retrieve_for_question(ask, kinds, max(CANDIDATES_PER_ARM, count), latest=True).visible
    return [each for each in late if each.id not in seen]


def _list_others(
    order: Sequence[ScoredCandidate], relevant: Sequence[ScoredCandidate]
) -> list[ScoredCandidate]:
    known = set(map(id, relevant))
    return [scored for scored in order if id(scored) not in known]


def _take_first_of_kind(passed: Sequence[ScoredCandidate], count: int) -> list[ScoredCandidate]:
    seen: Counter[str] = Counter()
    kept = []
    for scored in passed:
        seen[scored.candidate.kind] += 1
        if seen[scored.candidate.kind] <= count:
            kept.append(scored)
    return kept


def build_channel_ranks(
    order: Sequence[ScoredCandidate],
    wanted: Iterable[ScoredCandidate],
    by_place: Iterable[ScoredCandidate] = (),
) -> dict[UUID, ChannelRank]:
    """Of the wanted candidates, their place in their own channel, by the ranker's score, and in
    both arms; of those wanted `by_place`, only the former."""
    told = {scored.candidate.id for scored in wanted}
    briefly = {scored.candidate.id for scored in by_place}
    by_kind: dict[ItemKind, list[ScoredCandidate]] = defaultdict(list)
    for scored in order:
        by_kind[scored.candidate.kind].append(scored)
    found: dict[UUID, ChannelRank] = {}
    for kind, own in by_kind.items():
        channel = _CHANNEL_OF[kind]
        arms = build_arms([scored.candidate for scored in own], told)
        for place, scored in enumerate(own, 1):
            at = scored.candidate.id
            if at in arms:
                why = format_reason(scored.candidate)
                found[at] = ChannelRank(channel, place, round(scored.score, 4), why, arms[at])
            elif at in briefly:
                found[at] = ChannelRank(channel, place, round(scored.score, 4))
    return found


def list_unchosen(result: Ranking, most: int) -> list[ScoredCandidate]:
    """The first `most` candidates that were not chosen."""
    shown = {scored.candidate.id for scored in result.chosen}
    rest = (scored for scored in result.order if scored.candidate.id not in shown)
    return list(islice(rest, most))


def explain_unchosen(
    result: Ranking,
    left: Sequence[ScoredCandidate],
    found: Mapping[UUID, ChannelRank],
    *,
    in_full: bool,
) -> list[DroppedMemory]:
    """Why these were not chosen; `in_full`: with the parts of their scores."""
    passed = set(map(id, result.relevant))  # the same objects: quicker than by the memories' ids
    holder: dict[UUID, UUID] = {}  # by turn, the first memory chosen that shows it
    for scored in result.chosen:
        for turn in _list_turns_of(scored, result.links):
            holder.setdefault(turn, scored.candidate.id)
    dropped = []
    for scored in left:
        own, place = scored.candidate, found.get(scored.candidate.id)
        turns = _list_turns_of(scored, result.links)
        has_passed = id(scored) in passed
        told = own.kind != "fact" and has_passed and turns and holder.keys() >= set(turns)
        dropped.append(
            DroppedMemory(
                kind=own.kind,
                id=own.id,
                text=own.text[:120],
                why="duplicate" if told else "over_limit" if has_passed else "below_floor",
                score=scored.score,
                parts=scored.parts if in_full else {},
                of=holder[turns[0]] if told else None,
                found=[place] if place else [],
            )
        )
    return dropped


def _list_turns_of(scored: ScoredCandidate, links: SourceLinks) -> Sequence[UUID]:
    own = scored.candidate
    return [own.id] if own.kind == "turn" else list(links.get(own.id, ()))
