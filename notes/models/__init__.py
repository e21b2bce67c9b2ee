"""What is known: sources grouped, claims, associations, abstractions, and their history.

The model (spec §11.1) separates five concerns; each has a module here.
"""

from __future__ import annotations

from notes.models.abstractions import Episode, Segment, SegmentPage
from notes.models.associations import Link, Note
from notes.models.base import COUNTER_COLUMNS, Derived, Retained
from notes.models.claims import Entity, Fact, Relation
from notes.models.history import Derivation, EvolutionEvent, Receipt, Revision, Tombstone
from notes.models.index import IndexEntry
from notes.models.pages import Chain, Page
from notes.models.review import Feedback, Fingerprint, Proposal, ReviewRule, Risk

__all__ = [
    "COUNTER_COLUMNS",
    "Chain",
    "Derivation",
    "Derived",
    "Entity",
    "Episode",
    "EvolutionEvent",
    "Fact",
    "Feedback",
    "Fingerprint",
    "IndexEntry",
    "Link",
    "Note",
    "Page",
    "Proposal",
    "Receipt",
    "Relation",
    "Retained",
    "ReviewRule",
    "Revision",
    "Risk",
    "Segment",
    "SegmentPage",
    "Tombstone",
]
