"""A run as one document: built, imported from a file, printed as tables."""
