"""Everything about a subject as one file of JSON lines, out of one hub and into another."""
