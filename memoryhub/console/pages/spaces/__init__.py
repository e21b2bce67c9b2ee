"""The list of spaces."""
