"""What a search leaves behind: the recall log, reinforcement of what was shown, and feedback on it."""
