"""Policies of tenants and spaces, presets and switches."""
