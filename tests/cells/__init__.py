"""Two cells on this machine, from deploy/cells, at work while one fails over and a tenant moves."""
