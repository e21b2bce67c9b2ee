"""Nemori's predict-calibrate (Nan et al., 2025, section 3): of each episode only what could not be
predicted from what is known is kept.

The engine predicts an episode from its title and the statements near it, and is then shown what was
said: what the prediction missed becomes facts. Episodes are those that the policy derives; the last
of a session ends with it.
"""

from __future__ import annotations

from zoneinfo import ZoneInfo

from memoryhub.dialogues.models import Turn
from memoryhub.engines.types import KnowledgeItem, Passage
from memoryhub.lab.writers.base import ACTOR, WriterInputs, add_statement, build_statement
from memoryhub.pipeline import corrections
from memoryhub.pipeline.corrections import UnitOfWork
from memoryhub.pipeline.jobs import queue
from memoryhub.pipeline.jobs.runner import drain_space
from memoryhub.pipeline.models import Job
from memoryhub.pipeline.steps.episodes.episode_io import build_passages
from memoryhub.pipeline.tasks import silence_doorbell
from memoryhub.recall.services import search_memories
from memoryhub.tenants.scope import tenant_scope
from notes.episodes.store import build_live_q
from notes.history.change_set import ChangeSet
from notes.models import Episode

_MARK = "calibrated"  # in an episode's details: nothing more is learnt from it


def learn_from_surprise(place: WriterInputs) -> None:
    """Option: `known`, how many statements a prediction is made from."""
    _close_last_episode(place)
    for episode in _load_new_episodes(place):
        passages, said = _load_passages(place, episode)
        title = episode.title or episode.text
        held = search_memories(
            place.space,
            title,
            limit=place.options["known"],
            kinds=("fact",),
            now=place.now,
            reinforce=False,
        )
        predicted = place.engine.predict_episode(title, [item.text for item in held.items])
        subject = place.space.name or place.space.subject
        missed = place.engine.find_unpredicted(predicted, passages, subject=subject)
        _keep_missed(place, episode, missed, said)


def _close_last_episode(place: WriterInputs) -> None:
    """By the hub's own step, which otherwise waits for the next session."""
    space, session = place.space, place.session
    with silence_doorbell():
        with tenant_scope(space.tenant_id):
            last = (
                Turn.objects.filter(session=session).order_by("-seq").values_list("seq", flat=True)
            )
            seqs = (1, last[0])
            payload = {"session": str(session.id), "ended": True}
            key = f"{session.id}:{seqs[1]}:over"
            queue.plan_step(space, Job.Step.EPISODE, key, place.now, payload=payload, seqs=seqs)
        drain_space(space.tenant_id, space.id, place.now)


def _load_new_episodes(place: WriterInputs) -> list[Episode]:
    with tenant_scope(place.space.tenant_id):
        rows = Episode.objects.filter(build_live_q(), space=place.space, kind=Episode.Kind.TOPIC)
        return [row for row in rows.order_by("from_seq") if _MARK not in row.details]


def _load_passages(
    place: WriterInputs, episode: Episode
) -> tuple[list[Passage], dict[str, list[Turn]]]:
    """Its exchanges, and the turns of each by its handle."""
    with tenant_scope(place.space.tenant_id):
        span = (episode.from_seq, episode.to_seq)
        rows = Turn.objects.filter(space=place.space, session=episode.session, seq__range=span)
        turns = list(rows.order_by("seq"))
        passages = list(build_passages(turns, ZoneInfo(place.space.timezone)).values())
    said = {p.handle: [t for t in turns if t.words and t.words in p.text] for p in passages}
    return passages, {handle: mine or turns for handle, mine in said.items()}


def _keep_missed(
    place: WriterInputs,
    episode: Episode,
    missed: list[KnowledgeItem],
    said: dict[str, list[Turn]],
) -> None:
    """The statements and the episode's mark, in one event."""

    def edit(bench: UnitOfWork, changes: ChangeSet) -> None:
        for item in missed:
            turns = list({t.id: t for h in item.evidence for t in said.get(h, ())}.values())
            if turns:
                fact = build_statement(place, item.text, turns, place.now)
                add_statement(fact, turns)(bench, changes)
        row = bench.get_row("episode", episode.id)
        bench.edit_row(changes, row, details={**row.details, _MARK: True})

    reason = "was not predicted"
    corrections.edit_rows(place.space, edit, ACTOR, place.now, reason=reason)
