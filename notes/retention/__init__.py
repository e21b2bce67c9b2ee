"""The forgetting curve, and what fades by it or is strengthened by recall."""
