"""Summaries of spans: segments by topic, episodes by time."""
