"""Deriving memories from dialogue: read, extract, resolve against what is held, write."""
