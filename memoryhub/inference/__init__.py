"""Which model answers which purpose, what it was asked, what that cost, and when to stop."""
