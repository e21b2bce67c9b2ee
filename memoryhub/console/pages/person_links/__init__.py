"""Links to a person's own page, and the pause of a space."""
