"""Time expressions in English and their calendar arithmetic, tense, and spans of time as people write them."""
