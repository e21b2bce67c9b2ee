"""Searching a space: one question in, the memories that bear on it out (spec §12.2)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import partial
from typing import Any
from uuid import UUID

from django.utils import timezone

from memoryhub.dialogues.queries import pending_count
from memoryhub.errors import InvalidInput
from memoryhub.policies.schema import Channel, Policy, Select
from memoryhub.recall import conflicts, fading, intents, judging, reinforcing
from memoryhub.recall.arms import PER_ARM, Visibility, candidates
from memoryhub.recall.asking import NOBODY, Ask, Asker, Clock, Override, prepare
from memoryhub.recall.consulting import Consultant
from memoryhub.recall.fusion import Scored, fuse
from memoryhub.recall.hydration import found, hydrate, links_of
from memoryhub.recall.results import Item, ItemKind, Kind, SearchResult
from memoryhub.recall.rounds import Further
from memoryhub.recall.routing import Route
from memoryhub.recall.selection import distinct, relevance, relevant
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope
from notes.forgetting import hides

KINDS: tuple[Kind, ...] = ("fact", "turn", "note")
MAX_LIMIT = 100
_KIND_OF: dict[Channel, ItemKind] = {
    "facts": "fact",
    "raw": "turn",
    "notes": "note",
    "episodes": "episode",
}
# Where policy hides what has faded, so many more are looked at, lest they crowd out the rest.
_CROWD = 3


def search(
    space: Space,
    query: str,
    *,
    limit: int | None = 10,
    kinds: Sequence[Kind] | None = None,
    as_of: datetime | None = None,
    include_past: bool = False,
    deep: bool = False,
    session_id: UUID | None = None,
    explain: bool = False,
    policy: Policy | None = None,
    channels: Sequence[Channel] | None = None,
    select: Select | None = None,
    engine: str | None = None,
    vectors: str | None = None,
    asked_by: Asker = NOBODY,
    now: datetime | None = None,
    reinforce: bool = True,
) -> SearchResult:
    """The memories of `space` that bear on `query`, best first. Opens its own tenant scope.

    `limit` None: as many as the router thinks are wanted; `kinds` None: those whose channels the
    policy has on. `as_of`: as things stood in the world then; `include_past`: also what no longer
    holds; `deep`: also what has faded, which revives it. `session_id` tells the router what was
    said before. `policy`, or `channels` and `select` of it, ask this one question in place of the
    space's own, `engine` in place of the tenant's, by the `vectors` of another embedder. What was
    found is remembered better for it, unless not to `reinforce`: then the search leaves no trace.
    What fails degrades the search; raises InvalidInput for an empty query.
    """
    _check(limit, kinds)
    clock, now = Clock(), now or timezone.now()
    visibility = Visibility(now, as_of, include_past, deep)
    override = Override(policy, channels, select, engine, vectors)
    ask, consultant = prepare(
        space, query, visibility, clock, session_id=session_id, override=override
    )
    limit = limit or ask.k
    wanted = kinds or _kinds(ask)
    with tenant_scope(space.tenant_id):
        ranked, items = _read(ask, wanted, limit, clock)
        pending = pending_count(space.id)
        clashing = conflicts.among(items, visibility.at)
    judged = _judged(ask, consultant, items, wanted, clock)
    shown = judged.items[:limit]
    if reinforce:
        reinforcing.recalled(space, shown, now)
    return SearchResult(
        items=shown,
        insufficient=not (shown and judged.enough),
        degraded=consultant.degraded,
        unverified=judged.unverified,
        conflicts=[*clashing, *judged.conflicts],
        pending_turns=pending,
        query_truncated=ask.way.truncated,
        took_ms=clock.took,
        explain=_explanation(ask.way, ranked) if explain else {},
    )


def _check(limit: int | None, kinds: Sequence[Kind] | None) -> None:
    if limit is not None and not 1 <= limit <= MAX_LIMIT:
        raise InvalidInput(f"from 1 to {MAX_LIMIT}", field="limit")
    if kinds is not None and (not kinds or set(kinds) - set(KINDS)):
        raise InvalidInput(f"some of {', '.join(KINDS)}", field="kinds")


def _kinds(ask: Ask) -> Sequence[ItemKind]:
    """What the policy lets be searched: AMA's one store, or the channels that are on.

    Fused, the arms are facts, turns and notes together; and where a policy has none of them on,
    for an agent with tools of its own, everything that was said.
    """
    recall = ask.policy.recall
    if recall.select == "routed":
        return [_KIND_OF[intents.store(ask.asked)]]
    on = [_KIND_OF[channel] for channel in recall.channels if channel in _KIND_OF]
    if recall.select == "fused":
        on = [kind for kind in on if kind != "episode"]
    return on or list(KINDS)


def _read(
    ask: Ask, kinds: Sequence[ItemKind], limit: int, clock: Clock
) -> tuple[list[Scored], list[Item]]:
    """(every candidate, ranked; those worth showing, read)."""
    crowd = _CROWD if hides(ask.policy.forget) else 1
    with clock.stage("candidates"):
        known = candidates(
            ask.space,
            words=ask.way.words,
            vector=ask.vector,
            model=ask.model,
            kinds=kinds,
            visibility=ask.visibility,
            per_arm=crowd * max(PER_ARM, limit),
        )
    with clock.stage("rank"):
        ranked = fuse(ask.way, known, kept=partial(fading.kept, ask))
        kept = relevant(ranked)[: 3 * limit]
    with clock.stage("hydrate"):
        links = links_of(s.candidate.id for s in kept if s.candidate.kind in ("fact", "note"))
        return ranked, hydrate([found(s) for s in distinct(kept, links, limit)], links)


def _judged(
    ask: Ask,
    consultant: Consultant,
    items: list[Item],
    kinds: Sequence[ItemKind],
    clock: Clock,
) -> judging.Judged:
    """The floor has judged already; where policy has a model judge too, in rounds."""
    if ask.policy.judge.mode != "llm" or not items:
        return judging.Judged(items, enough=bool(items))
    rounds = ask.policy.recall.rounds
    further = Further(
        ask,
        lambda deeper, channel: _read(deeper, [_KIND_OF[channel]], ask.k, Clock())[1],
        tried=[channel for channel, kind in _KIND_OF.items() if kind in kinds],
        seen={item.id for item in items},
        last=rounds,
    )
    with clock.stage("judge"):
        return judging.by_engine(ask, consultant, items, further.more, rounds)


def _explanation(way: Route, ranked: Sequence[Scored]) -> dict[str, Any]:
    return {
        "embedded": way.embed,
        "words": way.words,
        "named": list(way.named),
        "speaker": way.speaker,
        "times": [span.text for span in way.spans],
        "asks_when": way.asks_when,
        "predicates": list(way.predicates),
        "candidates": [
            {
                "kind": s.candidate.kind,
                "id": str(s.candidate.id),
                "text": s.candidate.text[:120],
                "score": round(s.score, 3),
                "parts": {name: round(value, 3) for name, value in s.parts.items()},
                "relevance": round(relevance(s), 3),
            }
            for s in ranked[:50]
        ],
    }
