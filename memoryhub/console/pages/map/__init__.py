"""The embedding map of a space: near is alike."""
