"""What tenants and spaces changed of their preset, version by version."""

from __future__ import annotations

from django.db import models
from django.db.models import UniqueConstraint

from memoryhub.tenants.models import Space, TenantModel


class PolicyVersion(TenantModel):
    """The tenant's policy (no space) or a space's overrides. The newest version is in force.

    `preset` "" for a space: the tenant's. `overrides` are dotted names and values
    ({"facts.contradiction": "retract"}), checked against the schema when written.
    """

    space = models.ForeignKey(Space, models.CASCADE, null=True, blank=True, related_name="+")
    version = models.IntegerField()
    preset = models.CharField(max_length=20, blank=True)
    overrides = models.JSONField(default=dict, blank=True)
    actor = models.CharField(max_length=120)
    reason = models.CharField(max_length=500, blank=True)
    created_at = models.DateTimeField()

    class Meta:
        ordering = ["-version"]
        constraints = [
            UniqueConstraint(fields=["space", "version"], name="one_policy_a_version"),
            UniqueConstraint(
                fields=["tenant", "version"],
                condition=models.Q(space=None),
                name="one_tenant_policy_a_version",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.preset} v{self.version}"
