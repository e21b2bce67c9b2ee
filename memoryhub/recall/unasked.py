"""What a policy hands over whatever is asked, by section: core memory, the window, the shelf, the
latest exchanges and the digest of everything."""

from __future__ import annotations

from memoryhub.dialogues.models import Turn
from memoryhub.recall.candidates import channels as finding
from memoryhub.recall.candidates.channels import at_hand
from memoryhub.recall.candidates.channels.hits import ChannelHit
from memoryhub.recall.question.prepare import PreparedQuestion
from memoryhub.recall.render.prompt import choose_prompt_words
from memoryhub.recall.render.results import MemoryItem
from memoryhub.recall.retrieve import load_items_of_hits
from notes.episodes.store import build_live_q, load_rolling_text
from notes.models import Episode
from personas.models import Window

_MAX_TURNS = 200  # of a window
# That they are shown says nothing about their worth.
UNRATED_SECTIONS = frozenset({"core", "window", "stm"})


def load_unasked_items(ask: PreparedQuestion, agent: str) -> dict[str, list[MemoryItem]]:
    """By section, as far as its channel is on. Call inside the tenant's scope."""
    on = ask.policy.recall.channels
    own = [channel for channel in on if channel in ("shelf", "stm")]
    hits = finding.find_hits_by_channel(ask, own)
    if "episodes" in on and ask.visibility.as_of is None:
        hits["episodes"] = _find_global_digest(ask)
    loaded = load_items_of_hits([hit for some in hits.values() for hit in some])
    items = {item.id: item for item in loaded}
    parts = {name: [items[h.id] for h in some if h.id in items] for name, some in hits.items()}
    if "core" in on:
        parts["core"] = at_hand.load_core_items(ask, agent)
    window = _load_window_items(ask)
    if window:
        parts["window"] = window
        there = {item.id for item in window}
        parts["stm"] = [item for item in parts.get("stm", ()) if item.id not in there]
    return {name: items for name, items in parts.items() if items}


def _find_global_digest(ask: PreparedQuestion) -> list[ChannelHit]:
    """The digest of everything is handed over whole, alike or not (spec B9)."""
    rows = Episode.objects.filter(build_live_q(), space=ask.space, kind=Episode.Kind.GLOBAL)
    newest = rows.order_by("-to_at").values_list("id", flat=True)[:1]
    return [ChannelHit("episode", at, 1.0, "all there is, in brief") for at in newest]


def _load_window_items(ask: PreparedQuestion) -> list[MemoryItem]:
    """The session's own window: the summary so far and the turns behind it. Of a session whose
    window nobody has opened, the latest turns, where the policy keeps windows of all."""
    mode = ask.policy.window.mode
    if ask.session_id is None or mode == "off":
        return []
    window = Window.objects.filter(session_id=ask.session_id).select_related("session").first()
    if window is None and mode != "on":
        return []
    turns = Turn.objects.filter(
        session_id=ask.session_id, seq__gte=window.head_seq if window else 0
    )
    newest = turns.exclude(state=Turn.State.REDACTED).order_by("-seq")
    ids = list(newest.values_list("id", flat=True)[:_MAX_TURNS])
    said = load_items_of_hits(
        [ChannelHit("turn", at, 1.0, "in the window") for at in reversed(ids)]
    )
    summary = load_rolling_text(ask.space, window.session) if window else ""
    if window is None or not summary:
        return said
    text = f"{choose_prompt_words([summary]).so_far} {summary}"
    return [MemoryItem("core", window.id, text, 1.0, {}, ask.visibility.at), *said]
