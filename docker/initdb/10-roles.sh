#!/bin/sh
# Run once, by the database image's superuser, in the new database. The owner migrates; the
# app is bound by row-level security. Neither is a superuser.
set -eu
psql -v ON_ERROR_STOP=1 --username "$POSTGRES_USER" --dbname "$POSTGRES_DB" \
    -v db="$POSTGRES_DB" -v owner_password="$MEMORYHUB_OWNER_PASSWORD" \
    -v app_password="$MEMORYHUB_APP_PASSWORD" <<'SQL'
CREATE ROLE memoryhub_owner LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOBYPASSRLS
    PASSWORD :'owner_password';
CREATE ROLE memoryhub_app LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOBYPASSRLS
    PASSWORD :'app_password';
CREATE EXTENSION IF NOT EXISTS vector;
CREATE EXTENSION IF NOT EXISTS btree_gin;
CREATE EXTENSION IF NOT EXISTS pg_trgm;
CREATE EXTENSION IF NOT EXISTS unaccent;
ALTER DATABASE :"db" OWNER TO memoryhub_owner;
ALTER SCHEMA public OWNER TO memoryhub_owner;
GRANT USAGE ON SCHEMA public TO memoryhub_app;
ALTER DEFAULT PRIVILEGES FOR ROLE memoryhub_owner IN SCHEMA public
    GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO memoryhub_app;
ALTER DEFAULT PRIVILEGES FOR ROLE memoryhub_owner IN SCHEMA public
    GRANT USAGE, SELECT ON SEQUENCES TO memoryhub_app;
SQL
