"""Messages in: adding, one by one or in batches, and the sessions and turns they become."""
