"""Searching a space: one question in, the memories that bear on it out (spec §12.2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import get_args
from uuid import UUID

from django.utils import timezone
from django.utils.translation import gettext as _

from memoryhub.engines.embedding.packaged import count_tokens
from memoryhub.errors import InvalidInput
from memoryhub.policies.schema import Channel, Policy, Select
from memoryhub.recall import conflicts, explaining, gathering, journal, packing, reinforcing
from memoryhub.recall.arms import Visibility
from memoryhub.recall.asking import NOBODY, Ask, Asker, Clock, Override, Standing, prepare
from memoryhub.recall.gathering import Wanted
from memoryhub.recall.results import Kind, SearchResult
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope

# What can be asked for; and what is, unless something else is said.
ALL_KINDS: tuple[Kind, ...] = get_args(Kind)
KINDS: tuple[Kind, ...] = ("fact", "turn", "note")
MAX_LIMIT = 100


def search(
    space: Space,
    query: str,
    *,
    limit: int | None = 10,
    kinds: Sequence[Kind] | None = None,
    as_of: datetime | None = None,
    include_past: bool = False,
    deep: bool = False,
    only: Sequence[UUID] | None = None,
    session_id: UUID | None = None,
    budget_tokens: int | None = None,
    explain: bool = False,
    policy: Policy | None = None,
    channels: Sequence[Channel] | None = None,
    select: Select | None = None,
    engine: str | None = None,
    vectors: str | None = None,
    asked_by: Asker = NOBODY,
    now: datetime | None = None,
    reinforce: bool = True,
    inspect: bool = False,
    standing: Standing | None = None,
) -> SearchResult:
    """The memories of `space` that bear on `query`, best first. Opens its own tenant scope.

    `limit` None: as many as the router thinks are wanted, and notes linked to them; `kinds` None:
    those whose channels the policy has on. `as_of`: as things stood in the world then;
    `include_past`: also what no longer holds; `deep`: also what has faded, which revives it;
    `only`: of these facts, turns, notes and episodes, by id, where only those are asked for.
    `session_id` tells the router what was said before. `budget_tokens`: no more text than that.
    `policy`, or `channels` and `select` of it, ask this one question in place of the space's own,
    `engine` in place of the tenant's, by the `vectors` of another embedder. What was found is
    remembered better for it, unless not to `reinforce`: then the search leaves no trace.
    `inspect`: a person only looks; that is logged at once, and reinforces nothing. `standing`: read
    together with the space, just now.
    What fails degrades the search; raises InvalidInput for an empty query.
    """
    _check(limit, kinds)
    packing.check(budget_tokens)
    clock, now = Clock(), now or timezone.now()
    visibility = Visibility(now, as_of, include_past, deep, only=only)
    override = Override(policy, channels, select, engine, vectors)
    ask, consultant = prepare(
        space, query, visibility, clock, session_id=session_id, override=override, standing=standing
    )
    wanted = replace(_wanted(ask, limit, kinds, override), explained=explain)
    with tenant_scope(space.tenant_id):
        first = gathering.look(ask, wanted, clock)
        clashing = conflicts.among(first.items, visibility.at)
        hidden = explaining.hidden(ask, wanted.channels) if explain else []
    judged = gathering.judged(ask, consultant, first, wanted, clock)
    shown, tokens = packing.within(wanted.cut(judged.items), budget_tokens, count_tokens)
    told = explaining.Told(ask, wanted.channels, first, judged, shown, hidden, wanted.most)
    result = SearchResult(
        items=shown,
        insufficient=not (shown and judged.enough),
        degraded=consultant.degraded,
        unverified=judged.unverified,
        conflicts=[*clashing, *judged.conflicts],
        pending_turns=ask.pending,
        query_truncated=ask.way.truncated,
        tokens=tokens,
        rounds=judged.rounds,
        took_ms=clock.took,
        explain=told.explanation() if explain else None,
        recall_id=journal.new_recall() if reinforce or inspect else None,
    )
    if reinforce or inspect:
        options = {
            "limit": limit,
            "kinds": list(kinds or ()),
            "as_of": as_of.isoformat() if as_of else "",
            "include_past": include_past,
            "deep": deep,
            "budget_tokens": budget_tokens,
            **override.told(),
        }
        done = journal.Outcome.of("search", query, options, result)
        entry = journal.entry(told, done, [("", shown)], asked_by, now)
        reinforcing.left(space, shown, now, entry, inspected=inspect)
    return result


def _check(limit: int | None, kinds: Sequence[Kind] | None) -> None:
    if limit is not None and not 1 <= limit <= MAX_LIMIT:
        raise InvalidInput(_("from 1 to %(limit)s") % {"limit": MAX_LIMIT}, field="limit")
    if kinds is not None and (not kinds or set(kinds) - set(ALL_KINDS)):
        raise InvalidInput(_("some of %(known)s") % {"known": ", ".join(ALL_KINDS)}, field="kinds")


def _wanted(
    ask: Ask, limit: int | None, kinds: Sequence[Kind] | None, override: Override
) -> Wanted:
    """Unless something else is asked for, what a list can answer with in few words: facts, what
    was said, notes; and summaries where the question is after an overview."""
    if override.channels is not None and kinds is None:
        chosen = gathering.held_out(ask)
    else:
        chosen = gathering.channels_of(ask, kinds)
        if kinds is None and ask.policy.recall.select == "fused":
            chosen = gathering.precise(ask, chosen)
    only = None if kinds is None else frozenset(kinds)
    return Wanted(chosen, limit or ask.k, kinds=only, linked=limit is None)
