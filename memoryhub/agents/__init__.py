"""Agents at their windows: sessions that they hold, turns that they take, timers that wake them."""
