"""Golden questions go with what they name (spec §11.9): their words may tell of it."""

from __future__ import annotations

from memoryhub.golden.models import GoldenQuestion
from notes.tracing import Trace


def trace_questions(found: Trace) -> None:
    """Add the questions that name a turn or memory that goes. Call inside the scope."""
    gone = {str(turn) for turn in found.erased}
    gone |= {str(row) for _, row in (*found.gone, *found.tainted)}
    rows = GoldenQuestion.objects.filter(space=found.space, names__overlap=sorted(gone))
    found.gone |= {("goldenquestion", row.id): row for row in rows}
