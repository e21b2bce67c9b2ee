"""Erasing for good: targets, dry run, receipts, what is derived again, and what expires."""
