"""Facts: lists, versions, and their correction."""
