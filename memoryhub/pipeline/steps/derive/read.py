"""First part of a derivation: everything the engine needs, read in one short transaction."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from uuid import UUID
from zoneinfo import ZoneInfo

from memoryhub.dialogues.models import Turn
from memoryhub.dialogues.queries import (
    filter_turns_between,
    load_turns_around,
    load_turns_before,
    load_turns_elsewhere,
)
from memoryhub.engines.types import Exchange, Utterance
from memoryhub.pipeline.jobs import queue
from memoryhub.pipeline.models import Job
from memoryhub.policies.schema import Policy
from memoryhub.policies.services import load_effective_policy
from memoryhub.subject_names import PLACEHOLDERS
from memoryhub.tenants.models import Space, Tenant
from memoryhub.tenants.scope import tenant_scope
from memoryhub.tenants.services import load_space
from notes.episodes.store import load_rolling_text
from notes.index.indexer import AFTER, BEFORE, load_event_date_words
from notes.models import Fact, Page
from notes.quality.echoes import TextSpan, find_echoes, mask_spans

# A longer text is read in windows, so that one message can't take all memory (E4).
MAX_WINDOW_CHARACTERS = 20_000
_MOST_NAMES = 300
_OWNED = "['’]s? |的"


@dataclass(frozen=True, slots=True)
class DialogueBatch:
    """`turns` are to be derived; `before` (oldest first) and `around` are context only, `elsewhere`
    what other sessions said last, for a model."""

    job: Job
    tenant: Tenant
    space: Space
    turns: list[Turn]
    before: list[Turn]
    elsewhere: list[Turn]
    around: list[Turn]  # the turns with their neighbours, for what they are found by
    pages: list[Page]
    pages_with_note: set[object]  # ids of pages that have a note
    policy: Policy
    policy_version: str
    event_words: dict[UUID, str]  # dates that facts of the turns before speak of
    summary: str = ""  # S
    echoes: Mapping[UUID, Sequence[TextSpan]] = field(default_factory=dict)
    names: Sequence[str] = ()  # of whom something is held, beside those who speak
    participants: Sequence[str] = ()  # who speaks in this space, but for a silent assistant
    absorbed: Sequence[Job] = ()  # jobs behind this one whose turns are read along with its own

    def select_page_turns(self, page: Page) -> list[Turn]:
        return [turn for turn in self.turns if page.covers(turn)]

    @property
    def own_words(self) -> list[Turn]:
        """Turns that say something of their own, and are not put together from memories."""
        return [turn for turn in self.turns if not is_echo(turn)]

    @property
    def is_assisted(self) -> bool:
        """Whether an assistant takes part, or nobody else does than the one who speaks."""
        said = [*self.turns, *self.before]
        return len(self.participants) < 2 or any(turn.role == "assistant" for turn in said)

    @property
    def last_seq(self) -> int:
        return self.turns[-1].seq

    def mask_turn_text(self, turn: Turn) -> str:
        """What a turn says of its own: blank where it repeats what the hub gave out."""
        return mask_spans(turn.words, self.echoes.get(turn.id, ()))

    def find_related_turns(
        self, handles: Iterable[str], windows: Mapping[str, TextWindow]
    ) -> list[Turn]:
        """The turns that these handles of the history or of earlier messages stand for (R_t)."""
        known = {f"h{turn.seq}": turn for turn in [*self.elsewhere, *self.before, *self.turns]}
        known |= {handle: window.turn for handle, window in windows.items()}
        return [known[handle] for handle in handles if handle in known]


def is_echo(turn: Turn) -> bool:
    """Text the hub returned itself: deriving from it would make memories of memories."""
    return bool(turn.metadata.get("quoted"))


def load_batch(job: Job) -> DialogueBatch:
    """The turns of the job that nobody has read yet, and of those that wait right behind it."""
    with tenant_scope(job.tenant_id):
        turns = _load_pending_turns(job)
        batch = _build_batch(job, turns)
        # What failed once is read by itself: it may be another turn that can't be read.
        if not turns or job.tries > 1 or batch.tenant.engine != Tenant.Engine.LLM:
            return batch
        absorbed = _find_absorbed_jobs(job, turns, batch.policy.derive.batch_exchanges)
        more = [turn for each in absorbed for turn in _load_pending_turns(each)]
        return _build_batch(job, [*turns, *more], absorbed) if absorbed else batch


def load_imagined_batch(job: Job, turns: list[Turn]) -> DialogueBatch:
    """These turns, whether their job stays or not. Call inside the tenant's scope."""
    return _build_batch(job, turns)


def _load_pending_turns(job: Job) -> list[Turn]:
    said = filter_turns_between(job.space_id, job.first_seq, job.last_seq)
    return list(said.filter(state=Turn.State.PENDING))


def _find_absorbed_jobs(job: Job, turns: Sequence[Turn], most: int) -> list[Job]:
    """Jobs right behind, of the same session, as long as all have at most `most` exchanges."""
    found: list[Job] = []
    held = list(turns)
    for after in queue.list_jobs_behind(job, most * 2):
        more = _load_pending_turns(after)
        if any(turn.session_id != turns[0].session_id for turn in more):
            break
        held += more
        if len(_load_pages(held)) > most:
            break
        found.append(after)
    return found


def load_batch_again(job: Job, turn_ids: Sequence[str]) -> DialogueBatch:
    """The exchanges of these turns, which are of one session, whoever has read them before."""
    with tenant_scope(job.tenant_id):
        seqs = list(Turn.objects.filter(id__in=turn_ids).values_list("seq", flat=True))
        found = list(Turn.objects.filter(id__in=turn_ids).order_by("seq"))
        pages = [page for page in _load_pages(found) if any(page.covers(turn) for turn in found)]
        seqs += [seq for page in pages for seq in (page.first_seq, page.last_seq)]
        around = (
            filter_turns_between(job.space_id, min(seqs), max(seqs))
            if seqs
            else Turn.objects.none()
        )
        held = [turn for turn in around if any(page.covers(turn) for page in pages)]
        return _build_batch(job, [turn for turn in held if turn.state != Turn.State.REDACTED])


def _build_batch(job: Job, turns: list[Turn], absorbed: Sequence[Job] = ()) -> DialogueBatch:
    space = load_space(job.tenant_id, job.space_id)
    tenant = space.tenant
    effective = load_effective_policy(space)
    near = max(effective.policy.derive.context_turns, BEFORE + AFTER)
    before = load_turns_before(turns[0], near) if turns else []
    is_read_by_model = bool(turns) and tenant.engine == Tenant.Engine.LLM
    elsewhere = load_turns_elsewhere(turns[0], near) if is_read_by_model else []
    around = load_turns_around([turn.id for turn in turns], BEFORE + AFTER)
    pages = _load_pages(turns)
    return DialogueBatch(
        job=job,
        tenant=tenant,
        space=space,
        turns=turns,
        before=[turn for turn in before if turn.state != Turn.State.REDACTED],
        elsewhere=[turn for turn in elsewhere if turn.state != Turn.State.REDACTED],
        around=around,
        pages=pages,
        pages_with_note=_find_pages_with_note(pages),
        policy=effective.policy,
        policy_version=effective.version,
        event_words=load_event_date_words(
            [turn.id for turn in [*before, *around]], ZoneInfo(space.timezone)
        ),
        summary=load_rolling_text(space),
        names=_load_names(space) if turns else (),
        participants=_find_participants(space, [*before, *turns]),
        echoes=find_echoes(space, [*elsewhere, *before, *turns]) if turns else {},
        absorbed=absorbed,
    )


def _load_names(space: Space) -> tuple[str, ...]:
    """Names of people and animals, not "Ana's sister", that facts are held about."""
    others = Fact.objects.exclude(owner__in=["", *space.speakers, *space.called_names])
    held = others.filter(space=space, status=Fact.Status.ACTIVE, retired_at=None)
    named = held.exclude(owner__regex=_OWNED).order_by("owner")
    return tuple(named.values_list("owner", flat=True).distinct()[:_MOST_NAMES])


def _find_participants(space: Space, said: Sequence[Turn]) -> list[str]:
    """Who speaks here, but for an assistant that is silent in what is read: it makes no talk among
    people of what one person tells."""
    known = space.people
    heard = {space.display_name, *(space.name_owner(turn.speaker) for turn in said)}
    silent = [name for name in known if name not in heard]
    if not silent or len(known) - len(silent) > 1:
        return known
    spoken = Turn.objects.filter(space=space, role=Turn.Role.USER, speaker__in=silent)
    people = {*spoken.values_list("speaker", flat=True).distinct().order_by()}
    return [name for name in known if name in heard or name in people]


def _load_pages(turns: Sequence[Turn]) -> list[Page]:
    """The pages of a job's turns, which are of one session."""
    if not turns:
        return []
    session = Page.objects.filter(session_id=turns[0].session_id)
    return list(session.filter(first_seq__lte=turns[-1].seq, last_seq__gte=turns[0].seq))


def _find_pages_with_note(pages: Sequence[Page]) -> set[object]:
    return set(
        Page.objects.filter(id__in=[p.id for p in pages], notes__isnull=False).values_list(
            "id", flat=True
        )
    )


@dataclass(frozen=True, slots=True)
class TextWindow:
    """A part of a turn's text, `offset` characters in."""

    turn: Turn
    offset: int
    text: str

    def build_utterance(self, handle: str, space: Space) -> Utterance:
        """The subject speaks by the name under which all is written of them: by no id. Days are
        counted from the day that it was where they are."""
        turn, speaker = self.turn, self.turn.speaker
        speaker = speaker if speaker in PLACEHOLDERS else space.name_owner(speaker)
        at = turn.occurred_at.astimezone(ZoneInfo(space.timezone))
        return Utterance(handle, speaker, turn.role, self.text, at)  # type: ignore[arg-type]  # a checked choice


def cut_windows(turn: Turn, text: str | None = None) -> list[TextWindow]:
    """The turn's text whole, or cut near sentence ends when it is very long.

    `text` is its text with echoes blanked out, of the same length.
    """
    text = turn.words if text is None else text
    found, at = [], 0
    while len(text) - at > MAX_WINDOW_CHARACTERS:
        end = _find_cut(text, at)
        found.append(TextWindow(turn, at, text[at:end]))
        at = end
    return [*found, TextWindow(turn, at, text[at:])]


def _find_cut(text: str, at: int) -> int:
    """The last sentence end or line break of the window, else its hard end."""
    end = at + MAX_WINDOW_CHARACTERS
    cuts = [
        text.rfind(mark, at + MAX_WINDOW_CHARACTERS // 2, end) for mark in ("\n", ". ", "。", " ")
    ]
    best = next((cut for cut in cuts if cut > at), -1)
    return best + 1 if best > at else end


def build_exchange(batch: DialogueBatch, page: Page, handles: dict[str, TextWindow]) -> Exchange:
    """The page's turns to read, with what went before. `handles` gets every handle's window."""
    utterances = []
    for turn in batch.select_page_turns(page):
        text = batch.mask_turn_text(turn)
        for window in [] if is_echo(turn) or not text.strip() else cut_windows(turn, text):
            handle = f"t{len(handles) + 1}"
            handles[handle] = window
            utterances.append(window.build_utterance(handle, batch.space))
    return Exchange(
        utterances=utterances,
        history=_build_history(batch, page),
        participants=batch.participants,
        subject=batch.space.display_name,
        aliases=batch.space.called_names,
        names=batch.names,
        summary=batch.summary,
        earlier=_build_context(batch, batch.elsewhere),
    )


def _build_history(batch: DialogueBatch, page: Page) -> list[Utterance]:
    """The last m turns of the session before the page."""
    first = batch.select_page_turns(page)[0].seq
    return _build_context(batch, [t for t in [*batch.before, *batch.turns] if t.seq < first])


def _build_context(batch: DialogueBatch, turns: Sequence[Turn]) -> list[Utterance]:
    """The last m of these turns, under handles that are theirs in the whole batch."""
    shown = turns[max(0, len(turns) - batch.policy.derive.context_turns) :]
    return [
        TextWindow(turn, 0, batch.mask_turn_text(turn)[:MAX_WINDOW_CHARACTERS]).build_utterance(
            f"h{turn.seq}", batch.space
        )
        for turn in shown
    ]
