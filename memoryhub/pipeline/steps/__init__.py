"""The steps of the write path: each reads, asks models with nothing open, and writes once."""
