"""What waits for a person: its answers, what each does, and the rules that answer beforehand."""
