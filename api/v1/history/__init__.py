"""What changed memory and when: events, the state at a moment, undo and roll-back."""
