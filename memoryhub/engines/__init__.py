"""Models as functions: construct, embed, count tokens. No ORM, no Django models.

An engine sees plain values (`engines.types`) and returns plain values; it never learns
database ids, it uses the handles it was given (spec §0.1).
"""
