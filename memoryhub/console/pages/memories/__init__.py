"""The memories of a space by kind, and the page of one with its whole life."""
