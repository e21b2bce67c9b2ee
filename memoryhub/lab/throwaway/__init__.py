"""Tenants that live for one measurement, and dialogues replayed in them."""
