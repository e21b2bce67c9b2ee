"""How each system of the lab reads: the hub's own way, and the papers' where they differ."""
