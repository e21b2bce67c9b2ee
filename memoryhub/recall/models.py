"""What was asked and what came of it: the recall log.

It keeps ids and figures, and of words only the question: what a memory says is read from the
memory itself when somebody looks.
"""

from __future__ import annotations

from django.db import models
from django.utils.translation import gettext_lazy as _

from memoryhub.tenants.models import SpaceModel


class RecallLog(SpaceModel):
    """One search or context. Written some seconds after the answer, swept after some days.

    `route`, `channels` and `dropped` are those of an explanation, without texts. `took_ms` is by
    stage. `via` and `asked_by`: by which way, and which key, person or agent.
    """

    class Form(models.TextChoices):
        SEARCH = "search", _("Search")
        CONTEXT = "context", _("Context")

    form = models.CharField(max_length=8, choices=Form)
    asked_at = models.DateTimeField()
    query = models.TextField()
    via = models.CharField(max_length=20, blank=True)
    asked_by = models.CharField(max_length=120, blank=True)
    options = models.JSONField(default=dict)
    route = models.JSONField(default=dict)
    channels = models.JSONField(default=dict)
    dropped = models.JSONField(default=list)
    judged = models.CharField(max_length=200, blank=True)
    shown = models.IntegerField(default=0)
    tokens = models.IntegerField(null=True, blank=True)
    took_ms = models.JSONField(default=dict)
    milliseconds = models.FloatField(default=0)
    insufficient = models.BooleanField(default=False)
    unverified = models.BooleanField(default=False)
    degraded = models.JSONField(default=list, blank=True)
    pending_turns = models.IntegerField(default=0)
    rounds = models.SmallIntegerField(default=1)
    policy_version = models.CharField(max_length=40, blank=True)
    embedder = models.CharField(max_length=80, blank=True)

    class Meta:
        ordering = ["-asked_at", "-id"]
        indexes = [
            models.Index(fields=["tenant", "-asked_at"], name="recall_recent"),
            models.Index(fields=["space", "-asked_at"], name="recall_of_space"),
        ]

    def __str__(self) -> str:
        return self.query[:60]


class RecallLogItem(SpaceModel):
    """A memory that was shown: at which place, by which channels, with which score."""

    log = models.ForeignKey(RecallLog, models.CASCADE, related_name="items", db_index=False)
    place = models.SmallIntegerField()
    section = models.CharField(max_length=10, blank=True)
    kind = models.CharField(max_length=8)
    memory_id = models.UUIDField()
    score = models.FloatField()
    parts = models.JSONField(default=dict)
    found = models.JSONField(default=list)

    class Meta:
        ordering = ["place"]
        constraints = [models.UniqueConstraint(fields=["log", "place"], name="recall_place")]
        indexes = [models.Index(fields=["space", "memory_id"], name="recall_of_memory")]

    def __str__(self) -> str:
        return f"{self.place}. {self.kind} {self.memory_id}"
