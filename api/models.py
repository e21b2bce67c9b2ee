"""What the HTTP contract has to remember."""

from __future__ import annotations

from django.db import models

from memoryhub.tenants.models import ApiKey, TenantModel


class Mem0Project(TenantModel):
    """What a tenant's project is called and set to, in the words of mem0's clients."""

    name = models.CharField(max_length=200, blank=True)
    description = models.TextField(blank=True)
    settings = models.JSONField(default=dict, blank=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["tenant"], name="one_project_a_tenant")]

    def __str__(self) -> str:
        return self.name


class IdempotentRequest(TenantModel):
    """The answer given to a write that carried an `Idempotency-Key`."""

    key = models.CharField(max_length=200)
    route = models.CharField(max_length=120)
    request_hash = models.CharField(max_length=64)
    status = models.IntegerField()
    body = models.JSONField()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["tenant", "route", "key"], name="idempotency_key")
        ]
        indexes = [models.Index(fields=["tenant", "created_at"], name="answer_age")]

    def __str__(self) -> str:
        return self.key


class RateWindow(TenantModel):
    """The requests of a key in the minute it was last used in, counted from 1970."""

    key = models.OneToOneField(ApiKey, models.CASCADE, related_name="+")
    minute = models.BigIntegerField()
    count = models.IntegerField()

    def __str__(self) -> str:
        return f"{self.count} of {self.key_id}"


class LoggedRequest(TenantModel):
    """A request that came with a key. No words of anybody: `route` is as it is declared, `error`
    the problem's code. `key_id` outlives the key. Written some seconds later, swept after days."""

    at = models.DateTimeField()
    method = models.CharField(max_length=10)
    route = models.CharField(max_length=200)
    status = models.SmallIntegerField()
    milliseconds = models.FloatField()
    key_id = models.UUIDField()
    request_id = models.CharField(max_length=64, blank=True)
    error = models.CharField(max_length=60, blank=True)

    class Meta:
        ordering = ["-at", "-id"]
        indexes = [models.Index(fields=["tenant", "-at"], name="request_recent")]

    def __str__(self) -> str:
        return f"{self.method} {self.route}: {self.status}"
