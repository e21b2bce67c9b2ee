"""First part of a derivation: everything the engine needs, read in one short transaction."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from uuid import UUID
from zoneinfo import ZoneInfo

from memoryhub.dialogues.models import Turn
from memoryhub.dialogues.queries import turns_around, turns_before, turns_between
from memoryhub.engines.types import Exchange, Utterance
from memoryhub.pipeline import queue
from memoryhub.pipeline.models import Job
from memoryhub.policies.schema import Policy
from memoryhub.policies.services import policy_of
from memoryhub.tenants.models import Space, Tenant
from memoryhub.tenants.scope import tenant_scope
from notes.dating import event_words
from notes.echoes import Span, echoes, masked
from notes.episodes import rolling_text
from notes.indexing import AFTER, BEFORE
from notes.models import Page

# A longer text is read in windows, so that one message can't take all memory (E4).
WINDOW_CHARS = 20_000


@dataclass(frozen=True, slots=True)
class Batch:
    """`turns` are to be derived; `before` (oldest first) and `around` are context only."""

    job: Job
    tenant: Tenant
    space: Space
    turns: list[Turn]
    before: list[Turn]
    around: list[Turn]  # the turns with their neighbours, for what they are found by
    pages: list[Page]
    noted: set[object]  # ids of pages that have a note
    policy: Policy
    policy_version: str
    event_words: dict[UUID, str]  # dates that facts of the turns before speak of
    summary: str = ""  # S
    echoes: Mapping[UUID, Sequence[Span]] = field(default_factory=dict)
    absorbed: Sequence[Job] = ()  # jobs behind this one whose turns are read along with its own

    def turns_of(self, page: Page) -> list[Turn]:
        return [turn for turn in self.turns if page.covers(turn)]

    @property
    def own_words(self) -> list[Turn]:
        """Turns that say something of their own, and are not put together from memories."""
        return [turn for turn in self.turns if not is_echo(turn)]

    @property
    def last_seq(self) -> int:
        return self.turns[-1].seq

    def text_of(self, turn: Turn) -> str:
        """What a turn says of its own: blank where it repeats what the hub gave out."""
        return masked(turn.text, self.echoes.get(turn.id, ()))

    def related(self, handles: Iterable[str], windows: Mapping[str, Window]) -> list[Turn]:
        """The turns that these handles of the history or of earlier messages stand for (R_t)."""
        known = {f"h{turn.seq}": turn for turn in [*self.before, *self.turns]}
        known |= {handle: window.turn for handle, window in windows.items()}
        return [known[handle] for handle in handles if handle in known]


def is_echo(turn: Turn) -> bool:
    """Text the hub returned itself: deriving from it would make memories of memories."""
    return bool(turn.metadata.get("quoted"))


def read(job: Job) -> Batch:
    """The turns of the job that nobody has read yet, and of those that wait right behind it."""
    with tenant_scope(job.tenant_id):
        turns = _pending(job)
        batch = _batch(job, turns)
        # What failed once is read by itself: it may be another turn that can't be read.
        if not turns or job.tries > 1 or batch.tenant.engine != Tenant.Engine.LLM:
            return batch
        absorbed = _absorbed(job, turns, batch.policy.derive.batch_exchanges)
        more = [turn for each in absorbed for turn in _pending(each)]
        return _batch(job, [*turns, *more], absorbed) if absorbed else batch


def imagined(job: Job, turns: list[Turn]) -> Batch:
    """These turns, whether their job stays or not. Call inside the tenant's scope."""
    return _batch(job, turns)


def _pending(job: Job) -> list[Turn]:
    said = turns_between(job.space_id, job.first_seq, job.last_seq)
    return list(said.filter(state=Turn.State.PENDING))


def _absorbed(job: Job, turns: Sequence[Turn], most: int) -> list[Job]:
    """Jobs right behind, of the same session, as long as all have at most `most` exchanges."""
    found: list[Job] = []
    held = list(turns)
    for after in queue.behind(job, most * 2):
        more = _pending(after)
        if any(turn.session_id != turns[0].session_id for turn in more):
            break
        held += more
        if len(_pages(held)) > most:
            break
        found.append(after)
    return found


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


def _batch(job: Job, turns: list[Turn], absorbed: Sequence[Job] = ()) -> Batch:
    space = Space.objects.get(id=job.space_id)
    effective = policy_of(space)
    near = max(effective.policy.derive.context_turns, BEFORE + AFTER)
    before = turns_before(turns[0], near) if turns else []
    around = turns_around([turn.id for turn in turns], BEFORE + AFTER)
    pages = _pages(turns)
    return Batch(
        job=job,
        tenant=Tenant.objects.get(id=job.tenant_id),
        space=space,
        turns=turns,
        before=[turn for turn in before if turn.state != Turn.State.REDACTED],
        around=around,
        pages=pages,
        noted=_noted(pages),
        policy=effective.policy,
        policy_version=effective.version,
        event_words=event_words([turn.id for turn in [*before, *around]], ZoneInfo(space.timezone)),
        summary=rolling_text(space),
        echoes=echoes(space, [*before, *turns]) if turns else {},
        absorbed=absorbed,
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


def windows(turn: Turn, text: str | None = None) -> list[Window]:
    """The turn's text whole, or cut near sentence ends when it is very long.

    `text` is its text with echoes blanked out, of the same length.
    """
    text = turn.text if text is None else text
    found, at = [], 0
    while len(text) - at > WINDOW_CHARS:
        end = _cut(text, at)
        found.append(Window(turn, at, text[at:end]))
        at = end
    return [*found, Window(turn, at, text[at:])]


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
        text = batch.text_of(turn)
        for window in [] if is_echo(turn) or not text.strip() else windows(turn, text):
            handle = f"t{len(handles) + 1}"
            handles[handle] = window
            utterances.append(window.utterance(handle))
    return Exchange(
        utterances=utterances,
        history=_history(batch, page),
        participants=batch.space.speakers,
        subject=batch.space.name or batch.space.subject,
        summary=batch.summary,
    )


def _history(batch: Batch, page: Page) -> list[Utterance]:
    """The last m turns before the page, under handles that are theirs in the whole batch."""
    first, most = batch.turns_of(page)[0].seq, batch.policy.derive.context_turns
    known = [turn for turn in [*batch.before, *batch.turns] if turn.seq < first]
    return [
        Window(turn, 0, batch.text_of(turn)[:WINDOW_CHARS]).utterance(f"h{turn.seq}")
        for turn in known[len(known) - most if most < len(known) else 0 :]
    ]
