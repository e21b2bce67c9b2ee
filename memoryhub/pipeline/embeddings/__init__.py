"""Vectors: filled where they are missing, changed to another embedder's, and drawn as a map."""
