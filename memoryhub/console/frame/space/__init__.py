"""What the tabs of one space share: the moment it is looked at, and the slider that chooses it."""
