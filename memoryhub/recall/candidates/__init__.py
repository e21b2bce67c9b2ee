"""Memories that may bear on a question: read from the database, a few statements for all kinds."""
