"""Why an answer is what it is: the way taken, and what was considered and not shown."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from memoryhub.dialogues.models import Turn
from memoryhub.policies.schema import Channel
from memoryhub.recall import intents, ranking
from memoryhub.recall.arms import PER_ARM, candidates
from memoryhub.recall.asking import Ask
from memoryhub.recall.fusion import Candidate, fuse
from memoryhub.recall.gathering import MOST_DROPPED, Look
from memoryhub.recall.judging import Judged
from memoryhub.recall.results import Dropped, Explanation, Item, RouteTaken, Why
from memoryhub.recall.selection import FLOOR, relevance
from notes.models import Episode, Fact, Note
from notes.queries import holds


@dataclass(frozen=True, slots=True)
class Told:
    """What one reading made of a question. `room`: what was dropped for want of room; `hidden`:
    what would have been found, had it been allowed to be seen; `most`: the limit."""

    ask: Ask
    channels: Sequence[Channel]
    first: Look
    judged: Judged
    shown: Sequence[Item]
    hidden: Sequence[Dropped]
    most: int

    def explanation(self) -> Explanation:
        return Explanation(
            route=route_of(self.ask, self.channels),
            channels=self.first.counts,
            judged=self.judged.word,
            dropped=self.dropped(),
        )

    def dropped(self) -> list[Dropped]:
        """Each thing that is not shown once, with the reason that came last."""
        shown = {item.id for item in self.shown}
        late = [
            *(_item(item, "irrelevant") for item in self.judged.irrelevant),
            *(_item(item, "over_limit") for item in self.judged.items[self.most :]),
            *(_item(item, "no_room") for item in self.judged.items[: self.most]),
        ]
        found: dict[UUID, Dropped] = {}
        for each in (*late, *self.first.dropped, *self.hidden):
            if each.id not in shown:
                found.setdefault(each.id, each)
        return list(found.values())[:MOST_DROPPED]


def _item(item: Item, why: Why) -> Dropped:
    return Dropped(
        kind=item.kind,
        id=item.id,
        text=item.text[:120],
        why=why,
        score=item.score,
        parts=item.parts,
        found=item.found,
    )


def route_of(ask: Ask, channels: Sequence[Channel]) -> RouteTaken:
    way, asked, policy = ask.way, ask.asked, ask.policy
    intent = [name for name in ("fine", "abstract", "event", "atomic") if getattr(asked, name)]
    return RouteTaken(
        query=asked.query,
        mode=policy.route.mode,
        select=policy.recall.select,
        channels=list(channels),
        because=_because(ask, intent),
        intent=intent,
        wanted=intents.wanted(asked.want, policy.recall.k_min, policy.recall.k_max),
        embedded=way.embed if ask.vector is not None else "",
        words=way.words,
        named=list(way.named),
        speaker=way.speaker,
        times=[span.text for span in way.spans],
        asks_when=way.asks_when,
        predicates=list(way.predicates),
    )


def _because(ask: Ask, intent: Sequence[str]) -> str:
    """In a sentence."""
    wants = {
        "raw": "the question asks for exact words",
        "episodes": "the question is after an overview or a story",
        "facts": "the question asks for a fact",
    }[intents.store(ask.asked)]
    how = {
        "routed": "so one store is read",
        "fixed": "the policy's channels are read side by side",
        "fused": "all channels are ranked together",
    }[ask.policy.recall.select]
    return f"{wants}; {how}" if intent or ask.policy.route.mode != "off" else how


def hidden(ask: Ask, channels: Sequence[Channel]) -> list[Dropped]:
    """What bears on the question and may not be seen. Call inside the tenant's scope.

    Read only where an explanation is wanted: two statements and one a kind.
    """
    kinds = [ranking.KIND_OF[channel] for channel in channels if channel in ranking.KIND_OF]
    if not kinds:
        return []
    known = {c.id for c in _candidates(ask, kinds, ask)}
    wide = replace(ask, visibility=replace(ask.visibility, everything=True))
    found = _candidates(ask, kinds, wide)
    order = [s for s in fuse(ask.way, found) if relevance(s) >= FLOOR]
    unseen = [s.candidate for s in order if s.candidate.id not in known]
    return [
        Dropped(c.kind, c.id, c.text[:120], why, detail)
        for c, why, detail in _why(ask, unseen[:MOST_DROPPED])
    ]


def _candidates(ask: Ask, kinds: Sequence[Any], seen: Ask) -> list[Candidate]:
    return candidates(
        ask.space,
        words=ask.way.words,
        vector=ask.vector,
        model=ask.model,
        kinds=kinds,
        visibility=seen.visibility,
        per_arm=PER_ARM,
    ).seen


def _why(ask: Ask, unseen: Sequence[Candidate]) -> list[tuple[Candidate, Why, str]]:
    reasons: dict[str, Mapping[UUID, tuple[Why, str]]] = {
        kind: tell(ask, [c.id for c in unseen if c.kind == kind]) for kind, tell in _TELL.items()
    }
    told = [(c, reasons.get(c.kind, {}).get(c.id)) for c in unseen]
    return [(c, *why) for c, why in told if why is not None]


def _facts(ask: Ask, ids: Collection[UUID]) -> dict[UUID, tuple[Why, str]]:
    return {fact.id: _fact(ask, fact) for fact in Fact.objects.filter(id__in=ids)}


def _fact(ask: Ask, fact: Fact) -> tuple[Why, str]:
    if fact.status == Fact.Status.RETRACTED:
        return "out_of_date", "retracted"
    if fact.retired_at is not None:
        return "out_of_date", "worded anew"
    if holds(fact, ask.visibility.at):
        return "faded", fact.visibility
    ahead = fact.valid_from > ask.visibility.at
    return "out_of_date", "not yet" if ahead else "superseded" if fact.valid_to else "over"


def _turns(ask: Ask, ids: Collection[UUID]) -> dict[UUID, tuple[Why, str]]:
    """What was erased is not spoken of."""
    rows = Turn.objects.filter(id__in=ids).exclude(state=Turn.State.REDACTED)
    return {turn.id: _later(ask, turn.occurred_at) for turn in rows}


def _notes(ask: Ask, ids: Collection[UUID]) -> dict[UUID, tuple[Why, str]]:
    rows = Note.objects.filter(id__in=ids, retired_at=None)
    return {note.id: _later(ask, note.occurred_at) for note in rows}


def _episodes(ask: Ask, ids: Collection[UUID]) -> dict[UUID, tuple[Why, str]]:
    rows = Episode.objects.filter(id__in=ids, retired_at=None)
    return {row.id: _later(ask, row.to_at) for row in rows}


def _later(ask: Ask, at: Any) -> tuple[Why, str]:
    if ask.visibility.as_of and at > ask.visibility.as_of:
        return "out_of_date", "said later"
    return "faded", "dormant"


_TELL: Mapping[str, Callable[[Ask, Collection[UUID]], dict[UUID, tuple[Why, str]]]] = {
    "fact": _facts,
    "turn": _turns,
    "note": _notes,
    "episode": _episodes,
}
