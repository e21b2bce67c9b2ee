"""What of a conversation leaves the window, and when. Pure (MemGPT, spec §3.2, §3.6).

Tokens are counted, not messages (G3); a cut never separates a tool's call from its result or an
exchange from itself, and there is always an answer (G2, G4).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from math import ceil
from typing import Any
from uuid import UUID

from django.utils.translation import gettext

from memoryhub.dialogues.messages import Message
from memoryhub.dialogues.models import Session, Turn
from memoryhub.dialogues.services import append_inner_turns
from memoryhub.dialogues.tool_calls import (
    ToolCall,
    get_answered_call,
    list_tool_calls,
    strip_calls,
)
from memoryhub.engines.types import AgentMessage, Utterance
from memoryhub.errors import Conflict, EngineError
from memoryhub.policies.schema import Policy, WindowPolicy
from memoryhub.tenants.scope import tenant_scope
from memoryhub.tenants.services import lock_space
from notes.history.change_set import ChangeSet, TurnEvidence
from notes.models import Episode, EvolutionEvent
from personas.blocks import load_visible_blocks
from personas.models import CoreBlock, Window

TokenCounter = Callable[[Sequence[str]], list[int]]
# Of a message too long to be shown: this share of what is left of it is its beginning.
HEAD_SHARE = 2 / 3
_MIN_MESSAGE_TOKENS = 8  # tokens a message is never cut below


@dataclass(frozen=True, slots=True)
class QueuedMessage:
    """A message in the window. `calls` are the tool calls it makes, `answers` the id of the one it
    gives the result of; a tool's result without an id belongs to the message before it."""

    seq: int
    role: str
    text: str
    tokens: int
    calls: tuple[ToolCall, ...] = ()
    answers: str = ""


def is_under_pressure(tokens: int, limit: int, share: float) -> bool:
    """Whether `tokens` have reached this share of the window."""
    return tokens >= round(limit * share, 6)


def find_cut(queue: Sequence[QueuedMessage], share: float, keep_last: int, room: int) -> int:
    """How many of the oldest messages leave: at least `share` of the queue's tokens, and enough
    for the rest to fit into `room` tokens, but never one of the last `keep_last`.

    The cut moves on to the next safe place, else back to the last one before it. Whole exchanges
    leave where that is possible at all; 0 when nothing may.
    """
    total = sum(each.tokens for each in queue)
    wanted = _count_reaching(queue, max(ceil(total * share), total - room))
    last = max(0, len(queue) - keep_last)
    safe = _list_safe_cuts(queue, last)
    # In front of a user's message an exchange begins.
    for places in ([at for at in safe if queue[at].role == "user"], safe):
        after = [at for at in places if at >= wanted]
        if after or places:
            return min(after) if after else max(places)
    return 0


def _count_reaching(queue: Sequence[QueuedMessage], tokens: int) -> int:
    """The smallest number of messages with so many tokens together."""
    gone = 0
    for at, each in enumerate(queue):
        if gone >= tokens:
            return at
        gone += each.tokens
    return len(queue)


def _list_safe_cuts(queue: Sequence[QueuedMessage], last: int) -> list[int]:
    """Places up to `last` that no tool call spans."""
    answered = {each.answers: at for at, each in enumerate(queue) if each.answers}
    reach, found = 0, []
    for at in range(1, min(last, len(queue) - 1) + 1):
        reach = max([reach, *(answered.get(call.id, 0) for call in queue[at - 1].calls)])
        if reach < at and queue[at].role != "tool":
            found.append(at)
    return found


def fit_messages(
    queue: Sequence[QueuedMessage], room: int, count: TokenCounter
) -> list[QueuedMessage]:
    """The messages as shown: those too long for the window by head and tail (G8), so that all
    fit into `room` tokens together, as far as anything does."""
    shown, cap = list(queue), max(_MIN_MESSAGE_TOKENS, room // 2)
    while True:
        shown = [_fit_message(each, cap, count) for each in shown]
        if sum(each.tokens for each in shown) <= room or cap <= _MIN_MESSAGE_TOKENS:
            return shown
        cap //= 2


def _fit_message(message: QueuedMessage, cap: int, count: TokenCounter) -> QueuedMessage:
    if message.tokens <= cap:
        return message
    text = shorten_text(message.text, cap / message.tokens)
    return replace(message, text=text, tokens=count([text])[0])


def shorten_text(text: str, share: float) -> str:
    """About `share` of a text: its head and its tail, and how much is missing in between."""
    left = int(len(text) * share * 0.8)
    head = int(left * HEAD_SHARE)
    missing = len(text) - left
    return f"{text[:head]} [… {missing} characters left out …] {text[len(text) - (left - head) :]}"


def split_into_portions(tokens: Iterable[int], most: int) -> list[list[int]]:
    """Places of texts of so many tokens, in runs of at most `most`: what is folded in one call."""
    runs: list[list[int]] = []
    size = most + 1
    for at, each in enumerate(tokens):
        if size + each > most:
            runs.append([])
            size = 0
        runs[-1].append(at)
        size += each
    return runs


# The window of a session: what its agent sees, warned once, flushed in time (MemGPT, spec §3).
#
# No model is asked inside a transaction: what is read is checked again before anything is written.
# Nothing is ever lost by a flush: turns stay where they were, and tools find them.


FoldSummary = Callable[[str, Sequence[Utterance]], str]
MAX_TRIES = 3
# More than this is not folded while somebody waits, but by a job.
MAX_INLINE_PORTIONS = 4
WARNING_TEXT = (
    "Your context is nearly full: the oldest messages will soon leave it. Save now what must not"
    " be lost: in a core block what is always needed, else in archival memory."
)
HIDDEN_TEXT = (
    "{count} earlier messages are neither in sight nor in the summary: recall_search finds them."
)
SUMMARY_PREFIX = "What was said before, in brief: "


@dataclass(frozen=True, slots=True)
class WindowHelpers:
    """What a window needs from elsewhere. `fold` asks a model for a new summary; `plan_retry` plans
    another try, in the transaction that noted the failure. `engine` stamps what is written."""

    count: TokenCounter
    fold: FoldSummary
    plan_retry: Callable[[Window, datetime], None]
    engine: str = ""
    policy_version: str = ""


@dataclass(frozen=True, slots=True)
class ComposedWindow:
    """What to send to the agent, and what happened on the way: whether it was `warned` just now,
    how many messages were `evicted`. `hidden` ones are in neither the queue nor the summary."""

    window: Window
    messages: list[AgentMessage]
    summary: str
    tokens: int
    limit: int
    warned: bool
    evicted: int
    hidden: int
    blocks: list[CoreBlock]


@dataclass(frozen=True, slots=True)
class _WindowView:
    """A window as read."""

    window: Window
    queue: list[QueuedMessage]
    turns: list[Turn]
    summary: str  # the summary as it stands; "" while it is stale
    uncovered: list[Turn]  # turns that have left and that no summary covers
    blocks: list[CoreBlock]


def compose_agent_context(
    session: Session,
    policy: Policy,
    aid: WindowHelpers,
    now: datetime,
    *,
    head: Sequence[str] = (),
    agent: str = "",
) -> ComposedWindow:
    """The agent's context for a session: `head`, core blocks, summary, queue. Opens its own scope.

    Warns once a pressure period (MG1, G9), flushes when full (MG2) and never raises for a model
    that fails: then the window says how much is hidden, and a job tries again (MG10).
    """
    limits = policy.window
    evicted, warned = 0, False
    for _ in range(MAX_TRIES):
        view = _read_window(session, limits.context_limit, aid.count, agent)
        fixed = _build_fixed_texts(head, view)
        load = _measure_load(view, fixed, limits, aid.count)
        gone = 0 if evicted or warned else load.gone
        if gone:
            evicted = gone if _flush_messages(view, gone, limits.context_limit, aid, now) else 0
        elif evicted or warned or not load.needs_warning:
            return _build_composed(view, fixed, load, aid.count, warned, evicted)
        else:
            warned = _warn_agent(view.window, now)
    raise Conflict(gettext("the window kept changing while it was composed"), code="window_busy")


def read_agent_context(
    session: Session,
    policy: Policy,
    count: TokenCounter,
    *,
    head: Sequence[str] = (),
    agent: str = "",
) -> ComposedWindow:
    """The same as it stands: nobody is warned, and nothing leaves. Opens its own scope."""
    view = _read_window(session, policy.window.context_limit, count, agent)
    fixed = _build_fixed_texts(head, view)
    return _build_composed(view, fixed, _measure_load(view, fixed, policy.window, count), count)


def check_pressure(session: Session, policy: Policy, count: TokenCounter, now: datetime) -> bool:
    """Whether the window is to be flushed. Short of that, gives the warning that is due. Asks no
    model. Opens its own scope."""
    view = _read_window(session, policy.window.context_limit, count, "")
    load = _measure_load(view, _build_fixed_texts((), view), policy.window, count)
    if not load.gone and load.needs_warning:
        _warn_agent(view.window, now)
    return bool(load.gone)


@dataclass(frozen=True, slots=True)
class _WindowLoad:
    """How full a window is. `room`: tokens that its queue may have; `gone`: how many messages are
    to leave, 0 while it is not full."""

    limit: int
    room: int
    gone: int
    needs_warning: bool


def _measure_load(
    view: _WindowView, fixed: Sequence[str], limits: WindowPolicy, count: TokenCounter
) -> _WindowLoad:
    limit = limits.context_limit
    room = limit - sum(count(fixed))
    tokens = limit - room + sum(each.tokens for each in view.queue)
    full = is_under_pressure(tokens, limit, limits.flush)
    unwarned = not view.window.alerted and view.window.session.space.paused_at is None
    return _WindowLoad(
        limit,
        room,
        find_cut(view.queue, limits.evict, limits.keep_last, room) if full else 0,
        unwarned and is_under_pressure(tokens, limit, limits.warn),
    )


def refold_window(tenant_id: UUID, window_id: UUID, aid: WindowHelpers, now: datetime) -> int:
    """Bring into the summary what an earlier flush could not, and all of it if it went stale.

    Returns how many messages that were. Raises EngineError, Conflict when the window changed.
    """
    with tenant_scope(tenant_id):
        window = Window.objects.select_related("session__space", "rolling").get(id=window_id)
        folded, uncovered = _get_summary_text(window), _load_uncovered_turns(window)
        if not uncovered:
            _retire_stale_summary(window, now)
            return 0
    text = _fold_turns(folded, uncovered, window.context_limit, aid)
    with tenant_scope(tenant_id):
        if not _update_if_unchanged(window, hidden=0):
            raise Conflict(gettext("the window changed while it was folded"), code="window_busy")
        _save_summary(window, text, uncovered, aid, now)
    return len(uncovered)


def _retire_stale_summary(window: Window, now: datetime) -> None:
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
    changes.update_row(row, retired_at=now, stale=False)
    changes.save()
    Window.objects.filter(id=window.id).update(rolling=None)


def open_window(session: Session, limit: int, agent: str = "") -> Window:
    """The session's window, made where there is none. Call inside the tenant's scope."""
    window, _ = Window.objects.select_related("session__space", "rolling").get_or_create(
        session=session,
        defaults={
            "tenant_id": session.tenant_id,
            "space_id": session.space_id,
            "context_limit": limit,
            "agent": agent,
        },
    )
    return window


def _read_window(session: Session, limit: int, count: TokenCounter, agent: str) -> _WindowView:
    with tenant_scope(session.tenant_id):
        window = open_window(session, limit, agent)
        said = Turn.objects.filter(session=session, seq__gte=window.head_seq)
        turns = list(said.exclude(state=Turn.State.REDACTED).order_by("seq"))
        uncovered, blocks = (
            _load_uncovered_turns(window),
            load_visible_blocks(window.session.space, agent or window.agent),
        )
    tokens = count([turn.text for turn in turns]) if turns else []
    queue = [_build_queued_message(turn, size) for turn, size in zip(turns, tokens, strict=True)]
    return _WindowView(window, queue, turns, _get_summary_text(window), uncovered, blocks)


def _get_summary_text(window: Window) -> str:
    row = window.rolling
    return row.text if row is not None and not row.stale and row.retired_at is None else ""


def _load_uncovered_turns(window: Window) -> list[Turn]:
    """Turns that have left the window and that its summary does not tell of, oldest first."""
    left = Turn.objects.filter(session_id=window.session_id, seq__lt=window.head_seq)
    left = left.exclude(state=Turn.State.REDACTED).order_by("-seq")
    lost = window.rolling_id is not None and not _get_summary_text(window)
    return list(left if lost else left[: window.hidden])[::-1]


def _build_queued_message(turn: Turn, tokens: int) -> QueuedMessage:
    calls = tuple(call for call in list_tool_calls(turn) if call.id)
    return QueuedMessage(turn.seq, turn.role, turn.words, tokens, calls, get_answered_call(turn))


def _build_fixed_texts(head: Sequence[str], view: _WindowView) -> list[str]:
    """What stands before the queue whatever is said."""
    texts = [*head, *map(render_block, view.blocks)]
    texts += [f"{SUMMARY_PREFIX}{view.summary}"] if view.summary else []
    hidden = len(view.uncovered)
    return [*texts, *([HIDDEN_TEXT.format(count=hidden)] if hidden else [])]


def render_block(block: CoreBlock) -> str:
    """A core block as an agent sees it, with how full it is."""
    locked = ", read-only" if block.read_only or block.generated else ""
    about = f" {block.description}" if block.description else ""
    size = f"{len(block.value)} of {block.char_limit} characters{locked}"
    return f"[memory block {block.label}: {size}.{about}]\n{block.value}"


def _build_composed(
    view: _WindowView,
    fixed: list[str],
    load: _WindowLoad,
    count: TokenCounter,
    warned: bool = False,
    evicted: int = 0,
) -> ComposedWindow:
    shown = fit_messages(view.queue, load.room, count)
    messages = [AgentMessage("system", text) for text in fixed]
    messages += [made for each in shown for made in _build_agent_messages(each)]
    return ComposedWindow(
        view.window,
        messages,
        view.summary,
        sum(each.tokens for each in shown) + load.limit - load.room,
        load.limit,
        warned,
        evicted,
        len(view.uncovered),
        view.blocks,
    )


def _build_agent_messages(queued: QueuedMessage) -> list[AgentMessage]:
    """As an agent reads it: one message a call. A call whose text was cut has its words instead of
    its arguments."""
    role: Any = queued.role
    if not queued.calls:
        return [AgentMessage(role, queued.text, call_id=queued.answers)]
    said = strip_calls(queued.text, queued.calls)
    cut = said == queued.text.strip()
    return [
        AgentMessage(
            role, said if not at else "", call.id, call.name, "{}" if cut else call.arguments
        )
        for at, call in enumerate(queued.calls)
    ]


def _warn_agent(window: Window, now: datetime) -> bool:
    """Put the one warning of this pressure period into the queue. False: somebody else did, or the
    window changed."""
    with tenant_scope(window.tenant_id):
        lock_space(window.session.space)
        if not _update_if_unchanged(window, alerted=True):
            return False
        warning = Message("system", WARNING_TEXT, external_id=f"warning-{window.version}")
        append_inner_turns(window.session, [warning], received=now)
    return True


def _update_if_unchanged(window: Window, **values: Any) -> bool:
    """Change the window if nobody else has since it was read."""
    rows = Window.objects.filter(id=window.id, version=window.version)
    return rows.update(version=window.version + 1, **values) == 1


def _flush_messages(
    view: _WindowView, gone: int, limit: int, aid: WindowHelpers, now: datetime
) -> bool:
    """Let the oldest messages leave, and sum them up. False when the window changed meanwhile."""
    window, leaving = view.window, view.turns[:gone]
    said = [*view.uncovered, *leaving]
    try:
        text = _fold_turns(view.summary, said, limit, aid, most=MAX_INLINE_PORTIONS)
    except EngineError:
        text = ""
    head = view.turns[gone].seq if gone < len(view.turns) else leaving[-1].seq + 1
    hidden = 0 if text else len(said)
    with tenant_scope(window.tenant_id):
        if not _update_if_unchanged(
            window, head_seq=head, hidden=hidden, alerted=False, context_limit=limit
        ):
            return False
        if text:
            _save_summary(window, text, said, aid, now)
        else:
            aid.plan_retry(window, now)
    return True


def _fold_turns(
    folded: str, said: Sequence[Turn], limit: int, aid: WindowHelpers, most: int | None = None
) -> str:
    """The summary renewed by `said`, in as many calls as their length takes."""
    parts = [part for at, turn in enumerate(said) for part in _split_turn(at, turn, limit, aid)]
    runs = split_into_portions(aid.count([part.text for part in parts]), limit)
    if most is not None and len(runs) > most:
        raise EngineError(
            gettext("too much to sum up while somebody waits"), code="too_much_to_fold"
        )
    for run in runs:
        folded = aid.fold(folded, [parts[at] for at in run]).strip()
    return folded


def _split_turn(at: int, turn: Turn, limit: int, aid: WindowHelpers) -> list[Utterance]:
    """The turn as an engine reads it; one that is longer than the window, in pieces."""
    role: Any = turn.role
    number = max(1, ceil(aid.count([turn.text])[0] / limit))
    size = ceil(len(turn.text) / number)
    return [
        Utterance(
            f"u{at + 1}", turn.speaker, role, turn.words[start : start + size], turn.occurred_at
        )
        for start in range(0, len(turn.text), size)
    ]


def _save_summary(
    window: Window, text: str, said: Sequence[Turn], aid: WindowHelpers, now: datetime
) -> None:
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
    row, sources = window.rolling, [TurnEvidence(turn.id) for turn in said]
    if row is None or row.retired_at is not None:
        row = _build_first_summary(window, said, aid)
        row.text = text
        row.save(force_insert=True)
        changes.record_creation(row, sources)
        Window.objects.filter(id=window.id).update(rolling=row)
    else:
        changes.update_row(
            row,
            text=text,
            stale=False,
            engine=aid.engine,
            to_seq=max(row.to_seq, said[-1].seq),
            to_at=max(row.to_at, *(turn.occurred_at for turn in said)),
        )
        changes.record_support(row, sources)
    changes.save()


def _build_first_summary(window: Window, said: Sequence[Turn], aid: WindowHelpers) -> Episode:
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
