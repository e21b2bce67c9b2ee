"""Work to be done. The rows are the truth, the broker only a doorbell."""

from __future__ import annotations

from enum import StrEnum

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from memoryhub.tenants.models import SpaceModel
from notes.models import Receipt


class Lane(StrEnum):
    """Classes of priority, the first first (spec §12.1). Reading keeps the order of the turns."""

    READING = "A"
    PLACING = "B"
    PROMOTING = "C"
    TIDYING = "D"


class Job(SpaceModel):
    """A step for a space: of the turns `first_seq` to `last_seq`, where it is about turns.

    `payload` is what else the step needs, ids only: never what was said.

    `attempts` counts claims and fences them: a worker that lost its lease can't finish. It only
    rises. `tries` are those since a person last revived the job, and are limited.
    """

    class State(models.TextChoices):
        QUEUED = "queued", _("Waiting")
        RUNNING = "running", _("Running")
        RETRY = "retry", _("Will be retried")
        DONE = "done", _("Done")
        DEAD = "dead", _("Given up")
        CANCELLED = "cancelled", _("Cancelled")

    WAITING_STATES = (State.QUEUED, State.RETRY)
    UNFINISHED_STATES = (*WAITING_STATES, State.RUNNING)
    FINAL_STATES = (State.DONE, State.DEAD, State.CANCELLED)
    # Those in which a person may have it tried again at once.
    RETRYABLE_STATES = (State.DEAD, State.RETRY, State.CANCELLED)

    class Step(models.TextChoices):
        DERIVE = "derive", _("Derive memories")
        ASSOCIATE = "associate", _("Describe and link notes")
        PLACE = "place", _("Chain and sort exchanges")
        EPISODE = "episode", _("Close an episode")
        PROMOTE = "promote", _("Promote hot topics")
        FOLD = "fold", _("Update the running summary")
        DIGEST = "digest", _("Write digests")
        REDERIVE = "rederive", _("Derive again after an erasure")
        EMBED = "embed", _("Create missing vectors")
        SWEEP = "sweep", _("Fade, warm up and tidy memories")
        REPLAY = "replay", _("Replay test questions")
        MAP = "map", _("Create the embedding map")
        WAKE = "wake", _("Wake an agent")

    step = models.CharField(max_length=20, choices=Step, default=Step.DERIVE)
    lane = models.CharField(max_length=1, default=Lane.READING.value)
    dedupe_key = models.CharField(max_length=120)
    first_seq = models.BigIntegerField(default=0)
    last_seq = models.BigIntegerField(default=0)
    payload = models.JSONField(default=dict, blank=True)
    state = models.CharField(max_length=10, choices=State, default=State.QUEUED)
    attempts = models.IntegerField(default=0)
    tries = models.IntegerField(default=0)
    run_after = models.DateTimeField()
    lease_until = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField()
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)
    error = models.TextField(blank=True)
    result = models.JSONField(default=dict, blank=True)

    class Meta:
        ordering = ["-created_at", "-first_seq"]
        constraints = [
            models.UniqueConstraint(fields=["space", "dedupe_key"], name="job_once"),
            # At most one derivation a space at a time (spec §12.1), whatever the workers think.
            models.UniqueConstraint(
                fields=["space"], condition=Q(state="running"), name="one_running_job_a_space"
            ),
        ]
        indexes = [
            models.Index(
                fields=["run_after"],
                condition=Q(state__in=["queued", "retry", "running"]),
                name="job_due",
            ),
            models.Index(
                fields=["space", "lane", "first_seq"],
                condition=Q(state__in=["queued", "retry", "running"]),
                name="job_next",
            ),
            models.Index(fields=["tenant", "-created_at"], name="job_recent"),
            models.Index(
                fields=["tenant"],
                condition=Q(state__in=["queued", "retry", "running"]),
                name="job_waiting",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.step} of turns {self.first_seq} to {self.last_seq}"

    @property
    def seqs(self) -> tuple[int, int]:
        return self.first_seq, self.last_seq


class EmbeddingMigration(SpaceModel):
    """A space's way from one embedder's vectors to another's (E17), with what came of it.

    `configured`: the embedder in use when it began, so that a hub that is told to use another one
    begins by itself once and not again. `flips`: it changes over with the last vector, without
    waiting for a person. `done` of `total` memories are embedded, in `seconds` of work;
    `failures` are attempts that failed, `error` what the last one said. `comparison`: how alike
    both find, in figures only.
    """

    class State(models.TextChoices):
        FILLING = "filling", _("Filling")
        PAUSED = "paused", _("Paused")
        FILLED = "filled", _("Filled, ready to compare")
        LIVE = "live", _("Cut over")
        BACK = "back", _("Rolled back")
        CANCELLED = "cancelled", _("Cancelled")
        DONE = "done", _("Done")

    OPEN_STATES = (State.FILLING, State.PAUSED, State.FILLED)

    old = models.CharField(max_length=80)
    new = models.CharField(max_length=80)
    configured = models.CharField(max_length=80)
    state = models.CharField(max_length=10, choices=State, default=State.FILLING)
    flips = models.BooleanField(default=False)
    total = models.IntegerField(default=0)
    done = models.IntegerField(default=0)
    seconds = models.FloatField(default=0)
    failures = models.IntegerField(default=0)
    error = models.TextField(blank=True)
    comparison = models.JSONField(default=dict, blank=True)
    actor = models.CharField(max_length=120)
    created_at = models.DateTimeField()
    changed_at = models.DateTimeField()

    class Meta:
        ordering = ["-created_at", "-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["space"],
                condition=Q(state__in=["filling", "paused", "filled"]),
                name="one_migration_a_space",
            )
        ]
        indexes = [models.Index(fields=["space", "-created_at"], name="migration_recent")]

    def __str__(self) -> str:
        return f"from {self.old} to {self.new}"


class SpaceMap(SpaceModel):
    """A space's memories in two dimensions, by their vectors: one a space, drawn again on demand.

    `points`: [kind, id, x, y], both between -1 and 1. `evolution`: the notes as they are and as
    they would be had none evolved (embeddings/evolution_map.py), {} where none did. `done` of
    `total` rounds are done; `mark` tells what it was drawn from, and is another one when memories
    have changed.
    """

    points = models.JSONField(default=list, blank=True)
    evolution = models.JSONField(default=dict, blank=True)
    embedder = models.CharField(max_length=80, blank=True)
    mark = models.CharField(max_length=200, blank=True)
    done = models.IntegerField(default=0)
    total = models.IntegerField(default=0)
    actor = models.CharField(max_length=120, blank=True)
    asked_at = models.DateTimeField()
    drawn_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["space"], name="one_map_a_space")]

    def __str__(self) -> str:
        return f"{len(self.points)} memories"


class QualityReading(SpaceModel):
    """How many facts of a space a signal of quality was about when it was last measured.

    `found` of the `of` that were looked at; `samples`: {fact, other, cosine}, ids of facts.
    """

    signal = models.CharField(max_length=20)
    found = models.IntegerField()
    of = models.IntegerField()
    samples = models.JSONField(default=list, blank=True)
    computed_at = models.DateTimeField()

    class Meta:
        ordering = ["signal"]
        constraints = [
            models.UniqueConstraint(fields=["space", "signal"], name="one_reading_a_signal")
        ]

    def __str__(self) -> str:
        return f"{self.found} {self.signal} of {self.of}"


class SealedErasure(SpaceModel):
    """What an erasure took that nobody confirmed, sealed under the hub's key until it is destroyed.

    `event_id`: its change-set. `turn_ids` lost words; `row_ids` are rows and turns that what is
    sealed is made of, so that a later erasure of those reaches it.
    """

    receipt = models.OneToOneField(Receipt, models.CASCADE, related_name="sealed")
    event_id = models.UUIDField()
    turn_ids = ArrayField(models.UUIDField(), default=list)
    row_ids = ArrayField(models.UUIDField(), default=list)
    sealed = models.TextField()
    created_at = models.DateTimeField()
    until = models.DateTimeField()

    class Meta:
        ordering = ["created_at"]
        indexes = [models.Index(fields=["space", "until"], name="sealed_due")]

    def __str__(self) -> str:
        return f"sealed until {self.until:%Y-%m-%d %H:%M}"
