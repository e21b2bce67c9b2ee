"""Notes and their links, entities and their relations."""
