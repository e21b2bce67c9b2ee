"""Summaries of closed spans: topics, days, sessions, everything (MemoryBank, AMA)."""

from __future__ import annotations

from memoryhub.recall.asking import Ask
from memoryhub.recall.channels.hits import Hit
from memoryhub.recall.channels.similar import hits


def find(ask: Ask) -> list[Hit]:
    return hits(ask, "episode", ask.k)
