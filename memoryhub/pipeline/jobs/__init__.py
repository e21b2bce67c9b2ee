"""Jobs: the queue of steps to run, who runs them in order, and which step is which."""
