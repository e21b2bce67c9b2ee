"""Standing answers to proposals."""
