"""The page on which a person sees, and decides about, what is remembered of them."""
