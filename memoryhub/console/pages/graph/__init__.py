"""The link graph of a space: a picture, and the same as tables."""
