"""Systems side by side on the same questions: planned, carried out, stopped, resumed."""
