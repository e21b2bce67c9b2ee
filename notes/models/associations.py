"""Associations: how things hang together. Rewritable, never truth-bearing (A-Mem, spec §4)."""

from __future__ import annotations

from typing import ClassVar

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Q
from django.utils.text import Truncator
from django.utils.translation import gettext_lazy as _

from notes.models.base import Derived, Retained
from notes.models.claims import Fact
from notes.models.fields import (
    DERIVED_FIELDS,
    RETAINED_FIELDS,
    ROW_FIELDS,
    TECHNICAL,
    MemoryField,
    MemoryFields,
)
from notes.models.pages import Page


class Note(Retained, Derived):
    """Content with descriptors that may evolve. The content never changes.

    Anchored to a page or a fact; without an anchor it is an archival passage, written by an
    agent (`author`) or a person.
    """

    class Enrichment(models.TextChoices):
        PENDING = "pending", _("Not yet described")
        DONE = "done", _("Described")

    page = models.ForeignKey(Page, models.CASCADE, null=True, blank=True, related_name="notes")
    fact = models.ForeignKey(Fact, models.CASCADE, null=True, blank=True, related_name="notes")
    author = models.CharField(max_length=120, blank=True)
    content = models.TextField()
    keywords = ArrayField(models.CharField(max_length=120), default=list, blank=True)
    tags = ArrayField(models.CharField(max_length=120), default=list, blank=True)
    context = models.CharField(max_length=500, blank=True)
    category = models.CharField(max_length=80, blank=True)
    enrichment = models.CharField(max_length=7, choices=Enrichment, default=Enrichment.DONE)
    occurred_at = models.DateTimeField()
    created_at = models.DateTimeField()

    memory_fields: ClassVar[MemoryFields] = {
        **ROW_FIELDS,
        "content": MemoryField(_("text"), is_words=True, is_news=True, results=("text",)),
        "context": MemoryField(_("context"), is_words=True, is_news=True, results=("context",)),
        "keywords": MemoryField(_("keywords"), is_words=True, is_news=True, results=("keywords",)),
        "tags": MemoryField(_("tags"), is_words=True, is_news=True, results=("tags",)),
        "category": MemoryField(_("category"), is_words=True, is_news=True),
        "author": MemoryField(_("author")),
        "page_id": MemoryField(_("exchange")),
        "fact_id": MemoryField(_("says the fact")),
        "enrichment": MemoryField(_("description")),
        "occurred_at": MemoryField(_("occurred at"), results=("occurred_at",)),
        "created_at": TECHNICAL,
        **RETAINED_FIELDS,
        **DERIVED_FIELDS,
    }

    class Meta:
        ordering = ["-occurred_at", "-id"]
        indexes = [
            models.Index(fields=["space", "-occurred_at"], name="note_recent"),
            models.Index(fields=["space"], condition=Q(enrichment="pending"), name="note_pending"),
        ]

    def __str__(self) -> str:
        return Truncator(self.content).chars(80)


class Link(Derived):
    """Two notes that belong together: undirected, one row a pair and kind (spec A9)."""

    class Kind(models.TextChoices):
        RELATED = "related", _("Related")
        ELABORATES = "elaborates", _("Elaborates")
        CONTINUES = "continues", _("Continues")
        CONTRADICTS = "contradicts", _("Contradicts")
        CAUSES = "causes", _("Causes")

    a = models.ForeignKey(Note, models.CASCADE, related_name="links_a")
    b = models.ForeignKey(Note, models.CASCADE, related_name="links_b")
    kind = models.CharField(max_length=12, choices=Kind, default=Kind.RELATED)
    reason = models.CharField(max_length=500, blank=True)
    weight = models.FloatField(default=1.0)
    active = models.BooleanField(default=True)
    created_at = models.DateTimeField()

    memory_fields: ClassVar[MemoryFields] = {
        **ROW_FIELDS,
        "a_id": MemoryField(_("one note"), "a"),
        "b_id": MemoryField(_("other note"), "b"),
        "kind": MemoryField(_("kind")),
        "reason": MemoryField(_("reason"), is_words=True),
        "weight": MemoryField(_("weight")),
        "active": MemoryField(_("linked")),
        "created_at": TECHNICAL,
        **DERIVED_FIELDS,
    }

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["a", "b", "kind"], name="one_link_a_pair"),
            # Undirected, so the smaller id first; and none to itself (E28).
            models.CheckConstraint(condition=Q(a__lt=F("b")), name="link_in_order"),
        ]
        indexes = [models.Index(fields=["space", "-created_at"], name="link_recent")]

    def __str__(self) -> str:
        return f"{self.a_id} {self.kind} {self.b_id}"
