"""Why an answer is what it is: the way taken, and what was considered and not shown."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from memoryhub.dialogues.models import Turn
from memoryhub.policies.schema import Channel
from memoryhub.recall.candidates.sql import retrieve_for_question
from memoryhub.recall.judge.judge import JudgedMemories
from memoryhub.recall.question import intents
from memoryhub.recall.question.prepare import PreparedQuestion
from memoryhub.recall.ranking import rank
from memoryhub.recall.ranking.score import MemoryCandidate, choose_weights, score_candidates
from memoryhub.recall.ranking.select import FLOOR, score_relevance
from memoryhub.recall.render.results import (
    DroppedMemory,
    DropReason,
    Explanation,
    MemoryItem,
    RouteTaken,
)
from memoryhub.recall.retrieve import MOST_DROPPED, RetrievalResult
from notes.facts.validity import is_fact_current
from notes.models import Episode, Fact, Note


@dataclass(frozen=True, slots=True)
class SearchTrace:
    """What one reading made of a question. `room`: what was dropped for want of room; `hidden`:
    what would have been found, had it been allowed to be seen; `most`: the limit."""

    ask: PreparedQuestion
    channels: Sequence[Channel]
    first: RetrievalResult
    judged: JudgedMemories
    shown_items: Sequence[MemoryItem]
    hidden: Sequence[DroppedMemory]
    most: int

    def build_explanation(self) -> Explanation:
        return Explanation(
            route=build_route_taken(self.ask, self.channels),
            channels=self.first.counts,
            judged=self.judged.verdict,
            dropped=self.list_dropped(),
        )

    def list_dropped(self) -> list[DroppedMemory]:
        """Each thing that is not shown once, with the reason that came last."""
        shown, items = {item.id for item in self.shown_items}, self.judged.items
        late = [
            *(DroppedMemory.from_item(each, "irrelevant") for each in self.judged.irrelevant),
            *(DroppedMemory.from_item(each, "over_limit") for each in items[self.most :]),
            *(DroppedMemory.from_item(each, "no_room") for each in items[: self.most]),
        ]
        found: dict[UUID, DroppedMemory] = {}
        for each in (*late, *self.first.dropped, *self.hidden):
            if each.id not in shown:
                found.setdefault(each.id, each)
        return list(found.values())[:MOST_DROPPED]


def build_route_taken(ask: PreparedQuestion, channels: Sequence[Channel]) -> RouteTaken:
    way, asked, policy = ask.parsed_question, ask.routed_question, ask.policy
    intent = [name for name in ("fine", "abstract", "event", "atomic") if getattr(asked, name)]
    return RouteTaken(
        query=asked.query,
        mode=policy.route.mode,
        select=policy.recall.select,
        channels=list(channels),
        because=_format_reason(ask, intent),
        intent=intent,
        wanted=intents.compute_memory_count(asked.want, policy.recall.k_min, policy.recall.k_max),
        embedded=way.text_to_embed if ask.vector is not None else "",
        words=way.words,
        named=list(way.named),
        speaker=way.speaker,
        times=[span.text for span in way.spans],
        asks_when=way.asks_when,
        predicates=list(way.predicates),
    )


def _format_reason(ask: PreparedQuestion, intent: Sequence[str]) -> str:
    """In a sentence."""
    wants = {
        "raw": "the question asks for exact words",
        "episodes": "the question is after an overview or a story",
        "facts": "the question asks for a fact",
    }[intents.choose_store(ask.routed_question)]
    how = {
        "routed": "so one store is read",
        "fixed": "the policy's channels are read side by side",
        "fused": "all channels are ranked together",
    }[ask.policy.recall.select]
    return f"{wants}; {how}" if intent or ask.policy.route.mode != "off" else how


def find_hidden(ask: PreparedQuestion, channels: Sequence[Channel]) -> list[DroppedMemory]:
    """What bears on the question and may not be seen. Call inside the tenant's scope.

    Read only where an explanation is wanted: two statements and one a kind.
    """
    known_kinds = rank.KIND_OF_CHANNEL
    kinds = [known_kinds[channel] for channel in channels if channel in known_kinds]
    if not kinds:
        return []
    known = {c.id for c in retrieve_for_question(ask, kinds).visible}
    wide = replace(ask, visibility=replace(ask.visibility, everything=True))
    found = retrieve_for_question(wide, kinds).visible
    used = choose_weights(found, is_read_by_rules=ask.is_read_by_rules)
    ranked = score_candidates(ask.parsed_question, found, used)
    order = [scored for scored in ranked if score_relevance(scored) >= FLOOR]
    unseen = [s.candidate for s in order if s.candidate.id not in known]
    return [
        DroppedMemory(c.kind, c.id, c.text[:120], why, detail)
        for c, why, detail in _explain_hidden(ask, unseen[:MOST_DROPPED])
    ]


def _explain_hidden(
    ask: PreparedQuestion, unseen: Sequence[MemoryCandidate]
) -> list[tuple[MemoryCandidate, DropReason, str]]:
    """What was erased, or is not there any more, is not spoken of."""
    ids: dict[str, list[UUID]] = defaultdict(list)
    for candidate in unseen:
        ids[candidate.kind].append(candidate.id)
    facts = Fact.objects.filter(id__in=ids["fact"])
    turns = Turn.objects.filter(id__in=ids["turn"]).exclude(state=Turn.State.REDACTED)
    notes = Note.objects.filter(id__in=ids["note"], retired_at=None)
    episodes = Episode.objects.filter(id__in=ids["episode"], retired_at=None)
    reasons = {
        **{fact.id: _explain_fact(ask, fact) for fact in facts},
        **{turn.id: _explain_by_time(ask, turn.occurred_at) for turn in turns},
        **{note.id: _explain_by_time(ask, note.occurred_at) for note in notes},
        **{episode.id: _explain_by_time(ask, episode.to_at) for episode in episodes},
    }
    return [(c, *reasons[c.id]) for c in unseen if c.id in reasons]


def _explain_fact(ask: PreparedQuestion, fact: Fact) -> tuple[DropReason, str]:
    if fact.status == Fact.Status.RETRACTED:
        return "out_of_date", "retracted"
    if fact.retired_at is not None:
        return "out_of_date", "worded anew"
    if is_fact_current(fact, ask.visibility.at):
        return "faded", fact.visibility
    ahead = fact.valid_from > ask.visibility.at
    return "out_of_date", "not yet" if ahead else "superseded" if fact.valid_to else "over"


def _explain_by_time(ask: PreparedQuestion, at: datetime) -> tuple[DropReason, str]:
    if at > ask.visibility.said_by:
        return "out_of_date", "said later"
    return "faded", "dormant"
