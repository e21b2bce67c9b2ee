"""What tenants ask of PostgreSQL: row-level security, grants, prepared statements, images."""
