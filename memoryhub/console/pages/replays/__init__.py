"""Replays: a candidate beside what is in force, on golden questions."""
