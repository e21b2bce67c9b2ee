"""The tenant as a whole: its name, its models and budgets, its data."""
