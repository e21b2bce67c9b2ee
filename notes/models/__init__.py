"""What is known: sources grouped, claims, associations, abstractions, and their history.

Spec §11.1 separates five concerns; each has a module here.
"""

from __future__ import annotations

from notes.models.abstractions import Segment, SegmentPage
from notes.models.associations import Note
from notes.models.claims import Entity, Fact, Relation
from notes.models.history import Derivation, EvolutionEvent, Revision
from notes.models.index import IndexEntry
from notes.models.pages import Page

__all__ = [
    "Derivation",
    "Entity",
    "EvolutionEvent",
    "Fact",
    "IndexEntry",
    "Note",
    "Page",
    "Relation",
    "Revision",
    "Segment",
    "SegmentPage",
]
