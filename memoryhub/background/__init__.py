"""Work beside the request: telling workers and listeners of it, writing later, breaking it off."""
