"""The first page: how much is held, whether it keeps up, and what is wrong. The search over all spaces."""
