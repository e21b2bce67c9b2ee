"""English sentences taken apart: parse, clauses, subjects, verbs, polarity, speech acts, antecedents, and rewriting in the third person."""
