"""What systems of the lab write by themselves, beside what their policy derives."""
