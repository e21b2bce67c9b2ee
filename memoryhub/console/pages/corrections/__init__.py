"""Putting a memory right: the actions offered, their form, and what sending it would do."""
