"""Faults on purpose: a hub is fed a thousand turns while its parts are killed, and what it holds
in the end is compared with what an undisturbed run holds. `make faults`; no part of `make test`.
"""
