"""The chat: a message, the answer from memory as it comes, and what was remembered of it."""
