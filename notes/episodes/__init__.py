"""Summaries of spans: where a span closes, what an episode covers, how it is stored."""
