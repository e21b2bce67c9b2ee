"""Who may come in: keys, members, and the links of the persons themselves."""
