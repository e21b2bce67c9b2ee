"""What episodes are made from, and how they are written: shared by the steps that write them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from uuid import UUID
from zoneinfo import ZoneInfo

from memoryhub.dialogues.models import Turn
from memoryhub.engines.types import Passage, Utterance
from memoryhub.pipeline.jobs import queue
from memoryhub.pipeline.jobs.step import StaleRead
from memoryhub.pipeline.models import Job
from memoryhub.pipeline.steps.context import StepContext
from memoryhub.pipeline.steps.derive.read import is_echo
from memoryhub.pipeline.steps.passages import MAX_PASSAGE_CHARACTERS, load_passages
from notes.episodes import store
from notes.index import indexer
from notes.index.indexer import EmbeddedEntries
from notes.models import Episode, EvolutionEvent, Page, Proposal
from notes.retention import decay
from notes.review import proposals

# Documents and tool output are nobody's word; they stay searchable themselves (spec E24).
_READ_ROLES = (Turn.Role.USER, Turn.Role.ASSISTANT)


# What is read


def is_heard(turn: Turn) -> bool:
    """Said by a person or an agent, in words of their own, and read."""
    return turn.state == Turn.State.PROCESSED and turn.role in _READ_ROLES and not is_echo(turn)


def build_passages(turns: Sequence[Turn], zone: ZoneInfo) -> dict[UUID, Passage]:
    """By page, in the order of the turns, at the space's own time.

    Call inside the tenant's scope.
    """
    if not turns:
        return {}
    seqs = [turn.seq for turn in turns]
    pages = Page.objects.filter(
        session_id__in={turn.session_id for turn in turns},
        first_seq__lte=max(seqs),
        last_seq__gte=min(seqs),
    )
    said = {page.id: [turn for turn in turns if page.covers(turn)] for page in pages}
    place = {turn.id: at for at, turn in enumerate(turns)}
    told = sorted((p for p in pages if said[p.id]), key=lambda p: place[said[p.id][0].id])
    return {
        page.id: replace(passage, at=passage.at.astimezone(zone))
        for page, passage in zip(told, load_passages(told, said), strict=True)
    }


def build_utterances(turns: Sequence[Turn], zone: ZoneInfo) -> list[Utterance]:
    return [
        Utterance(
            f"t{number}",
            turn.speaker,
            "user" if turn.role == Turn.Role.USER else "assistant",
            turn.words[:MAX_PASSAGE_CHARACTERS],
            turn.occurred_at.astimezone(zone),
        )
        for number, turn in enumerate(turns, start=1)
    ]


# What is written


def embed_drafts(at: StepContext, drafts: Sequence[store.EpisodeDraft]) -> EmbeddedEntries:
    """Index entries of the drafts, embedded if the embedder answers (E18). Call with no scope."""
    entries = indexer.build_episode_entries((draft.row for draft in drafts), zone=at.zone)
    return indexer.embed_if_possible(entries, at.embedder)


def write_episodes(
    at: StepContext, drafts: Sequence[store.EpisodeDraft], index: EmbeddedEntries, reason: str
) -> None:
    """Store new and renewed episodes, an event of each sort. Raises StaleRead.

    Call inside the tenant's scope, with the job locked. What a person corrected is left, and the
    new text proposed.
    """
    read = {draft.row.id: draft.before["version"] for draft in drafts if draft.before}
    rows = Episode.objects.select_for_update().filter(id__in=read).order_by("id")
    if dict(rows.values_list("id", "version")) != read:
        raise StaleRead("the episode was changed meanwhile")
    kept = [draft for draft in drafts if not _propose_overwrite(at, draft)]
    made = at.build_change_set(EvolutionEvent.Kind.DIGEST, reason)
    renewed = at.build_change_set(EvolutionEvent.Kind.REFRESH, reason)
    for draft in kept:
        store.save_episode(made if draft.before is None else renewed, draft)
    made.save()
    renewed.save()
    decay.set_forget_dates(at.space, at.policy.forget)
    index = index.select_owners({draft.row.id for draft in kept})
    indexer.write_entries(at.space, at.embedder.name, index.entries, index.vectors)
    if index.is_unembedded:
        due = at.now + queue.compute_backoff(1)
        queue.plan_step(at.space, Job.Step.EMBED, str(at.job.id), due)


def _propose_overwrite(at: StepContext, draft: store.EpisodeDraft) -> bool:
    """Whether it is a person's text: what would be written instead is put before them."""
    if draft.before is None or not draft.row.is_protected:
        return False
    row = draft.row
    proposals.propose_change(
        at.space,
        Proposal.Kind.OVERWRITE,
        f"episode:{row.id}:{row.coverage_hash[:16]}",
        "more was said that belongs to what a person corrected or pinned",
        at.now,
        payload={"title": row.title, "text": row.text, "details": row.details},
        row=row,
        turn_ids=[source.turn_id for source in draft.coverage.sources],
    )
    return True
