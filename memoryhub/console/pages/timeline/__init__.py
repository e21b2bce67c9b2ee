"""What was said in a space, turn by turn, and what was made of it."""
