"""Where topics begin, chains, themes and segments, episodes and digests, by extracts."""
