"""What a sender lays down for the memories of a message. Kept with the turn, as JSON:

`app`: the application it came through. `pinned`: what is read from it does not fade, and the
pipeline does not change it. `until`: it holds until then, as ISO 8601 with a zone, and no longer.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from notes.models import Fact


def apply_terms(fact: Fact, terms: Mapping[str, Any]) -> Fact:
    """The fact, not saved yet, as its turn's terms have it."""
    fact.pinned = bool(terms.get("pinned"))
    if until := terms.get("until"):
        fact.valid_to = max(datetime.fromisoformat(until), fact.valid_from)
        fact.status = Fact.Status.SUPERSEDED
    return fact
