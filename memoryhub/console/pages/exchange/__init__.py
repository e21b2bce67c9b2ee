"""Spaces out as files, and files in."""
