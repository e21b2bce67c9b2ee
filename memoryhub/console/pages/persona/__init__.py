"""Traits, profile and memory blocks of a space."""
