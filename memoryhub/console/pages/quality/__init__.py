"""Signals of memories that may be wrong, by space and with evidence."""
