"""Time-ordered ids (RFC 9562, version 7): new rows land at the end of every index."""

from __future__ import annotations

import os
import time
from uuid import UUID


def new_id() -> UUID:
    """48 bits of milliseconds, 12 of their fractions, then randomness.

    The fractions (a quarter of a microsecond each, section 6.2, method 3) keep rows that one
    process makes one after the other in that order, also where their times are the same.
    """
    milliseconds, rest = divmod(time.time_ns(), 1_000_000)
    head = milliseconds << 16 | 0x7 << 12 | (rest << 12) // 1_000_000
    tail = int.from_bytes(os.urandom(8), "big") & ~(0x3 << 62) | 0x2 << 62
    return UUID(int=head << 64 | tail)
