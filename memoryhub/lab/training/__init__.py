"""What each signal of a search is worth, learned from labelled questions."""
