"""The wire protocol of mem0's clients, over the hub's own services: no memory model of its own.

docs/reference/mem0.md says how its terms stand for ours.
"""
