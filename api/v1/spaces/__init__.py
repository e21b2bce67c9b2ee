"""Subjects with their spaces: their list, a pause, and erasure for good."""
