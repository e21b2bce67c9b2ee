"""The change-sets of a space: their list, one with its undo, and rolling back to an earlier moment."""
