"""Work to be done. The rows are the truth, the broker only a doorbell."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from memoryhub.tenants.models import SpaceModel


class Job(SpaceModel):
    """A step for a space: of the turns `first_seq` to `last_seq`, where it is about turns.

    Lanes are classes of priority: A reads, B places, C promotes, D tidies (spec §12.1).
    `payload` is what else the step needs, ids only: never what was said.

    `attempts` counts claims and fences them: a worker that lost its lease can't finish. It only
    rises. `tries` are those since a person last revived the job, and are limited.
    """

    class State(models.TextChoices):
        QUEUED = "queued", "Waiting"
        RUNNING = "running", "Running"
        RETRY = "retry", "Will be tried again"
        DONE = "done", "Done"
        DEAD = "dead", "Given up"
        CANCELLED = "cancelled", "Cancelled"

    class Step(models.TextChoices):
        DERIVE = "derive", "Derive memories"
        ASSOCIATE = "associate", "Describe and link notes"
        PLACE = "place", "Chain and place pages"
        EPISODE = "episode", "Close an episode"
        PROMOTE = "promote", "Promote what is warm"
        FOLD = "fold", "Renew the summary so far"
        DIGEST = "digest", "Write digests"
        REDERIVE = "rederive", "Derive again after an erasure"
        EMBED = "embed", "Embed what has no vector yet"
        SWEEP = "sweep", "Let fade, warm up, tidy"
        REPLAY = "replay", "Replay golden questions"

    step = models.CharField(max_length=20, choices=Step, default=Step.DERIVE)
    lane = models.CharField(max_length=1, default="A")
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
        ]

    def __str__(self) -> str:
        return f"{self.step} of turns {self.first_seq} to {self.last_seq}"
