"""Erasing for good: what an erasure reaches, and how rows and their traces are removed."""
