"""Associations: how things hang together. Rewritable, never truth-bearing (A-Mem, spec §4)."""

from __future__ import annotations

from django.contrib.postgres.fields import ArrayField
from django.db import models

from memoryhub.tenants.models import SpaceModel
from notes.models.pages import Page


class Note(SpaceModel):
    """A page's content with descriptors that may evolve. The content never changes."""

    page = models.ForeignKey(Page, models.CASCADE, null=True, blank=True, related_name="notes")
    content = models.TextField()
    keywords = ArrayField(models.CharField(max_length=120), default=list, blank=True)
    tags = ArrayField(models.CharField(max_length=120), default=list, blank=True)
    context = models.CharField(max_length=500, blank=True)
    occurred_at = models.DateTimeField()
    created_at = models.DateTimeField()
    version = models.IntegerField(default=1)
    engine = models.CharField(max_length=60)

    class Meta:
        ordering = ["-occurred_at", "-id"]
        indexes = [models.Index(fields=["space", "-occurred_at"], name="note_recent")]

    def __str__(self) -> str:
        return self.content[:80]
