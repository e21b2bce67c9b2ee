"""The window of a session: what its agent sees, warned once, flushed in time (MemGPT, spec §3).

No model is asked inside a transaction: what is read is checked again before anything is written.
Nothing is ever lost by a flush: turns stay where they were, and tools find them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from math import ceil
from typing import Any
from uuid import UUID

from django.utils.translation import gettext

from memoryhub.dialogues.models import Session, Turn
from memoryhub.engines.types import AgentMessage, Utterance
from memoryhub.errors import Conflict, EngineError
from memoryhub.policies.schema import Policy
from memoryhub.tenants.scope import tenant_scope
from notes.models import Episode, EvolutionEvent
from notes.recording import ChangeSet, Source, values_of
from personas.blocks import in_front_of
from personas.models import CoreBlock, Window
from personas.window import Count, Queued, cut, fitted, portions, pressure

Fold = Callable[[str, Sequence[Utterance]], str]
TRIES = 3
# More than this is not folded while somebody waits, but by a job.
INLINE_PORTIONS = 4
WARNING = (
    "Your context is nearly full: the oldest messages will soon leave it. Save now what must not"
    " be lost: in a core block what is always needed, else in archival memory."
)
HIDDEN = (
    "{count} earlier messages are neither in sight nor in the summary: recall_search finds them."
)
SUMMARY = "What was said before, in brief: "


@dataclass(frozen=True, slots=True)
class Help:
    """What a window needs from elsewhere. `fold` asks a model for a new summary; `later` plans
    another try, in the transaction that noted the failure. `engine` stamps what is written."""

    count: Count
    fold: Fold
    later: Callable[[Window, datetime], None]
    engine: str = ""
    policy_version: str = ""


@dataclass(frozen=True, slots=True)
class Composed:
    """What to send to the agent, and what happened on the way. `tokens` are those of `messages`
    without the warning; `hidden` messages are in neither the queue nor the summary."""

    messages: list[AgentMessage]
    tokens: int
    limit: int
    warned: bool
    evicted: int
    hidden: int
    blocks: list[CoreBlock]


@dataclass(frozen=True, slots=True)
class _View:
    """A window as read."""

    window: Window
    queue: list[Queued]
    turns: list[Turn]
    folded: str  # the summary as it stands; "" while it is stale
    uncovered: list[Turn]  # turns that have left and that no summary covers
    blocks: list[CoreBlock]


def compose(
    session: Session,
    policy: Policy,
    aid: Help,
    now: datetime,
    *,
    head: Sequence[str] = (),
    agent: str = "",
) -> Composed:
    """The agent's context for a session: `head`, core blocks, summary, queue. Opens its own scope.

    Warns once a pressure period (MG1, G9), flushes when full (MG2) and never raises for a model
    that fails: then the window says how much is hidden, and a job tries again (MG10).
    """
    limits = policy.window
    evicted = 0
    for _ in range(TRIES):
        view = _read(session, limits.context_limit, aid, agent)
        fixed = _fixed(head, view)
        room = limits.context_limit - sum(aid.count(fixed))
        used = sum(each.tokens for each in view.queue)
        tokens = limits.context_limit - room + used
        gone = 0
        if not evicted and pressure(tokens, limits.context_limit, limits.flush):
            gone = cut(view.queue, limits.evict, limits.keep_last, room)
        if gone:
            evicted = gone if _flush(view, gone, limits.context_limit, aid, now) else 0
            continue
        full = pressure(tokens, limits.context_limit, limits.warn)
        warn = full and not evicted and not view.window.alerted
        if not warn or _alerted(view.window):
            return _composed(view, fixed, room, aid, warn, evicted, limits.context_limit)
    raise Conflict(gettext("the window kept changing while it was composed"), code="window_busy")


def refold(tenant_id: UUID, window_id: UUID, aid: Help, now: datetime) -> int:
    """Bring into the summary what an earlier flush could not, and all of it if it went stale.

    Returns how many messages that were. Raises EngineError, Conflict when the window changed.
    """
    with tenant_scope(tenant_id):
        window = Window.objects.select_related("session__space", "rolling").get(id=window_id)
        folded, uncovered = _summary(window), _uncovered(window)
        if not uncovered:
            _let_go(window, now)
            return 0
    text = _fold(folded, uncovered, window.context_limit, aid)
    with tenant_scope(tenant_id):
        if not _moved(window, hidden=0):
            raise Conflict(gettext("the window changed while it was folded"), code="window_busy")
        _sum_up(window, text, uncovered, aid, now)
    return len(uncovered)


def _let_go(window: Window, now: datetime) -> None:
    """A stale summary of which nothing is left to tell ends."""
    row = window.rolling
    if row is None or not row.stale or row.retired_at is not None:
        return
    changes = ChangeSet(
        window.session.space,
        EvolutionEvent.Kind.DIGEST,
        "pipeline",
        now,
        "nothing is left of what it told",
        trigger="window",
    )
    before = values_of(row)
    row.retired_at, row.stale = now, False
    row.version += 1
    row.save(update_fields=["retired_at", "stale", "version"])
    changes.changed(row, before)
    changes.save()
    Window.objects.filter(id=window.id).update(rolling=None)


def _read(session: Session, limit: int, aid: Help, agent: str) -> _View:
    with tenant_scope(session.tenant_id):
        window, _ = Window.objects.select_related("session__space", "rolling").get_or_create(
            session=session,
            defaults={
                "tenant_id": session.tenant_id,
                "space_id": session.space_id,
                "context_limit": limit,
            },
        )
        said = Turn.objects.filter(session=session, seq__gte=window.head_seq)
        turns = list(said.exclude(state=Turn.State.REDACTED).order_by("seq"))
        uncovered, blocks = _uncovered(window), in_front_of(window.session.space, agent)
    tokens = aid.count([turn.text for turn in turns]) if turns else []
    queue = [_queued(turn, size) for turn, size in zip(turns, tokens, strict=True)]
    return _View(window, queue, turns, _summary(window), uncovered, blocks)


def _summary(window: Window) -> str:
    row = window.rolling
    return row.text if row is not None and not row.stale and row.retired_at is None else ""


def _uncovered(window: Window) -> list[Turn]:
    """Turns that have left the window and that its summary does not tell of, oldest first."""
    left = Turn.objects.filter(session_id=window.session_id, seq__lt=window.head_seq)
    left = left.exclude(state=Turn.State.REDACTED).order_by("-seq")
    lost = window.rolling_id is not None and not _summary(window)
    return list(left if lost else left[: window.hidden])[::-1]


def _queued(turn: Turn, tokens: int) -> Queued:
    calls = turn.metadata.get("tool_calls")
    made = [str(each.get("id", "")) for each in calls or [] if isinstance(each, dict)]
    answers = str(turn.metadata.get("tool_call_id", "")) if turn.role == Turn.Role.TOOL else ""
    return Queued(turn.seq, turn.role, turn.text, tokens, tuple(filter(None, made)), answers)


def _fixed(head: Sequence[str], view: _View) -> list[str]:
    """What stands before the queue whatever is said."""
    texts = [*head, *map(shown_block, view.blocks)]
    texts += [f"{SUMMARY}{view.folded}"] if view.folded else []
    hidden = len(view.uncovered)
    return [*texts, *([HIDDEN.format(count=hidden)] if hidden else [])]


def shown_block(block: CoreBlock) -> str:
    """A core block as an agent sees it, with how full it is."""
    locked = ", read-only" if block.read_only or block.generated else ""
    about = f" {block.description}" if block.description else ""
    size = f"{len(block.value)} of {block.char_limit} characters{locked}"
    return f"[memory block {block.label}: {size}.{about}]\n{block.value}"


def _composed(
    view: _View, fixed: list[str], room: int, aid: Help, warn: bool, evicted: int, limit: int
) -> Composed:
    shown = fitted(view.queue, room, aid.count)
    messages = [AgentMessage("system", text) for text in fixed]
    messages += [_message(each) for each in shown]
    if warn:
        messages.insert(max(len(fixed), len(messages) - 1), AgentMessage("system", WARNING))
    used = sum(each.tokens for each in shown) + sum(aid.count(fixed))
    return Composed(messages, used, limit, warn, evicted, len(view.uncovered), view.blocks)


def _message(queued: Queued) -> AgentMessage:
    role: Any = queued.role
    return AgentMessage(role, queued.text, call_id=queued.answers)


def _alerted(window: Window) -> bool:
    """Note that the one warning of this pressure period is given. False: somebody else did."""
    with tenant_scope(window.tenant_id):
        return _moved(window, alerted=True)


def _moved(window: Window, **values: Any) -> bool:
    """Change the window if nobody else has since it was read."""
    rows = Window.objects.filter(id=window.id, version=window.version)
    return rows.update(version=window.version + 1, **values) == 1


def _flush(view: _View, gone: int, limit: int, aid: Help, now: datetime) -> bool:
    """Let the oldest messages leave, and sum them up. False when the window changed meanwhile."""
    window, leaving = view.window, view.turns[:gone]
    said = [*view.uncovered, *leaving]
    try:
        text = _fold(view.folded, said, limit, aid, most=INLINE_PORTIONS)
    except EngineError:
        text = ""
    head = view.turns[gone].seq if gone < len(view.turns) else leaving[-1].seq + 1
    hidden = 0 if text else len(said)
    with tenant_scope(window.tenant_id):
        if not _moved(window, head_seq=head, hidden=hidden, alerted=False, context_limit=limit):
            return False
        if text:
            _sum_up(window, text, said, aid, now)
        else:
            aid.later(window, now)
    return True


def _fold(folded: str, said: Sequence[Turn], limit: int, aid: Help, most: int | None = None) -> str:
    """The summary renewed by `said`, in as many calls as their length takes."""
    parts = [part for at, turn in enumerate(said) for part in _parts(at, turn, limit, aid)]
    runs = portions(aid.count([part.text for part in parts]), limit)
    if most is not None and len(runs) > most:
        raise EngineError(
            gettext("too much to sum up while somebody waits"), code="too_much_to_fold"
        )
    for run in runs:
        folded = aid.fold(folded, [parts[at] for at in run]).strip()
    return folded


def _parts(at: int, turn: Turn, limit: int, aid: Help) -> list[Utterance]:
    """The turn as an engine reads it; one that is longer than the window, in pieces."""
    role: Any = turn.role
    number = max(1, ceil(aid.count([turn.text])[0] / limit))
    size = ceil(len(turn.text) / number)
    return [
        Utterance(
            f"u{at + 1}", turn.speaker, role, turn.text[start : start + size], turn.occurred_at
        )
        for start in range(0, len(turn.text), size)
    ]


def _sum_up(window: Window, text: str, said: Sequence[Turn], aid: Help, now: datetime) -> None:
    """Carry the window's summary on; made of the turns it tells of (I2)."""
    space = window.session.space
    changes = ChangeSet(
        space,
        EvolutionEvent.Kind.DIGEST,
        "pipeline",
        now,
        "left the window",
        engine=aid.engine,
        trigger="window",
        policy_version=aid.policy_version,
    )
    row, sources = window.rolling, [Source(turn.id) for turn in said]
    if row is None or row.retired_at is not None:
        row = _first_summary(window, said, aid)
        row.text = text
        row.save(force_insert=True)
        changes.created(row, sources)
        Window.objects.filter(id=window.id).update(rolling=row)
    else:
        before = values_of(row)
        row.text, row.stale, row.engine = text, False, aid.engine
        row.to_seq = max(row.to_seq, said[-1].seq)
        row.to_at = max(row.to_at, *(turn.occurred_at for turn in said))
        row.version += 1
        row.save(update_fields=["text", "stale", "engine", "to_seq", "to_at", "version"])
        changes.changed(row, before)
        changes.supported(row, sources)
    changes.save()


def _first_summary(window: Window, said: Sequence[Turn], aid: Help) -> Episode:
    times = [turn.occurred_at for turn in said]
    return Episode(
        tenant_id=window.tenant_id,
        space_id=window.space_id,
        kind=Episode.Kind.ROLLING,
        session=window.session,
        from_seq=said[0].seq,
        to_seq=said[-1].seq,
        from_at=min(times),
        to_at=max(times),
        engine=aid.engine,
    )
