"""Questions without a model: routing by signal words, evidence, phrases, and answers taken word by word."""
