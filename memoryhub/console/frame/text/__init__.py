"""How memory is put into the operator's words: values, counts, rows of the history, differences and quotes."""
