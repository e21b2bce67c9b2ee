"""Golden questions, replays of settings on them, and readings of quality."""
