"""Addresses that are told what happens, what there is to tell, and what became of telling it."""

from __future__ import annotations

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Index, Q, UniqueConstraint
from django.utils.translation import gettext_lazy as _

from memoryhub.tenants.models import Space, TenantModel


class Webhook(TenantModel):
    """An address of the tenant's that is sent `events`, of one space or, without one, of all.

    `events`: names as its `style` has them. `content`: whether words go along. The secret is not
    here: it follows from the hub's own key, this row's id and `generation`; the one before
    signs beside it until `previous_until`. `failures`: attempts that failed since the last that
    did not; until `quiet_until` nothing is sent by itself. `given_up`: deliveries given up since.
    """

    class Style(models.TextChoices):
        NATIVE = "native", "MemoryHub"
        MEM0 = "mem0", "mem0"

    class Content(models.TextChoices):
        IDS = "ids", _("IDs only")
        TEXT = "text", _("IDs and text")

    name = models.CharField(max_length=120)
    url = models.CharField(max_length=2000)
    space = models.ForeignKey(Space, models.CASCADE, null=True, blank=True, related_name="+")
    events = ArrayField(models.CharField(max_length=40))
    style = models.CharField(max_length=6, choices=Style, default=Style.NATIVE)
    content = models.CharField(max_length=4, choices=Content, default=Content.IDS)
    is_active = models.BooleanField(default=True)
    disabled_because = models.CharField(max_length=500, blank=True)
    generation = models.IntegerField(default=1)
    previous_until = models.DateTimeField(null=True, blank=True)
    failures = models.IntegerField(default=0)
    given_up = models.IntegerField(default=0)
    quiet_until = models.DateTimeField(null=True, blank=True)
    last_success_at = models.DateTimeField(null=True, blank=True)
    version = models.IntegerField(default=1)
    created_by = models.CharField(max_length=120)
    created_at = models.DateTimeField()
    changed_at = models.DateTimeField()

    class Meta:
        ordering = ["-created_at", "-id"]
        indexes = [Index(fields=["tenant", "-created_at"], name="webhook_recent")]

    def __str__(self) -> str:
        return self.name


class WebhookEvent(TenantModel):
    """Something to tell: written with the change itself. `data` has ids and figures, no words.

    `once`: the name under which it is told a single time, if it has one.
    """

    kind = models.CharField(max_length=40)
    space = models.ForeignKey(Space, models.CASCADE, null=True, blank=True, related_name="+")
    data = models.JSONField(default=dict)
    once = models.CharField(max_length=80, blank=True)
    occurred_at = models.DateTimeField()
    created_at = models.DateTimeField()

    class Meta:
        ordering = ["-created_at", "-id"]
        constraints = [
            UniqueConstraint(
                fields=["tenant", "once"], condition=~Q(once=""), name="webhook_event_once"
            )
        ]
        indexes = [Index(fields=["tenant", "created_at"], name="webhook_event_age")]

    def __str__(self) -> str:
        return self.kind


class Delivery(TenantModel):
    """An event on its way to a webhook. `name`: what the event is called there.

    `attempts` counts claims and fences them, as a job's do; `tries` are those since it was last
    begun, and are limited. `status`, `milliseconds`, `error` and `reply` are of the last one;
    `log` has the latest, as `{"at", "status", "ms", "error"}`.
    """

    class State(models.TextChoices):
        WAITING = "waiting", _("Waiting")
        SENDING = "sending", _("Being sent")
        RETRY = "retry", _("Will be retried")
        DELIVERED = "delivered", _("Delivered")
        DEAD = "dead", _("Given up")

    webhook = models.ForeignKey(Webhook, models.CASCADE, related_name="deliveries")
    event = models.ForeignKey(WebhookEvent, models.CASCADE, related_name="deliveries")
    name = models.CharField(max_length=40)
    state = models.CharField(max_length=9, choices=State, default=State.WAITING)
    attempts = models.IntegerField(default=0)
    tries = models.IntegerField(default=0)
    run_after = models.DateTimeField()
    lease_until = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField()
    finished_at = models.DateTimeField(null=True, blank=True)
    status = models.IntegerField(null=True, blank=True)
    milliseconds = models.FloatField(null=True, blank=True)
    error = models.CharField(max_length=500, blank=True)
    reply = models.CharField(max_length=500, blank=True)
    log = models.JSONField(default=list, blank=True)

    class Meta:
        ordering = ["-created_at", "-id"]
        verbose_name_plural = "deliveries"
        constraints = [
            UniqueConstraint(fields=["webhook", "event"], name="delivered_once"),
            # A receiver gets one request at a time, whatever the workers think.
            UniqueConstraint(
                fields=["webhook"], condition=Q(state="sending"), name="one_sending_a_webhook"
            ),
        ]
        indexes = [
            Index(
                fields=["webhook", "run_after"],
                condition=Q(state__in=["waiting", "retry", "sending"]),
                name="delivery_due",
            ),
            Index(fields=["webhook", "-created_at", "-id"], name="delivery_recent"),
        ]

    def __str__(self) -> str:
        return f"{self.name} to {self.webhook_id}"
