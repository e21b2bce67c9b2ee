"""Closing an episode: when its topic shifts, is asked for, or the window is full (AMA, spec §7).

Code sees first whether the window is full. Where constructing says which exchanges open a topic,
that decides the rest and no model is asked; else one call an exchange does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from django.db.models import Max, OuterRef, Subquery

from memoryhub.dialogues.models import Session, Turn
from memoryhub.engines.types import Passage
from memoryhub.errors import EngineError
from memoryhub.pipeline import queue, spanning
from memoryhub.pipeline.following import Derived
from memoryhub.pipeline.models import Job
from memoryhub.pipeline.spanning import Setting
from memoryhub.policies.schema import Policy
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope
from notes.episodes import Drafted, Wording, coverage_of, drafted
from notes.models import Episode, Page
from notes.spans import TOPIC_GAP, Span, Stretch, closed_spans, is_silence, length

_SESSIONS_LOOKED_AT = 5  # of those left open, the newest


# Planning


def schedule(due: Derived) -> None:
    """Plan the step if a span is complete, or if only a model can say so."""
    if not due.policy.episodes.topic:
        return
    session = due.turns[0].session_id
    opening = {page for page, built in due.built.items() if built.topic_cue}
    stretches = open_stretches(session, due.last_seq, opening)
    window = due.policy.episodes.window_turns
    if gated(due.policy) or closed_spans(stretches, window):
        _plan(due, session, opens=[str(s.page_id) for s in stretches if s.opens])
    for left in _left_open(due.space, due.turns[0]):
        _plan(due, left, ended=True)


def _plan(due: Derived, session: UUID, **payload: object) -> None:
    queue.plan_step(
        due.space,
        Job.Step.EPISODE,
        "B",
        f"{session}:{due.last_seq}",
        due.now,
        payload={"session": str(session)} | payload,
        first_seq=due.turns[0].seq,
        last_seq=due.last_seq,
    )


def gated(policy: Policy) -> bool:
    """Whether a model is asked for every exchange, since no other call says it by the way."""
    return not (policy.llm.combine_calls and (policy.facts.enabled or policy.notes.enabled))


def _left_open(space: Space, first: Turn) -> list[UUID]:
    """Sessions that were over before this turn, with turns that no episode covers."""
    topics = Episode.objects.filter(
        session=OuterRef("id"), kind=Episode.Kind.TOPIC, retired_at=None
    )
    said = Turn.objects.filter(session=OuterRef("id"), state=Turn.State.PROCESSED)
    rows = (
        Session.objects.filter(space=space, ended_at__lt=first.occurred_at - TOPIC_GAP)
        .exclude(id=first.session_id)
        .annotate(covered=Subquery(topics.order_by("-to_seq").values("to_seq")[:1]))
        .annotate(last=Subquery(said.order_by("-ordinal").values("seq")[:1]))
    )
    newest = rows.order_by("-ordinal")[:_SESSIONS_LOOKED_AT]
    return [row.id for row in newest if row.last and row.last > (row.covered or 0)]


def covered_to(session: UUID) -> int:
    """The last turn of the session that a topic's episode covers."""
    rows = Episode.objects.filter(session=session, kind=Episode.Kind.TOPIC, retired_at=None)
    return int(rows.aggregate(last=Max("to_seq"))["last"] or 0)


def open_turns(session: UUID, last_seq: int) -> list[Turn]:
    turns = Turn.objects.filter(session=session, seq__gt=covered_to(session), seq__lte=last_seq)
    return list(turns.filter(state=Turn.State.PROCESSED).order_by("seq"))


def open_stretches(session: UUID, last_seq: int, opening: set[UUID]) -> list[Stretch]:
    """The session's turns since its last episode, by page. Call inside the tenant's scope."""
    return _stretches(session, open_turns(session, last_seq), opening)


def _stretches(session: UUID, turns: Sequence[Turn], opening: set[UUID]) -> list[Stretch]:
    if not turns:
        return []
    first, last = turns[0].seq, turns[-1].seq
    pages = Page.objects.filter(session=session, last_seq__gte=first, first_seq__lte=last)
    found: list[Stretch] = []
    before: Turn | None = None
    for page in pages.order_by("first_seq"):
        said = [turn for turn in turns if page.covers(turn)]
        if said:
            silent = before and is_silence(before.occurred_at, said[0].occurred_at)
            found.append(Stretch(page.id, len(said), bool(silent or page.id in opening)))
            before = said[-1]
    return found


# Running


@dataclass(frozen=True, slots=True)
class Open:
    """A session's turns that no episode covers, by page, and as an engine reads them."""

    stretches: list[Stretch]
    turns: list[Turn]
    passages: dict[UUID, Passage]

    def turns_of(self, span: Span) -> list[Turn]:
        skipped = 0
        for stretch in self.stretches:
            if stretch == span[0]:
                break
            skipped += stretch.turns
        return self.turns[skipped : skipped + length(span)]


def run(job: Job, now: datetime) -> None:
    """Write an episode of every complete span. Raises EngineError, LeaseLost, StaleRead."""
    spanning.reread(lambda: _once(spanning.setting(job, now)))


def _once(at: Setting) -> None:
    job = at.job
    with tenant_scope(job.tenant_id):
        session = Session.objects.get(id=job.payload["session"])
        found = _read(at, session)
    drafts = [
        draft
        for span in _complete(at, found)
        if (draft := _draft(at, session, found.turns_of(span), span, found))
    ]
    index = spanning.indexed(at, drafts)
    with tenant_scope(job.tenant_id):
        spanning.write(at, drafts, index, "a topic came to its end")
        queue.finish(job, {"episodes": [str(draft.row.id) for draft in drafts]}, at.now)


def _read(at: Setting, session: Session) -> Open:
    turns = open_turns(session.id, at.job.last_seq)
    opening = {UUID(page) for page in at.job.payload.get("opens", [])}
    stretches = _stretches(session.id, turns, opening)
    heard = [turn for turn in turns if spanning.is_heard(turn)]
    return Open(stretches, turns, spanning.passages(heard, at.zone))


def _complete(at: Setting, found: Open) -> list[Span]:
    window = at.effective.policy.episodes.window_turns
    ended = bool(at.job.payload.get("ended"))
    if ended or not gated(at.effective.policy):
        return closed_spans(found.stretches, window, ended=ended)
    return closed_spans(_gate(at, found), window, least=1)


def _gate(at: Setting, found: Open) -> list[Stretch]:
    """The stretches with what the model says of the new ones: which open or end a topic.

    Nothing is asked where code knows: after a silence, or where the window is full anyway.
    """
    window = at.effective.policy.episodes.window_turns
    new = _new_pages(at)
    judged: list[Stretch] = []
    open_: list[Stretch] = []
    for stretch in found.stretches:
        full = length([*open_, stretch]) >= window
        known = full or stretch.opens or stretch.page_id not in new
        cause = "none" if known else _asked(at, found, open_, stretch)
        stretch = replace(stretch, opens=stretch.opens or cause == "shift", ends=cause == "request")
        judged.append(stretch)
        open_ = [stretch] if stretch.opens else [*open_, stretch]
        if full or stretch.ends:
            open_ = []
    return judged


def _new_pages(at: Setting) -> set[UUID]:
    with tenant_scope(at.job.tenant_id):
        pages = Page.objects.filter(
            session=at.job.payload["session"],
            last_seq__gte=at.job.first_seq,
            first_seq__lte=at.job.last_seq,
        )
        return set(pages.values_list("id", flat=True))


def _asked(at: Setting, found: Open, open_: Sequence[Stretch], newest: Stretch) -> str:
    window = [found.passages[s.page_id] for s in open_ if s.page_id in found.passages]
    if not window or newest.page_id not in found.passages:
        return "none"
    try:  # a gate that fails leaves the code's rule: the window's length (spec §7.4)
        gate = at.engine.episode_gate(window, found.passages[newest.page_id])
    except EngineError:
        return "none"
    return gate.cause if gate.open else "none"


def _draft(
    at: Setting, session: Session, turns: Sequence[Turn], span: Span, found: Open
) -> Drafted | None:
    """None where nothing was said that can be told."""
    passages = [found.passages[s.page_id] for s in span if s.page_id in found.passages]
    if not passages:
        return None
    written = at.engine.episode_write(passages)
    wording = Wording(written.text, written.title)
    heard = [turn for turn in turns if spanning.is_heard(turn)]
    covered = coverage_of(heard, bounds=turns)
    return drafted(at.space, Episode.Kind.TOPIC, wording, covered, at.stamp, session=session)
