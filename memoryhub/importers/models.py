"""Imports that were asked for: their files while they are needed, and what came of them."""

from __future__ import annotations

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Index, UniqueConstraint
from django.utils.translation import gettext_lazy as _

from memoryhub.tenants.models import Space, TenantModel


class ImportFile(TenantModel):
    """A file that was sent, kept in parts until it was taken in, or for a day after it was tried.

    In the database and not in a folder: web processes and workers need not share one.
    """

    name = models.CharField(max_length=200)
    size = models.BigIntegerField(default=0)
    created_at = models.DateTimeField()

    def __str__(self) -> str:
        return self.name


class ImportPart(TenantModel):
    """`PART_BYTES` of a file (storage.py), the last one less."""

    file = models.ForeignKey(ImportFile, models.CASCADE, related_name="+", db_index=False)
    number = models.IntegerField()
    data = models.BinaryField()

    class Meta:
        constraints = [UniqueConstraint(fields=["file", "number"], name="one_import_part")]

    def __str__(self) -> str:
        return f"{self.file_id}: {self.number}"


class ImportRun(TenantModel):
    """An import, tried or done. `space`: the only one that its key may write to.

    `subject`: whose all of it is, "": whom the file names. `done` of `total` things are through.
    `report`: see report.py; it names whom memories are about, and none of the memories.
    `lease_until`: a worker has it until then, and says so again while it gets on.
    """

    class State(models.TextChoices):
        QUEUED = "queued", _("Waiting")
        RUNNING = "running", _("Running")
        DONE = "done", _("Done")
        FAILED = "failed", _("Failed")

    ACTIVE_STATES = (State.QUEUED, State.RUNNING)

    source = models.CharField(max_length=20)
    file = models.ForeignKey(
        ImportFile, models.SET_NULL, null=True, blank=True, related_name="+", db_index=False
    )
    file_name = models.CharField(max_length=200, blank=True)
    size = models.BigIntegerField(default=0)
    subject = models.CharField(max_length=200, blank=True)
    space = models.ForeignKey(
        Space, models.CASCADE, null=True, blank=True, related_name="+", db_index=False
    )
    only = ArrayField(models.CharField(max_length=10), default=list, blank=True)
    dry_run = models.BooleanField(default=False)
    state = models.CharField(max_length=10, choices=State, default=State.QUEUED)
    attempts = models.IntegerField(default=0)
    lease_until = models.DateTimeField(null=True, blank=True)
    total = models.IntegerField(default=0)
    done = models.IntegerField(default=0)
    report = models.JSONField(default=dict, blank=True)
    error = models.TextField(blank=True)
    actor = models.CharField(max_length=120)
    created_at = models.DateTimeField()
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-created_at", "-id"]
        indexes = [Index(fields=["tenant", "-created_at"], name="import_recent")]

    def __str__(self) -> str:
        return f"{self.source}: {self.file_name}"
