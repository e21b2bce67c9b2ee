"""What is done to a space by the clock: fading, merging names, measuring quality."""
