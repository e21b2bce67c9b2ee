"""Abstraction: coverage summaries of spans, regenerable (MemoryOS, MemoryBank, AMA)."""

from __future__ import annotations

from typing import ClassVar

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils.text import Truncator
from django.utils.translation import gettext_lazy as _

from memoryhub.dialogues.models import Session
from memoryhub.tenants.models import SpaceModel
from notes.models.base import Derived, Retained
from notes.models.fields import (
    DERIVED_FIELDS,
    INTERNAL,
    RETAINED_FIELDS,
    ROW_FIELDS,
    TECHNICAL,
    MemoryField,
    MemoryFields,
)
from notes.models.pages import Page


class Segment(Derived):
    """Pages about one topic, with what its heat is computed from (spec §11.5).

    The promotion counters are reset when its pages are promoted, the totals never.
    """

    class Tier(models.TextChoices):
        MID = "mid", _("Active")
        COLD = "cold", _("Inactive")

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
    # A covered turn was erased or came late: withheld until it is rewritten.
    stale = models.BooleanField(default=False)

    memory_fields: ClassVar[MemoryFields] = {
        **ROW_FIELDS,
        "summary": MemoryField(_("text"), is_words=True),
        "keywords": MemoryField(_("keywords"), is_words=True),
        "started_at": TECHNICAL,
        "ended_at": TECHNICAL,
        "visits_total": MemoryField(_("visits")),
        "pages_total": MemoryField(_("exchanges")),
        "promo_visits": INTERNAL,
        "promo_pages": INTERNAL,
        "last_visited_at": TECHNICAL,
        "tier": MemoryField(_("stored in")),
        "stale": MemoryField(_("to be rewritten")),
        **DERIVED_FIELDS,
    }

    class Meta:
        ordering = ["-ended_at", "-id"]
        indexes = [models.Index(fields=["space", "-ended_at"], name="segment_recent")]

    def __str__(self) -> str:
        return Truncator(self.summary).chars(80) or ", ".join(self.keywords[:4])


class SegmentPage(SpaceModel):
    """A page's membership in a segment: part of the segment, and of its revisions' events."""

    segment = models.ForeignKey(Segment, models.CASCADE, related_name="memberships")
    page = models.ForeignKey(Page, models.CASCADE, related_name="memberships")
    theme = models.CharField(max_length=120, blank=True)
    score = models.FloatField(default=0)
    added_at = models.DateTimeField()

    memory_fields: ClassVar[MemoryFields] = {
        **ROW_FIELDS,
        "segment_id": MemoryField(_("topic")),
        "page_id": MemoryField(_("exchange")),
        "theme": MemoryField(_("theme"), is_words=True),
        "score": MemoryField(_("score")),
        "added_at": MemoryField(_("added at")),
    }

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["segment", "page"], name="page_once_a_segment")
        ]

    def __str__(self) -> str:
        return f"{self.page_id} in {self.segment_id}"


class Episode(Retained, Derived):
    """A closed span, summed up. What it covers is in its coverage: change that, and it is stale.

    Only the rolling summary's text is carried on: one row a space (S of Mem0), or a session's
    window (MemGPT), renewed in place.
    """

    class Kind(models.TextChoices):
        TOPIC = "topic", _("Topic")
        SESSION = "session", _("Session")
        DAY = "day", _("Day")
        GLOBAL = "global", _("All days")
        PERSONA = "persona", _("Personality, a day")
        GLOBAL_PERSONA = "portrait", _("Personality")
        ROLLING = "rolling", _("Running summary")

    kind = models.CharField(max_length=8, choices=Kind)
    title = models.CharField(max_length=200, blank=True)
    text = models.TextField(blank=True)
    # What else a digest says: points, traits, mood, reply_strategy.
    details = models.JSONField(default=dict, blank=True)
    session = models.ForeignKey(
        Session, models.CASCADE, null=True, blank=True, related_name="episodes"
    )
    # The day in the space's time zone, for the kinds that are a day's.
    day = models.DateField(null=True, blank=True)
    from_seq = models.BigIntegerField()
    to_seq = models.BigIntegerField()
    from_at = models.DateTimeField()
    to_at = models.DateTimeField()
    parent = models.ForeignKey(
        "self", models.SET_NULL, null=True, blank=True, related_name="children"
    )
    coverage_hash = models.CharField(max_length=64, blank=True)
    stale = models.BooleanField(default=False)

    memory_fields: ClassVar[MemoryFields] = {
        **ROW_FIELDS,
        "kind": MemoryField(_("kind")),
        "title": MemoryField(_("title"), is_words=True, is_news=True, results=("summary",)),
        "text": MemoryField(_("text"), is_words=True, is_news=True, results=("text",)),
        "details": MemoryField(_("more"), is_words=True, is_news=True),
        "session_id": MemoryField(_("session")),
        "day": MemoryField(_("day")),
        "from_seq": TECHNICAL,
        "to_seq": TECHNICAL,
        "from_at": MemoryField(_("from"), results=("event_from",)),
        "to_at": MemoryField(_("until"), results=("occurred_at", "event_to")),
        "parent_id": MemoryField(_("part of")),
        "coverage_hash": INTERNAL,
        "stale": MemoryField(_("to be rewritten")),
        **RETAINED_FIELDS,
        **DERIVED_FIELDS,
    }

    class Meta:
        ordering = ["-to_at", "-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["space", "kind", "day"],
                condition=models.Q(retired_at=None, day__isnull=False),
                name="one_digest_a_day",
            ),
        ]
        indexes = [models.Index(fields=["space", "kind", "-to_at"], name="episode_recent")]

    def __str__(self) -> str:
        return self.title or Truncator(self.text).chars(80)
