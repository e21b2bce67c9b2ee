"""Jobs, and their progress as a stream of events."""
