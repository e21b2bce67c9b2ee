"""First part of a derivation: everything the engine needs, read in one short transaction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID
from zoneinfo import ZoneInfo

from memoryhub.dialogues.models import Turn
from memoryhub.dialogues.queries import turns_before, turns_between
from memoryhub.engines.types import Exchange, Utterance
from memoryhub.pipeline.models import Job
from memoryhub.policies.schema import Policy
from memoryhub.policies.services import policy_of
from memoryhub.tenants.models import Space, Tenant
from memoryhub.tenants.scope import tenant_scope
from notes.dating import event_words
from notes.models import Page

CONTEXT_TURNS = 10  # m of Mem0, W of AMA (spec §5.2, §7.3)
# A longer text is read in windows, so that one message can't take all memory (E4).
WINDOW_CHARS = 20_000


@dataclass(frozen=True, slots=True)
class Batch:
    """`turns` are to be derived; `before` (oldest first) is context only."""

    job: Job
    tenant: Tenant
    space: Space
    turns: list[Turn]
    before: list[Turn]
    pages: list[Page]
    noted: set[object]  # ids of pages that have a note
    policy: Policy
    policy_version: str
    event_words: dict[UUID, str]  # dates that facts of the turns before speak of

    def turns_of(self, page: Page) -> list[Turn]:
        return [turn for turn in self.turns if page.covers(turn)]

    @property
    def own_words(self) -> list[Turn]:
        """Turns that say something of their own, and are not put together from memories."""
        return [turn for turn in self.turns if not is_echo(turn)]


def is_echo(turn: Turn) -> bool:
    """Text the hub returned itself: deriving from it would make memories of memories."""
    return bool(turn.metadata.get("quoted"))


def read(job: Job) -> Batch:
    """The turns of the job that nobody has read yet."""
    with tenant_scope(job.tenant_id):
        said = turns_between(job.space_id, job.first_seq, job.last_seq)
        return _batch(job, list(said.filter(state=Turn.State.PENDING)))


def read_again(job: Job, turn_ids: Sequence[str]) -> Batch:
    """The exchanges of these turns, which are of one session, whoever has read them before."""
    with tenant_scope(job.tenant_id):
        seqs = list(Turn.objects.filter(id__in=turn_ids).values_list("seq", flat=True))
        found = list(Turn.objects.filter(id__in=turn_ids).order_by("seq"))
        pages = [page for page in _pages(found) if any(page.covers(turn) for turn in found)]
        seqs += [seq for page in pages for seq in (page.first_seq, page.last_seq)]
        around = turns_between(job.space_id, min(seqs), max(seqs)) if seqs else Turn.objects.none()
        held = [turn for turn in around if any(page.covers(turn) for page in pages)]
        return _batch(job, [turn for turn in held if turn.state != Turn.State.REDACTED])


def _batch(job: Job, turns: list[Turn]) -> Batch:
    before = turns_before(turns[0], CONTEXT_TURNS) if turns else []
    pages = _pages(turns)
    space = Space.objects.get(id=job.space_id)
    effective = policy_of(space)
    return Batch(
        job=job,
        tenant=Tenant.objects.get(id=job.tenant_id),
        space=space,
        turns=turns,
        before=[turn for turn in before if turn.state != Turn.State.REDACTED],
        pages=pages,
        noted=_noted(pages),
        policy=effective.policy,
        policy_version=effective.version,
        event_words=event_words([turn.id for turn in before], ZoneInfo(space.timezone)),
    )


def _pages(turns: Sequence[Turn]) -> list[Page]:
    """The pages of a job's turns, which are of one session."""
    if not turns:
        return []
    session = Page.objects.filter(session_id=turns[0].session_id)
    return list(session.filter(first_seq__lte=turns[-1].seq, last_seq__gte=turns[0].seq))


def _noted(pages: Sequence[Page]) -> set[object]:
    return set(
        Page.objects.filter(id__in=[p.id for p in pages], notes__isnull=False).values_list(
            "id", flat=True
        )
    )


@dataclass(frozen=True, slots=True)
class Window:
    """A part of a turn's text, `offset` characters in."""

    turn: Turn
    offset: int
    text: str

    def utterance(self, handle: str) -> Utterance:
        turn = self.turn
        return Utterance(handle, turn.speaker, turn.role, self.text, turn.occurred_at)  # type: ignore[arg-type]  # a checked choice


def windows(turn: Turn) -> list[Window]:
    """The turn's text whole, or cut near sentence ends when it is very long."""
    found, at = [], 0
    while len(turn.text) - at > WINDOW_CHARS:
        end = _cut(turn.text, at)
        found.append(Window(turn, at, turn.text[at:end]))
        at = end
    return [*found, Window(turn, at, turn.text[at:])]


def _cut(text: str, at: int) -> int:
    """The last sentence end or line break of the window, else its hard end."""
    end = at + WINDOW_CHARS
    cuts = [text.rfind(mark, at + WINDOW_CHARS // 2, end) for mark in ("\n", ". ", "。", " ")]
    best = next((cut for cut in cuts if cut > at), -1)
    return best + 1 if best > at else end


def exchange(batch: Batch, page: Page, handles: dict[str, Window]) -> Exchange:
    """The page's turns to read, with what went before. `handles` gets every handle's window."""
    utterances = []
    for turn in batch.turns_of(page):
        for window in [] if is_echo(turn) else windows(turn):
            handle = f"t{len(handles) + 1}"
            handles[handle] = window
            utterances.append(window.utterance(handle))
    return Exchange(
        utterances=utterances,
        history=_history(batch, page),
        participants=batch.space.speakers,
        subject=batch.space.name or batch.space.subject,
    )


def _history(batch: Batch, page: Page) -> list[Utterance]:
    first = batch.turns_of(page)[0].seq
    known = [t for t in [*batch.before, *batch.turns] if t.seq < first][-CONTEXT_TURNS:]
    return [
        Window(turn, 0, turn.text[:WINDOW_CHARS]).utterance(f"h{at}")
        for at, turn in enumerate(known)
    ]
