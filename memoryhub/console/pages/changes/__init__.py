"""What administrators changed: the log of the tenant."""
