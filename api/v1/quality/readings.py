"""The quality of a space, as it was last measured."""

from __future__ import annotations

from api.rows.columns import ID, NUMBER, OBJECT, TEXT, TIME, Column, Resource
from memoryhub.pipeline.models import QualityReading

QUALITY_READINGS = Resource(
    "quality reading",
    "How many facts a signal of quality is about, with a sample of them.",
    QualityReading,
    {
        "id": ID,
        "signal": TEXT,
        "found": NUMBER,
        "of": NUMBER,
        "samples": OBJECT,
        "measured_at": Column(TIME.kind, "computed_at"),
    },
    order=("signal", "id"),
)
