"""Summaries of spans of time: their list, and one with its whole life."""
