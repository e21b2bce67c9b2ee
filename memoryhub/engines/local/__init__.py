"""The engine that needs no model server: rules over a dependency parse."""

from memoryhub.engines.local.engine import LocalEngine

__all__ = ["LocalEngine"]
