"""The search index: the texts, words and vectors by which memories are found."""
