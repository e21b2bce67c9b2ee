"""The models that the hub is set to ask, a test of each, and what they may cost."""
