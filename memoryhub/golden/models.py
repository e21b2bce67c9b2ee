"""Questions with the memories they should find, and replays of a changed setting on them."""

from __future__ import annotations

from typing import ClassVar

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import CheckConstraint, Index, Q, UniqueConstraint
from django.utils.translation import gettext_lazy as _

from memoryhub.tenants.models import Space, SpaceModel, TenantModel
from notes.models import Derived
from notes.models.fields import DERIVED_FIELDS, ROW_FIELDS, TECHNICAL, MemoryField, MemoryFields


class GoldenQuestion(Derived):
    """One question of a space. Saved, changed and taken away by hand, as memories are: each with
    its event, which can be undone.

    `expected` lists `{"kind", "id", "lineage", "turns"}`: a fact, note or turn with its lineage
    (facts) and the turns it rested on when it was named, so that a memory derived anew still
    counts. `names` are all of these ids: by them an erasure finds the question.
    """

    text = models.TextField()
    tags = ArrayField(models.CharField(max_length=40), default=list, blank=True)
    expected = models.JSONField(default=list)
    names = ArrayField(models.CharField(max_length=36), default=list, blank=True)
    created_by = models.CharField(max_length=120)
    created_at = models.DateTimeField()
    changed_at = models.DateTimeField()

    memory_fields: ClassVar[MemoryFields] = {
        **ROW_FIELDS,
        "text": MemoryField(_("text"), is_words=True),
        "tags": MemoryField(_("tags"), is_words=True),
        "expected": MemoryField(_("expected")),
        "names": MemoryField(_("names"), api=None),
        "created_by": MemoryField(_("created by")),
        "created_at": TECHNICAL,
        "changed_at": MemoryField(_("changed at")),
        **DERIVED_FIELDS,
    }

    class Meta:
        ordering = ["-changed_at", "-id"]
        indexes = [Index(fields=["tenant", "space", "-changed_at"], name="golden_recent")]

    def __str__(self) -> str:
        return self.text[:80]


class ReplayRun(TenantModel):
    """A candidate setting beside the one in force, on the golden questions of one space or, for
    the tenant's own setting (no space), of all its spaces.

    The candidate is a policy as `set_policy` takes it (`preset`, `overrides`; null: it stays),
    made on version `base`; and, where given, another `engine` or the vectors of another
    `embedder`. `current` and `candidate` say what was compared: versions, engine, models, prompts,
    embedder.
    """

    class State(models.TextChoices):
        RUNNING = "running", _("Running")
        DONE = "done", _("Done")
        CANCELLED = "cancelled", _("Cancelled")

    class Decision(models.TextChoices):
        OPEN = "", _("Not decided")
        LIVE = "live", _("Applied")
        DROPPED = "dropped", _("Dropped")

    space = models.ForeignKey(Space, models.CASCADE, null=True, blank=True, related_name="+")
    preset = models.CharField(max_length=20, blank=True)
    overrides = models.JSONField(null=True, blank=True)
    base = models.IntegerField(default=0)
    engine = models.CharField(max_length=20, blank=True)
    embedder = models.CharField(max_length=80, blank=True)
    tag = models.CharField(max_length=40, blank=True)
    questions = ArrayField(models.UUIDField(), default=list)
    current = models.JSONField(default=dict)
    candidate = models.JSONField(default=dict)
    state = models.CharField(max_length=10, choices=State, default=State.RUNNING)
    decision = models.CharField(max_length=8, choices=Decision, blank=True, default="")
    decided_by = models.CharField(max_length=120, blank=True)
    decided_at = models.DateTimeField(null=True, blank=True)
    actor = models.CharField(max_length=120)
    created_at = models.DateTimeField()
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-created_at", "-id"]
        indexes = [Index(fields=["tenant", "-created_at"], name="replay_recent")]

    def __str__(self) -> str:
        return f"replay of {len(self.questions)} questions"


class ReplayAnswer(SpaceModel):
    """What one side of a replay found for a question. Ids only: never words.

    `ranks`: for each expected memory its place from 1, null when it was not found. `shown`: kind
    and id of the first results. `tokens` and `calls` are what models took; `handed` are tokens
    of the results.
    """

    class Side(models.TextChoices):
        CURRENT = "current", _("Now")
        CANDIDATE = "candidate", _("Candidate")

    run = models.ForeignKey(ReplayRun, models.CASCADE, related_name="answers")
    question = models.ForeignKey(GoldenQuestion, models.CASCADE, related_name="answers")
    side = models.CharField(max_length=9, choices=Side)
    ranks = models.JSONField(default=list)
    shown = models.JSONField(default=list)
    insufficient = models.BooleanField(default=False)
    degraded = ArrayField(models.CharField(max_length=20), default=list, blank=True)
    milliseconds = models.FloatField(default=0)
    tokens = models.IntegerField(default=0)
    calls = models.IntegerField(default=0)
    handed = models.IntegerField(default=0)

    class Meta:
        constraints = [
            UniqueConstraint(fields=["run", "question", "side"], name="one_answer_a_side"),
            CheckConstraint(
                condition=Q(side__in=["current", "candidate"]), name="replay_side_known"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.side} of {self.question_id}"
