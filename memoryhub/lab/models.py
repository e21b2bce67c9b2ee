"""Runs of the lab: what was asked of which system, and what came of it.

The rows belong to the tenant that ran them, not to the throw-away tenants the systems live in.
"""

from __future__ import annotations

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Index, UniqueConstraint
from django.utils.translation import gettext_lazy as _

from memoryhub.tenants.models import TenantModel


class LabRun(TenantModel):
    """Systems side by side on the same questions. Its outcomes say where it stands.

    `settings`, `dataset`, `systems` and `environment` are the report's parts of the same names,
    known from the start. `report` is there once the run is done.

    `file`: the name of its data in the lab's folder, for runs that a worker carries out; "" for
    those of the command line, and for reports that were `imported`, which have no outcomes.
    `stopping`: somebody asked it to end; it does so before its next question.
    """

    class State(models.TextChoices):
        QUEUED = "queued", _("Waiting")
        RUNNING = "running", _("Running")
        DONE = "done", _("Done")
        INTERRUPTED = "interrupted", _("Interrupted")
        FAILED = "failed", _("Failed")

    ACTIVE_STATES = (State.QUEUED, State.RUNNING)

    state = models.CharField(max_length=12, choices=State, default=State.RUNNING)
    settings = models.JSONField(default=dict)
    dataset = models.JSONField(default=dict)
    systems = models.JSONField(default=list)
    environment = models.JSONField(default=dict)
    report = models.JSONField(null=True, blank=True)
    # Answers wanted and given; what is being done now, in words.
    total = models.IntegerField(default=0)
    done = models.IntegerField(default=0)
    stage = models.CharField(max_length=200, blank=True)
    error = models.TextField(blank=True)
    file = models.CharField(max_length=200, blank=True)
    actor = models.CharField(max_length=120, blank=True)
    stopping = models.BooleanField(default=False)
    imported = models.BooleanField(default=False)
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-created_at", "-id"]
        indexes = [Index(fields=["tenant", "-created_at"], name="lab_run_recent")]

    def __str__(self) -> str:
        return f"{self.dataset.get('name', '')}: {', '.join(s['name'] for s in self.systems)}"


class LabRunModel(TenantModel):
    """A row of one run."""

    run = models.ForeignKey(LabRun, models.CASCADE, related_name="+", db_index=False)
    dialogue = models.CharField(max_length=200)

    class Meta:
        abstract = True


class LabDerivation(LabRunModel):
    """A dialogue derived by one write policy, for every system that writes like this.

    `signature` names the write policy, `slug` the throw-away tenant that holds it. `sessions` of
    the dialogue are derived so far. `calls` are by purpose, as in an outcome.
    """

    signature = models.CharField(max_length=64)
    slug = models.CharField(max_length=60)
    sessions = models.IntegerField(default=0)
    finished = models.BooleanField(default=False)
    turns = models.IntegerField(default=0)
    seconds = models.FloatField(default=0)
    counts = models.JSONField(default=dict)
    calls = models.JSONField(default=dict)
    errors = models.JSONField(default=list)

    class Meta:
        constraints = [
            UniqueConstraint(fields=["run", "signature", "dialogue"], name="one_lab_derivation")
        ]

    def __str__(self) -> str:
        return f"{self.signature} of {self.dialogue}"


class LabOutcome(LabRunModel):
    """One question put to one system.

    `places`: for each turn of the evidence that was handed over, the place of the first item
    that shows it, from 1, and the tokens of the texts up to it. `tokens` are those of the whole
    context. `calls` by purpose: {"calls", "failed", "prompt_tokens", "completion_tokens",
    "milliseconds", "money"}. `scores` are f1, bleu1, rouge_2, rouge_l, meteor and sbert, or refusal
    where there is nothing to say. `graded` is the judge's word; None where it was not asked.
    `shown` are the first items handed over and those that show evidence, for people to read:
    {"place", "kind", "text", "evidence"}, long texts cut.
    """

    system = models.CharField(max_length=40)
    number = models.IntegerField()  # of the question in its dialogue, from 0
    category = models.SmallIntegerField()
    unanswerable = models.BooleanField(default=False)
    question = models.TextField()
    expected = models.TextField(blank=True)
    answer = models.TextField(blank=True)
    abstained = models.BooleanField(default=False)
    evidence = ArrayField(models.CharField(max_length=40), default=list)
    places = models.JSONField(default=dict)
    items = models.IntegerField(default=0)
    shown = models.JSONField(default=list)
    tokens = models.IntegerField(default=0)
    scores = models.JSONField(default=dict)
    graded = models.BooleanField(null=True, blank=True)
    calls = models.JSONField(default=dict)
    recall_ms = models.FloatField(default=0)
    answer_ms = models.FloatField(default=0)
    insufficient = models.BooleanField(default=False)
    degraded = ArrayField(models.CharField(max_length=40), default=list)
    error = models.TextField(blank=True)
    created_at = models.DateTimeField()

    class Meta:
        ordering = ["created_at", "id"]
        constraints = [
            UniqueConstraint(
                fields=["run", "system", "dialogue", "number"], name="lab_asks_nothing_twice"
            )
        ]

    def __str__(self) -> str:
        return f"{self.system}: {self.question[:60]}"
