"""Bringing memories over from other systems: their files in, sessions, facts, notes and blocks out.

`sources` are pure readers, one a system: items of a file to `records`. `execute` writes what they
found through the same services as everything else, and reports on it; `runs` are imports that were
asked for, with their reports.
"""
