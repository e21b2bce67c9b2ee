from __future__ import annotations

from tests.clients.conftest import talker, worker

__all__ = ["talker", "worker"]
