"""Files out and in: exports of this hub, and imports from other systems."""
