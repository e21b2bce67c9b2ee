"""What tenants ask of PostgreSQL itself: row-level security, grants, prepared statements, images."""
