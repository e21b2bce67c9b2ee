"""Knowledge, traits by interests that repeat, and an agent that follows fixed rules."""
