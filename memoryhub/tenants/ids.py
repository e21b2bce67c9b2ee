"""Time-ordered ids (RFC 9562, version 7): new rows land at the end of every index."""

from __future__ import annotations

import os
import time
from uuid import UUID


def new_id() -> UUID:
    """48 bits of milliseconds, then randomness."""
    value = (time.time_ns() // 1_000_000) << 80 | int.from_bytes(os.urandom(10), "big")
    value = value & ~(0xF << 76) | 0x7 << 76
    return UUID(int=value & ~(0x3 << 62) | 0x2 << 62)
