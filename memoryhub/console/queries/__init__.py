"""What the pages show. Call inside the tenant's scope; no statement runs in a loop."""

from __future__ import annotations
