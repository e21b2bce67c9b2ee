"""Golden questions: what a question should find."""
