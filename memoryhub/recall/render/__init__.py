"""Found ids as what a caller reads: items, packed prompts, quotes, citations and explanations."""
