"""Notes of what was read: drafted, described, linked with their like, and evolved."""
