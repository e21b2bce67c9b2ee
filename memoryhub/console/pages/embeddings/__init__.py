"""The embedding model of each space, and the way to another one."""
