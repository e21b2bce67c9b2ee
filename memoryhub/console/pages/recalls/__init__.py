"""The log of what was asked, and what was shown for it."""
