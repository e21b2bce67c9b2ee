"""Abstraction: coverage summaries of spans, regenerable (MemoryOS, spec §8)."""

from __future__ import annotations

from django.contrib.postgres.fields import ArrayField
from django.db import models

from memoryhub.tenants.models import SpaceModel
from notes.models.pages import Page


class Segment(SpaceModel):
    """Pages about one topic, with what its heat is computed from (spec §11.5)."""

    class Tier(models.TextChoices):
        MID = "mid", "Mid term"
        COLD = "cold", "Cold"

    summary = models.TextField(blank=True)
    keywords = ArrayField(models.CharField(max_length=120), default=list, blank=True)
    started_at = models.DateTimeField()
    ended_at = models.DateTimeField()
    visits_total = models.IntegerField(default=0)
    pages_total = models.IntegerField(default=0)
    promo_visits = models.IntegerField(default=0)
    promo_pages = models.IntegerField(default=0)
    last_visited_at = models.DateTimeField()
    tier = models.CharField(max_length=4, choices=Tier, default=Tier.MID)
    version = models.IntegerField(default=1)
    engine = models.CharField(max_length=60)

    class Meta:
        ordering = ["-ended_at", "-id"]
        indexes = [models.Index(fields=["space", "-ended_at"], name="segment_recent")]

    def __str__(self) -> str:
        return self.summary[:80] or ", ".join(self.keywords[:4])


class SegmentPage(SpaceModel):
    """A page's membership in a segment."""

    segment = models.ForeignKey(Segment, models.CASCADE, related_name="memberships")
    page = models.ForeignKey(Page, models.CASCADE, related_name="memberships")
    score = models.FloatField(default=0)
    added_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["segment", "page"], name="page_once_a_segment")
        ]

    def __str__(self) -> str:
        return f"{self.page_id} in {self.segment_id}"
