"""Calls to models, with their tokens and what they cost."""
