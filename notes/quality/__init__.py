"""Signals of quality, feedback, and the loop guard against the hub's own words."""
