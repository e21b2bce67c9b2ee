"""A person's own page, behind a link: what is remembered of them, and what they decide about it."""
