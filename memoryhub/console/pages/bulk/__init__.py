"""One action for many rows of a list, chosen by hand."""
