"""Reading Chinese without a model: clauses, dates, endings, people and rules."""
