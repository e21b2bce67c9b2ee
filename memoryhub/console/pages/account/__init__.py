"""Signing in and out, and the choice of a tenant."""
