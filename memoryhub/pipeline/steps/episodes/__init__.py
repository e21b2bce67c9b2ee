"""What is over, summed up: topics, digests of days and sessions, and the rolling summary."""
