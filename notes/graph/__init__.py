"""Entities and relations: projections of facts, and which entities are one."""
