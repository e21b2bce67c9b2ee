"""The people and things that a space knows."""
