"""Who may sign in for the tenant, and as what."""
