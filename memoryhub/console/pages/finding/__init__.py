"""Finding people and memories from any page: by name, by words and by meaning."""
