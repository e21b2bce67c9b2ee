"""Claims read from English clauses: facts with their predicates, values, corrections, entities."""
