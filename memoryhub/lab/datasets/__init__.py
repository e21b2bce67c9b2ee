"""Public dialogue sets with the questions asked about them: reading, labels, categories, samples, the folder they lie in."""
