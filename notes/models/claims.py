"""Claims: what is held true, and when. Versioned and bi-temporal (spec §11.2, §11.7)."""

from __future__ import annotations

from typing import ClassVar

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Q
from django.utils.text import Truncator
from django.utils.translation import gettext_lazy as _

from memoryhub.tenants.ids import new_id
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


class Fact(Retained, Derived):
    """One version of a claim. `lineage` is the stable id of the memory, and `lineage_version`
    counts its rewordings and successors; `version` is the row's own.

    `valid_from`/`valid_to`: when it holds in the world, half-open. `recorded_at`/`retired_at`:
    when the hub held this version. `event_from`/`event_to`: the time it speaks of.
    """

    class Status(models.TextChoices):
        ACTIVE = "active", _("Current")
        SUPERSEDED = "superseded", _("No longer true")
        RETRACTED = "retracted", _("Never true")

    class Shelf(models.TextChoices):
        NONE = "", _("Not on the shelf")
        USER = "user_kb", _("About the user")
        AGENT = "agent", _("About the agent")

    lineage = models.UUIDField(default=new_id)
    lineage_version = models.IntegerField(default=1)
    owner = models.CharField(max_length=120)
    speaker = models.CharField(max_length=120)
    text = models.TextField()
    text_key = models.CharField(max_length=64)
    pattern = models.CharField(max_length=4, blank=True)
    subject = models.TextField(blank=True)
    verb = models.TextField(blank=True)
    object = models.TextField(blank=True)
    indirect_object = models.TextField(blank=True)
    complement = models.TextField(blank=True)
    predicate_key = models.CharField(max_length=80, blank=True)
    cardinality = models.CharField(max_length=6, default="multi")
    kind = models.CharField(max_length=16, default="state")
    polarity = models.CharField(max_length=8, default="holds")
    event_from = models.DateTimeField(null=True, blank=True)
    event_to = models.DateTimeField(null=True, blank=True)
    event_granularity = models.CharField(max_length=8, blank=True)
    event_text = models.CharField(max_length=120, blank=True)
    valid_from = models.DateTimeField()
    valid_to = models.DateTimeField(null=True, blank=True)
    asserted_at = models.DateTimeField()
    recorded_at = models.DateTimeField()
    status = models.CharField(max_length=10, choices=Status, default=Status.ACTIVE)
    supersedes = models.ForeignKey(
        "self", models.SET_NULL, null=True, blank=True, related_name="superseded_by"
    )
    confidence = models.FloatField(default=1.0)
    mention_count = models.IntegerField(default=1)
    # The sender's own, of the message it was first read from.
    metadata = models.JSONField(default=dict, blank=True)
    # Always considered while shelved (MemoryOS' knowledge base, spec §11.4).
    shelf = models.CharField(max_length=8, choices=Shelf, blank=True, default=Shelf.NONE)
    shelved_at = models.DateTimeField(null=True, blank=True)

    memory_fields: ClassVar[MemoryFields] = {
        **ROW_FIELDS,
        "lineage": MemoryField(help="The same for all wordings of a claim and its successors."),
        "lineage_version": TECHNICAL,
        "text": MemoryField(_("text"), is_words=True, is_news=True, results=("text",)),
        "owner": MemoryField(
            _("owner"), help="Whom it is about.", is_news=True, results=("owner",)
        ),
        "speaker": MemoryField(_("speaker"), help="Who said it.", results=("speaker",)),
        "text_key": INTERNAL,
        "pattern": INTERNAL,
        "subject": MemoryField(_("subject"), api=None, is_words=True),
        "verb": MemoryField(_("verb"), api=None, is_words=True),
        "predicate_key": MemoryField(_("says of its owner"), "predicate", is_news=True),
        "object": MemoryField(_("object"), "value", is_words=True),
        "indirect_object": MemoryField(_("second object"), api=None, is_words=True),
        "complement": MemoryField(_("complement"), api=None, is_words=True),
        "cardinality": TECHNICAL,
        "kind": MemoryField(_("kind"), is_news=True),
        "polarity": MemoryField(_("polarity"), is_news=True),
        "status": MemoryField(_("status"), results=("status",)),
        "valid_from": MemoryField(
            _("true from"),
            help="Since when it holds in the world.",
            is_news=True,
            results=("valid_from",),
        ),
        "valid_to": MemoryField(
            _("true until"),
            help="Until when, exclusive; null: it holds still.",
            is_news=True,
            results=("valid_to",),
        ),
        "event_from": MemoryField(_("happened from"), is_news=True, results=("event_from",)),
        "event_to": MemoryField(_("happened until"), is_news=True, results=("event_to",)),
        "event_granularity": MemoryField(_("exact to"), api=None),
        "event_text": MemoryField(_("time as said"), is_words=True, results=("event_text",)),
        "asserted_at": MemoryField(
            _("said on"), help="When it was said.", results=("occurred_at",)
        ),
        "recorded_at": MemoryField(help="When the hub came to hold it."),
        "supersedes_id": MemoryField(_("replaces"), "supersedes"),
        "confidence": MemoryField(_("confidence")),
        "mention_count": MemoryField(_("times mentioned")),
        "metadata": MemoryField(
            _("metadata"),
            help="The sender's own, of the message that it was first read from.",
            is_news=True,
            results=("metadata",),
        ),
        "shelf": MemoryField(_("on the shelf of")),
        "shelved_at": MemoryField(_("on the shelf since"), api=None),
        **RETAINED_FIELDS,
        "visibility": MemoryField(_("visibility"), is_news=True),
        "pinned": MemoryField(_("pinned"), is_news=True),
        **DERIVED_FIELDS,
    }

    class Meta:
        ordering = ["-asserted_at", "-id"]
        constraints = [
            # I4: a predicate with one value has one open claim an owner.
            models.UniqueConstraint(
                fields=["space", "owner", "predicate_key"],
                condition=Q(
                    cardinality="single",
                    status="active",
                    valid_to=None,
                    retired_at=None,
                    polarity="holds",
                ),
                name="one_open_claim",
            ),
            models.CheckConstraint(
                condition=Q(valid_to=None) | Q(valid_to__gte=F("valid_from")),
                name="interval_runs_forward",
            ),
        ]
        indexes = [
            models.Index(fields=["space", "text_key"], name="fact_text_key"),
            models.Index(fields=["space", "owner", "predicate_key"], name="fact_predicate"),
            models.Index(
                fields=["tenant", "predicate_key"],
                condition=Q(cardinality="single", retired_at=None),
                name="fact_single_predicate",
            ),
            models.Index(fields=["space", "-asserted_at"], name="fact_recent"),
            models.Index(fields=["lineage", "lineage_version"], name="fact_lineage"),
            models.Index(
                fields=["space", "shelf", "-shelved_at"],
                condition=~Q(shelf=""),
                name="fact_shelf",
            ),
        ]

    def __str__(self) -> str:
        return Truncator(self.text).chars(80)


class Entity(Derived):
    """Somebody or something facts speak of. The display name is kept, the key is for matching."""

    name = models.CharField(max_length=200)
    canonical_key = models.CharField(max_length=200)
    type = models.CharField(max_length=20, blank=True)
    aliases = ArrayField(models.CharField(max_length=200), default=list, blank=True)
    summary = models.TextField(blank=True)
    mention_count = models.IntegerField(default=1)
    # Found to be somebody known under another name: an undoable event (spec R3).
    merged_into = models.ForeignKey(
        "self", models.SET_NULL, null=True, blank=True, related_name="merged"
    )
    # When its name was compared with all others: once (spec §12.1).
    compared_at = models.DateTimeField(null=True, blank=True)

    memory_fields: ClassVar[MemoryFields] = {
        **ROW_FIELDS,
        "name": MemoryField(_("name"), is_words=True),
        "canonical_key": INTERNAL,
        "type": MemoryField(_("type")),
        "aliases": MemoryField(_("aliases"), is_words=True),
        "summary": MemoryField(_("text"), is_words=True),
        "mention_count": MemoryField(_("times mentioned")),
        "merged_into_id": MemoryField(_("merged into"), "merged_into"),
        "compared_at": INTERNAL,
        **DERIVED_FIELDS,
    }

    class Meta:
        ordering = ["-mention_count", "name"]
        verbose_name_plural = "entities"
        constraints = [
            models.UniqueConstraint(fields=["space", "canonical_key"], name="entity_key")
        ]
        indexes = [
            models.Index(fields=["space"], condition=Q(compared_at=None), name="entity_uncompared"),
        ]

    def __str__(self) -> str:
        return self.name


class Relation(Derived):
    """src -label-> dst, a projection of one fact: its validity is the fact's (I3)."""

    fact = models.ForeignKey(Fact, models.CASCADE, related_name="relations")
    src = models.ForeignKey(Entity, models.CASCADE, related_name="relations_out")
    label = models.CharField(max_length=120)
    dst = models.ForeignKey(Entity, models.CASCADE, related_name="relations_in")

    memory_fields: ClassVar[MemoryFields] = {
        **ROW_FIELDS,
        "src_id": MemoryField(_("from"), "src"),
        "label": MemoryField(_("label"), is_words=True),
        "dst_id": MemoryField(_("to"), "dst"),
        "fact_id": MemoryField(_("says the fact")),
        **DERIVED_FIELDS,
    }

    def __str__(self) -> str:
        return self.label
