"""How long data is kept, and erasing all of a tenant."""
