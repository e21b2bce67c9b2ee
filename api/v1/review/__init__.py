"""What waits for a person: conflicts, and rules that answer them beforehand."""
