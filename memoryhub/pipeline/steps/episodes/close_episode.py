"""Closing an episode: when its topic shifts, is asked for, or the window is full (AMA, spec §7).

Code sees first whether the window is full. Where constructing says which exchanges open a topic,
that decides the rest and no model is asked; else one call an exchange does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from django.db.models import Max, OuterRef, Subquery

from memoryhub.dialogues.models import IS_INNER, Session, Turn
from memoryhub.engines.types import Passage
from memoryhub.errors import EngineError
from memoryhub.pipeline.jobs import queue
from memoryhub.pipeline.jobs.step import JobResult, Step
from memoryhub.pipeline.models import Job, Lane
from memoryhub.pipeline.steps.context import DerivedDialogue, StepContext, load_context
from memoryhub.pipeline.steps.episodes import episode_io
from memoryhub.policies.schema import Policy
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope
from notes.episodes.spans import (
    TOPIC_GAP,
    EpisodeSpan,
    PageStretch,
    count_turns,
    find_closed_spans,
    is_silence,
)
from notes.episodes.store import EpisodeContent, EpisodeDraft, compute_coverage, draft_episode
from notes.index.indexer import EmbeddedEntries
from notes.models import Episode, Page

_MAX_OPEN_SESSIONS = 5  # of those left open, the newest


# Planning


def schedule(due: DerivedDialogue) -> None:
    """Plan the step if a span is complete, or if only a model can say so."""
    if not due.policy.episodes.topic:
        return
    session = due.turns[0].session_id
    opening = {page for page, built in due.constructions.items() if built.topic_cue}
    stretches = _build_stretches(session, load_open_turns(session, due.last_seq), opening)
    window = due.policy.episodes.window_turns
    if needs_model_gate(due.policy) or find_closed_spans(stretches, window):
        _plan_episode_job(due, session, opens=[str(s.page_id) for s in stretches if s.opens])
    for left in _list_sessions_left_open(due.space, due.turns[0]):
        _plan_episode_job(due, left, ended=True)


def _plan_episode_job(due: DerivedDialogue, session: UUID, **payload: object) -> None:
    queue.plan_step(
        due.space,
        Job.Step.EPISODE,
        f"{session}:{due.last_seq}",
        due.now,
        payload={"session": str(session)} | payload,
        seqs=due.seqs,
    )


def needs_model_gate(policy: Policy) -> bool:
    """Whether a model is asked for every exchange, since no other call says it by the way."""
    return not (policy.llm.combine_calls and (policy.facts.enabled or policy.notes.enabled))


def _list_sessions_left_open(space: Space, first: Turn) -> list[UUID]:
    """Sessions that were over before this turn, with turns that no episode covers and no job is to
    cover: a long import is read first, and every session of it is found open by all that follow."""
    waiting = Job.objects.filter(
        space=space, step=Job.Step.EPISODE, state__in=Job.WAITING_STATES, payload__ended=True
    )
    planned = {UUID(at) for at in waiting.values_list("payload__session", flat=True)}
    topics = Episode.objects.filter(
        session=OuterRef("id"), kind=Episode.Kind.TOPIC, retired_at=None
    )
    said = Turn.objects.filter(session=OuterRef("id"), state=Turn.State.PROCESSED)
    said = said.exclude(IS_INNER)
    rows = (
        Session.objects.filter(space=space, ended_at__lt=first.occurred_at - TOPIC_GAP)
        .exclude(id__in={first.session_id, *planned})
        .annotate(covered=Subquery(topics.order_by("-to_seq").values("to_seq")[:1]))
        .annotate(last=Subquery(said.order_by("-ordinal").values("seq")[:1]))
    )
    newest = rows.order_by("-ordinal")[:_MAX_OPEN_SESSIONS]
    return [row.id for row in newest if row.last and row.last > (row.covered or 0)]


def find_covered_seq(session: UUID) -> int:
    """The last turn of the session that a topic's episode covers."""
    rows = Episode.objects.filter(session=session, kind=Episode.Kind.TOPIC, retired_at=None)
    return int(rows.aggregate(last=Max("to_seq"))["last"] or 0)


def load_open_turns(session: UUID, last_seq: int) -> list[Turn]:
    """The session's turns since its last episode. Call inside the tenant's scope."""
    turns = Turn.objects.filter(
        session=session, seq__gt=find_covered_seq(session), seq__lte=last_seq
    )
    return list(turns.filter(state=Turn.State.PROCESSED).exclude(IS_INNER).order_by("seq"))


def _build_stretches(session: UUID, turns: Sequence[Turn], opening: set[UUID]) -> list[PageStretch]:
    if not turns:
        return []
    first, last = turns[0].seq, turns[-1].seq
    pages = Page.objects.filter(session=session, last_seq__gte=first, first_seq__lte=last)
    found: list[PageStretch] = []
    before: Turn | None = None
    for page in pages.order_by("first_seq"):
        said = [turn for turn in turns if page.covers(turn)]
        if said:
            silent = before and is_silence(before.occurred_at, said[0].occurred_at)
            found.append(PageStretch(page.id, len(said), bool(silent or page.id in opening)))
            before = said[-1]
    return found


# Running


@dataclass(frozen=True, slots=True)
class OpenTopic:
    """A session's turns that no episode covers, by page, and as an engine reads them."""

    at: StepContext
    session: Session
    stretches: list[PageStretch]
    turns: list[Turn]
    passages: dict[UUID, Passage]

    def select_span_turns(self, span: EpisodeSpan) -> list[Turn]:
        first = [stretch.page_id for stretch in self.stretches].index(span[0].page_id)
        skipped = count_turns(self.stretches[:first])
        return self.turns[skipped : skipped + count_turns(span)]


@dataclass(frozen=True, slots=True)
class ClosedEpisodes:
    drafts: list[EpisodeDraft]
    index: EmbeddedEntries


class CloseEpisodeStep(Step[OpenTopic, ClosedEpisodes]):
    """Write an episode of every complete span."""

    name = Job.Step.EPISODE
    lane = Lane.PLACING

    def read(self) -> OpenTopic:
        at = load_context(self.job, self.now)
        session = Session.objects.get(id=self.job.payload["session"])
        turns = load_open_turns(session.id, self.job.last_seq)
        opening = {UUID(page) for page in self.job.payload.get("opens", [])}
        stretches = _build_stretches(session.id, turns, opening)
        heard = [turn for turn in turns if episode_io.is_heard(turn)]
        passages = episode_io.build_passages(heard, at.zone)
        return OpenTopic(at, session, stretches, turns, passages)

    def ask(self, topic: OpenTopic) -> ClosedEpisodes:
        spans = _find_complete_spans(topic)
        drafts = [draft for span in spans if (draft := _draft_episode(topic, span))]
        return ClosedEpisodes(drafts, episode_io.embed_drafts(topic.at, drafts))

    def write(self, topic: OpenTopic, answer: ClosedEpisodes) -> JobResult:
        reason = "a topic came to its end"
        episode_io.write_episodes(topic.at, answer.drafts, answer.index, reason)
        return {"episodes": [str(draft.row.id) for draft in answer.drafts]}


def _find_complete_spans(topic: OpenTopic) -> list[EpisodeSpan]:
    policy = topic.at.policy
    window, ended = policy.episodes.window_turns, bool(topic.at.job.payload.get("ended"))
    if ended or not needs_model_gate(policy):
        return find_closed_spans(topic.stretches, window, ended=ended)
    return find_closed_spans(_gate_stretches(topic), window, least=1)


def _gate_stretches(topic: OpenTopic) -> list[PageStretch]:
    """The stretches with what the model says of the new ones: which open or end a topic.

    Nothing is asked where code knows: after a silence, or where the window is full anyway.
    """
    window = topic.at.policy.episodes.window_turns
    new = _load_new_pages(topic.at)
    judged: list[PageStretch] = []
    open_: list[PageStretch] = []
    for stretch in topic.stretches:
        full = count_turns([*open_, stretch]) >= window
        known = full or stretch.opens or stretch.page_id not in new
        cause = "none" if known else _ask_gate(topic, open_, stretch)
        stretch = replace(stretch, opens=stretch.opens or cause == "shift", ends=cause == "request")
        judged.append(stretch)
        open_ = [stretch] if stretch.opens else [*open_, stretch]
        if full or stretch.ends:
            open_ = []
    return judged


def _load_new_pages(at: StepContext) -> set[UUID]:
    with tenant_scope(at.job.tenant_id):
        pages = Page.objects.filter(
            session=at.job.payload["session"],
            last_seq__gte=at.job.first_seq,
            first_seq__lte=at.job.last_seq,
        )
        return set(pages.values_list("id", flat=True))


def _ask_gate(topic: OpenTopic, open_: Sequence[PageStretch], newest: PageStretch) -> str:
    window = [topic.passages[s.page_id] for s in open_ if s.page_id in topic.passages]
    if not window or newest.page_id not in topic.passages:
        return "none"
    try:  # a gate that fails leaves the code's rule: the window's length (spec §7.4)
        gate = topic.at.engine.detect_episode_end(window, topic.passages[newest.page_id])
    except EngineError:
        return "none"
    return gate.cause if gate.open else "none"


def _draft_episode(topic: OpenTopic, span: EpisodeSpan) -> EpisodeDraft | None:
    """None where nothing was said that can be told."""
    passages = [topic.passages[s.page_id] for s in span if s.page_id in topic.passages]
    if not passages:
        return None
    at, turns = topic.at, topic.select_span_turns(span)
    written = at.engine.summarise_episode(passages)
    wording = EpisodeContent(written.text, written.title)
    covered = compute_coverage([t for t in turns if episode_io.is_heard(t)], bounds=turns)
    return draft_episode(
        at.space, Episode.Kind.TOPIC, wording, covered, at.stamp, session=topic.session
    )
