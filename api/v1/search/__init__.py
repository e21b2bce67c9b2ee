"""Questions: search, context, answer, and feedback on what was found."""
