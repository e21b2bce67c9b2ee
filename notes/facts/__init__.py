"""Facts: how a new claim is resolved against the claims held, and which of them hold when."""
