"""Erasing for good: a dry run of it, and the receipts."""
