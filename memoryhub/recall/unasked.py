"""What a policy hands over whatever is asked, by section: core memory, the window, the shelf, the
latest exchanges and the digest of everything."""

from __future__ import annotations

from collections.abc import Collection
from uuid import UUID

from django.db.models import Q

from memoryhub.dialogues.messages import normalise_text
from memoryhub.dialogues.models import IS_INNER, Session, Turn
from memoryhub.recall.candidates import channels as finding
from memoryhub.recall.candidates.channels import at_hand
from memoryhub.recall.candidates.channels.hits import ChannelHit
from memoryhub.recall.question.prepare import PreparedQuestion
from memoryhub.recall.render.prompt import choose_prompt_words
from memoryhub.recall.render.results import MemoryItem
from memoryhub.recall.retrieve import load_items_of_hits
from notes.episodes.store import build_live_q, find_rolling_summary, load_rolling_text
from notes.models import Episode
from personas.models import Window

_MAX_TURNS = 200  # of a window
_IS_TOOL_STEP = IS_INNER & ~Q(role=Turn.Role.SYSTEM)
# That they are shown says nothing about their worth.
UNRATED_SECTIONS = frozenset({"core", "window", "stm"})


def load_unasked_items(
    ask: PreparedQuestion, agent: str, seen: Collection[str] = ()
) -> dict[str, list[MemoryItem]]:
    """By section, as far as its channel is on. `seen`: what whoever asks has in front of them
    already, so that no turn repeats it, nor a tool's call. Call inside the tenant's scope."""
    on = ask.policy.recall.channels
    own = [channel for channel in on if channel in ("shelf", "stm")]
    hits = finding.find_hits_by_channel(ask, own)
    if "episodes" in on and ask.visibility.as_of is None:
        hits["episodes"] = _find_global_digest(ask)
    for section, carried in _find_window_before(ask).items():
        hits[section] = [*carried, *hits.get(section, ())]
    loaded = load_items_of_hits([hit for some in hits.values() for hit in some])
    items = {item.id: item for item in loaded}
    ids = {name: dict.fromkeys(hit.id for hit in some) for name, some in hits.items()}
    parts = {name: [items[at] for at in some if at in items] for name, some in ids.items()}
    if "core" in on:
        parts["core"] = at_hand.load_core_items(ask, agent)
    window = _load_window_items(ask, bool(seen))
    if window:
        parts["window"] = window
        there = {item.id for item in window}
        parts["stm"] = [item for item in parts.get("stm", ()) if item.id not in there]
    known = {normalise_text(text) for text in seen}
    parts = {name: _leave_out_seen(items, known) for name, items in parts.items()}
    return {name: items for name, items in parts.items() if items}


def _leave_out_seen(items: list[MemoryItem], known: Collection[str]) -> list[MemoryItem]:
    return [i for i in items if i.kind != "turn" or normalise_text(i.text) not in known]


def _find_global_digest(ask: PreparedQuestion) -> list[ChannelHit]:
    """The digest of everything is handed over whole, alike or not (spec B9)."""
    rows = Episode.objects.filter(build_live_q(), space=ask.space, kind=Episode.Kind.GLOBAL)
    newest = rows.order_by("-to_at").values_list("id", flat=True)[:1]
    return [ChannelHit("episode", at, 1.0, "all there is, in brief") for at in newest]


def _load_window_items(ask: PreparedQuestion, is_carried: bool) -> list[MemoryItem]:
    """The session's own window: the summary so far and the turns behind it. Of a session whose
    window nobody has opened, the latest turns, where the policy keeps windows of all. `is_carried`:
    who asks has brought the calls of its tools along."""
    mode = ask.policy.window.mode
    if ask.session_id is None or mode == "off":
        return []
    window = Window.objects.filter(session_id=ask.session_id).select_related("session").first()
    if window is None and mode != "on":
        return []
    left_out = _IS_TOOL_STEP if is_carried else Q()
    queue = _find_queue(ask.session_id, window, left_out)
    said = load_items_of_hits([ChannelHit("turn", at, 1.0, "in the window") for at in queue])
    summary = load_rolling_text(ask.space, window.session) if window else ""
    if window is None or not summary:
        return said
    text = f"{choose_prompt_words([summary]).so_far} {summary}"
    return [MemoryItem("core", window.id, text, 1.0, {}, ask.visibility.at), *said]


def _find_queue(session_id: UUID, window: Window | None, left_out: Q) -> list[UUID]:
    """The turns of a window in their order, the newest if there are many."""
    turns = Turn.objects.filter(session_id=session_id, seq__gte=window.head_seq if window else 0)
    turns = turns.exclude(state=Turn.State.REDACTED).exclude(left_out)
    return list(turns.order_by("-seq").values_list("id", flat=True)[:_MAX_TURNS])[::-1]


def _find_window_before(ask: PreparedQuestion) -> dict[str, list[ChannelHit]]:
    """MemGPT's agent has one window for all that is said, and sessions have one each: who asks
    outside of them, or in one that has not filled its own yet, goes on from the one spoken in last.
    Its summary stands among the summaries, its queue as the latest exchanges."""
    policy = ask.policy
    kept = policy.window.mode == "on" and "window" in policy.recall.channels
    if not kept or ask.visibility.as_of is not None:
        return {}
    others = Window.objects.filter(space=ask.space).select_related("session")
    if ask.session_id is not None:
        if others.filter(session_id=ask.session_id, head_seq__gt=0).exists():
            return {}
        others = others.exclude(session_id=ask.session_id)
    last = others.order_by("-session__ended_at", "-session__ordinal").first()
    if last is None:
        return {}
    # What another session's agent did, and was told, in its window is its own affair.
    queue = _find_queue(last.session_id, last, IS_INNER)
    return {
        "episodes": _find_window_summary(ask, last.session),
        "stm": [ChannelHit("turn", at, 1.0, "said last") for at in queue],
    }


def _find_window_summary(ask: PreparedQuestion, session: Session) -> list[ChannelHit]:
    row = find_rolling_summary(ask.space, session)
    if row is None or row.stale:
        return []
    return [ChannelHit("episode", row.id, 1.0, "what was said before, in brief")]
