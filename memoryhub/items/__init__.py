"""What applications keep under names of their own: verbatim, found by key, value or meaning."""
