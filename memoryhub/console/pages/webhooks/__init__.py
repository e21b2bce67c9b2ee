"""Webhooks and what was delivered to them."""
