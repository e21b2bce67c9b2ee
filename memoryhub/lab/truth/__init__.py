"""Dialogues in which what is true changes, what a careful reader makes of them, and what the hub
does."""
