"""The engine that needs no model server: rules over a dependency parse."""

from __future__ import annotations

from memoryhub.engines.local.engine import LocalEngine

__all__ = ["LocalEngine"]
