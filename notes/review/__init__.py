"""Proposals: what the pipeline may not do by itself and puts before a person."""
