"""Claims side by side: whether both speak of one slot, whether the newer ends the older, and which
ones a wish to forget means."""
