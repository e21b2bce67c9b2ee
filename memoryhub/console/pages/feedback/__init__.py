"""What people and callers said of memories."""
