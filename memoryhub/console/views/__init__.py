"""Pages. A view reads the request, calls one function and renders."""

from __future__ import annotations
