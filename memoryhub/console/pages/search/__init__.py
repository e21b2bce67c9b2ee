"""A question tried on a space, and why each memory was shown or not."""
