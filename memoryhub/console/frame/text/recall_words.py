"""What a search calls its channels, stages, options and the parts of a score, in words and
colours."""

from __future__ import annotations

from django.utils.translation import gettext
from django.utils.translation import gettext_noop as _

# Where a question looks.
_CHANNELS = {
    "core": _("core memory"),
    "episodes": _("episodes"),
    "facts": _("facts"),
    "graph": _("graph"),
    "notes": _("notes"),
    "pages": _("topic exchanges"),
    "raw": _("messages"),
    "shelf": _("shelf"),
    "stm": _("latest exchanges"),
    "window": _("agent's window"),
}
# What raises or lowers a score beside the channels themselves.
_PARTS = {
    "alone": _("words alone"),
    "answers": _("replies to such a question"),
    "asked": _("tells what is asked for"),
    "asks": _("is a question"),
    "assistant": _("said by the assistant"),
    "date": _("date"),
    "dense": _("meaning"),
    "early": _("said early"),
    "fact": _("is a fact"),
    "kept": _("faded"),
    "length": _("length"),
    "lexical": _("words"),
    "note": _("is a note"),
    "others": _("about somebody else"),
    "predicate": _("predicate"),
    "rare": _("rare words"),
    "recent": _("said recently"),
    "rerank": _("reranking"),
    "source": _("same source"),
    "speaker": _("speaker"),
    "value": _("has what is asked for"),
    "when": _("says when"),
}
# What is timed.
_STAGES = {
    "always": _("always included"),
    "answer": _("answering"),
    "candidates": _("finding candidates"),
    "embed": _("embedding"),
    "hydrate": _("reading memories"),
    "judge": _("judging"),
    "pack": _("packing"),
    "rank": _("ranking"),
    "rerank": _("reranking"),
    "route": _("understanding the question"),
}
# What a question may ask for.
_OPTIONS = {
    "agent": _("agent"),
    "as_of": _("as of"),
    "budget_tokens": _("token budget"),
    "channels": _("channels"),
    "deep": _("deep search"),
    "include_past": _("including the past"),
    "kinds": _("kinds"),
    "limit": _("limit"),
    "policy": _("policy"),
    "select": _("selection"),
}
# How channels are combined.
_COMBINATIONS = {
    "fixed": _("one after the other"),
    "fused": _("ranked together"),
    "routed": _("only the fitting one"),
}
_WORDS = _CHANNELS | _PARTS | _STAGES | _OPTIONS | _COMBINATIONS


def format_recall_term(name: str) -> str:
    """A channel, stage, option or part of a score; one that is new here by its own name."""
    return gettext(_WORDS[name]) if name in _WORDS else name.replace("_", " ")


# Channels and signals by the tone of their piece of a bar, from 1 on.
_TONES = (
    ("dense", "facts"),
    ("lexical", "raw", "rare"),
    ("speaker", "notes"),
    ("date", "graph"),
    ("predicate", "pages"),
    ("source", "episodes"),
)
_CHANNEL_TONES = {name: tone for tone, names in enumerate(_TONES, 1) for name in names}


def get_score_tone(name: str) -> int:
    """The colour of a part's piece of the bar."""
    return _CHANNEL_TONES.get(name, 7)
