"""Every question put to a model (spec §11.2 ModelCall)."""

from __future__ import annotations

from django.db import models
from django.db.models import CheckConstraint, Index, Q
from django.utils.translation import gettext_lazy as _

from memoryhub.tenants.models import Space, TenantModel

MAX_EMBEDDER_NAME_LENGTH = 80


class HubModels(models.Model):
    """What the operator set in the console for all tenants (connections.py): where a model is
    asked, with its key under seal, what models cost, and what makes vectors. One row, out of every
    tenant's reach."""

    id = models.SmallIntegerField(primary_key=True, default=1)
    endpoint = models.CharField(max_length=500, blank=True)
    model = models.CharField(max_length=120, blank=True)
    sealed_key = models.TextField(blank=True)
    # {model: {"prompt": "0.15", "completion": "0.6"}}, money per million tokens.
    prices = models.JSONField(default=dict, blank=True)
    # The name that its vectors carry. It keeps the endpoint with which it was chosen: another one's
    # vectors might be others under the same name.
    embedder = models.CharField(
        max_length=MAX_EMBEDDER_NAME_LENGTH, blank=True, default="", db_default=""
    )
    embedder_endpoint = models.CharField(max_length=500, blank=True, default="", db_default="")
    sealed_embedder_key = models.TextField(blank=True, default="", db_default="")
    changed_by = models.CharField(max_length=120)
    changed_at = models.DateTimeField()

    class Meta:
        constraints = [CheckConstraint(condition=Q(id=1), name="hub_models_once")]

    def __str__(self) -> str:
        return f"models of the hub: {self.endpoint or 'none'}"


class ModelCall(TenantModel):
    """One question with its repair. `input` and `output` are dropped when a turn in them is erased.

    `milliseconds` is the time it took, `cost` is money in the currency of the price list.
    """

    class Status(models.TextChoices):
        OK = "ok", _("Answered")
        REPAIRED = "repaired", _("Answered after a repair")
        FAILED = "failed", _("Failed")

    space = models.ForeignKey(Space, models.CASCADE, null=True, blank=True, related_name="+")
    job_id = models.UUIDField(null=True, blank=True)
    purpose = models.CharField(max_length=24)
    template = models.CharField(max_length=40)
    model = models.CharField(max_length=120)
    status = models.CharField(max_length=10, choices=Status)
    attempts = models.SmallIntegerField(default=1)
    prompt_tokens = models.IntegerField(default=0)
    completion_tokens = models.IntegerField(default=0)
    cost = models.DecimalField(max_digits=14, decimal_places=6, default=0)
    milliseconds = models.FloatField(default=0)
    rejected = models.IntegerField(default=0)
    error = models.TextField(blank=True)
    input = models.JSONField(null=True, blank=True)
    output = models.TextField(blank=True)
    created_at = models.DateTimeField()

    class Meta:
        ordering = ["-created_at", "-id"]
        indexes = [
            Index(fields=["tenant", "-created_at"], name="call_recent"),
            Index(fields=["space", "-created_at"], name="call_of_space"),
        ]

    def __str__(self) -> str:
        return f"{self.purpose} by {self.model}"
