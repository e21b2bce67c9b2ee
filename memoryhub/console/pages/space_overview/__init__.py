"""A space at a glance: who it is about, what is true, in doubt and spoken of now."""
