"""Which systems of memory a tenant or a space runs, and with which parameters (spec §13)."""
