"""Summaries of closed spans: topics, days, sessions, everything (MemoryBank, AMA)."""

from __future__ import annotations

from memoryhub.recall.candidates.channels.hits import ChannelHit
from memoryhub.recall.candidates.channels.similar import find_similar_hits
from memoryhub.recall.question.prepare import PreparedQuestion


def find_hits(ask: PreparedQuestion) -> list[ChannelHit]:
    return find_similar_hits(ask, "episode", ask.k)
