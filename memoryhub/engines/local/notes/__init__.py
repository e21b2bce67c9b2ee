"""Note descriptors, links by likeness and shared words, and themes that spread."""
