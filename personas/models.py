"""Who it is about, and what is in front of the model now (MemoryOS, MemGPT; spec §3, §8, §11.2)."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from memoryhub.dialogues.models import Session
from memoryhub.tenants.models import Space, TenantModel
from notes.models import Derived, Episode, Fact
from notes.models.fields import (
    DERIVED_FIELDS,
    ROW_FIELDS,
    TECHNICAL,
    MemoryField,
    MemoryFields,
)
from personas.dimensions import describe_trait

# Who sits at a window that names nobody.
AGENT_NAME = "MemoryHub"


class Trait(Derived):
    """An assessment of one registered dimension, while it held. Never overrides a fact (I3)."""

    class Level(models.TextChoices):
        HIGH = "high", _("High")
        MEDIUM = "medium", _("Medium")
        LOW = "low", _("Low")

    # The subject, or an agent in its dealings with this subject.
    owner = models.CharField(max_length=120)
    key = models.CharField(max_length=40)
    level = models.CharField(max_length=6, choices=Level)
    confidence = models.FloatField(default=0.7)
    rationale = models.TextField(blank=True)
    valid_from = models.DateTimeField()
    valid_to = models.DateTimeField(null=True, blank=True)

    memory_fields: ClassVar[MemoryFields] = {
        **ROW_FIELDS,
        "owner": MemoryField(_("owner")),
        "key": MemoryField(_("key")),
        "level": MemoryField(_("level"), is_news=True),
        "confidence": MemoryField(_("confidence")),
        "rationale": MemoryField(_("because"), is_words=True, is_news=True),
        "valid_from": MemoryField(_("true from")),
        "valid_to": MemoryField(_("true until"), is_news=True),
        **DERIVED_FIELDS,
    }

    class Meta:
        ordering = ["key", "-valid_from"]
        constraints = [
            models.UniqueConstraint(
                fields=["space", "owner", "key"],
                condition=Q(valid_to=None, retired_at=None),
                name="one_open_trait",
            )
        ]

    def __str__(self) -> str:
        return describe_trait(self.key, self.level)


class ProfileAttribute(Derived):
    """A name, a birth year, a role: by hand, or mirrored from its fact (I3)."""

    owner = models.CharField(max_length=120)
    key = models.CharField(max_length=40)
    value = models.CharField(max_length=500)
    fact = models.ForeignKey(
        Fact, models.CASCADE, null=True, blank=True, related_name="profile_attributes"
    )

    memory_fields: ClassVar[MemoryFields] = {
        **ROW_FIELDS,
        "owner": MemoryField(_("owner")),
        "key": MemoryField(_("key")),
        "value": MemoryField(_("value"), is_words=True),
        "fact_id": MemoryField(_("says the fact")),
        **DERIVED_FIELDS,
    }

    class Meta:
        ordering = ["key"]
        constraints = [
            models.UniqueConstraint(
                fields=["space", "owner", "key"],
                condition=Q(retired_at=None),
                name="one_profile_value",
            )
        ]

    def __str__(self) -> str:
        return f"{self.key}: {self.value}"

    @property
    def label(self) -> str:
        return format_attribute_key(self.key)


_ATTRIBUTE_LABELS = {
    "name": pgettext_lazy("of a person", "Name"),
    "nickname": pgettext_lazy("of a person", "Nickname"),
    "age": pgettext_lazy("of a person", "Age"),
    "birth_year": pgettext_lazy("of a person", "Birth year"),
    "birthday": pgettext_lazy("of a person", "Birthday"),
    "gender": pgettext_lazy("of a person", "Gender"),
    "lives_in": pgettext_lazy("of a person", "Lives in"),
    "comes_from": pgettext_lazy("of a person", "Comes from"),
    "nationality": pgettext_lazy("of a person", "Nationality"),
    "works_as": pgettext_lazy("of a person", "Works as"),
    "works_at": pgettext_lazy("of a person", "Works at"),
    "studies_at": pgettext_lazy("of a person", "Studies at"),
    "marital_status": pgettext_lazy("of a person", "Marital status"),
    "native_language": pgettext_lazy("of a person", "Native language"),
}


def format_attribute_key(key: str) -> str:
    """What a value of the profile is, in the reader's language; a key of one's own as it is."""
    return str(_ATTRIBUTE_LABELS.get(key) or key.replace("_", " ").capitalize())


class CoreBlock(TenantModel):
    """Text always in front of an agent. Without a space it is shared by all of the tenant's.

    `version` is optimistic: a writer names the one it read (G7). `agent` "": any agent's.
    """

    space = models.ForeignKey(
        Space, models.CASCADE, null=True, blank=True, related_name="core_blocks"
    )
    agent = models.CharField(max_length=120, blank=True)
    label = models.CharField(max_length=60)
    value = models.TextField(blank=True)
    description = models.CharField(max_length=500, blank=True)
    char_limit = models.IntegerField(default=2000)
    read_only = models.BooleanField(default=False)
    # Written by the pipeline, so that no agent edits it: the portrait (C9).
    generated = models.BooleanField(default=False)
    version = models.IntegerField(default=1)
    retired_at = models.DateTimeField(null=True, blank=True)
    updated_at = models.DateTimeField()

    memory_fields: ClassVar[MemoryFields] = {
        **ROW_FIELDS,
        "space_id": TECHNICAL,
        "agent": MemoryField(_("agent")),
        "label": MemoryField(_("label"), is_words=True, is_news=True),
        "value": MemoryField(_("text"), is_words=True, is_news=True),
        "description": MemoryField(_("description"), is_news=True),
        "char_limit": MemoryField(_("limit in characters")),
        "read_only": MemoryField(_("read-only")),
        "generated": MemoryField(_("generated")),
        "version": DERIVED_FIELDS["version"],
        "updated_at": TECHNICAL,
        "retired_at": DERIVED_FIELDS["retired_at"],
    }

    class Meta:
        ordering = ["label"]
        constraints = [
            models.UniqueConstraint(
                fields=["tenant", "space", "agent", "label"],
                condition=Q(retired_at=None),
                name="one_block_a_label",
            ),
            models.UniqueConstraint(
                fields=["tenant", "agent", "label"],
                condition=Q(retired_at=None, space=None),
                name="one_shared_block_a_label",
            ),
        ]

    def __str__(self) -> str:
        return self.label


class BlockVersion(TenantModel):
    """What a block said in one of its versions, and who wrote it from which space and turn."""

    block = models.ForeignKey(CoreBlock, models.CASCADE, related_name="versions")
    version = models.IntegerField()
    value = models.TextField(blank=True)
    actor = models.CharField(max_length=120)
    reason = models.CharField(max_length=500, blank=True)
    space = models.ForeignKey(Space, models.SET_NULL, null=True, blank=True, related_name="+")
    turn_id = models.UUIDField(null=True, blank=True)
    created_at = models.DateTimeField()

    memory_fields: ClassVar[MemoryFields] = {
        **ROW_FIELDS,
        "block_id": MemoryField(api=None),
        "version": TECHNICAL,
        "value": MemoryField(_("text"), is_words=True),
        "actor": TECHNICAL,
        "reason": MemoryField(_("reason")),
        "space_id": TECHNICAL,
        "turn_id": TECHNICAL,
        "created_at": TECHNICAL,
    }

    class Meta:
        ordering = ["-version"]
        constraints = [
            models.UniqueConstraint(fields=["block", "version"], name="one_block_version")
        ]

    def __str__(self) -> str:
        return f"{self.block_id} v{self.version}"


class BlockAttachment(TenantModel):
    """A shared block in a space: two agents or two subjects may read and write the same one."""

    block = models.ForeignKey(CoreBlock, models.CASCADE, related_name="attachments")
    space = models.ForeignKey(Space, models.CASCADE, related_name="block_attachments")
    agent = models.CharField(max_length=120, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["block", "space", "agent"], name="attached_once")
        ]

    def __str__(self) -> str:
        return f"{self.block_id} in {self.space_id}"


class Window(TenantModel):
    """What of a session is in front of the agent (MemGPT): turns from `head_seq` on, behind the
    rolling summary. `alerted`: the one warning of this pressure period was given (G9).

    Timers wake its `agent`: every `beat_minutes` (0: never), next at `beats_at`, and once at
    `alarm_at`, when it asked to be woken. `busy_until`: somebody takes a turn at it, and is given
    up after that.
    """

    space = models.ForeignKey(Space, models.CASCADE, related_name="windows")
    session = models.OneToOneField(Session, models.CASCADE, related_name="window")
    head_seq = models.BigIntegerField(default=0)
    rolling = models.ForeignKey(Episode, models.SET_NULL, null=True, blank=True, related_name="+")
    # Evicted messages that no summary covers, because folding failed (MG10).
    hidden = models.IntegerField(default=0)
    context_limit = models.IntegerField(default=8000)
    alerted = models.BooleanField(default=False)
    agent = models.CharField(max_length=120, blank=True)
    beat_minutes = models.IntegerField(default=0)
    beats_at = models.DateTimeField(null=True, blank=True)
    alarm_at = models.DateTimeField(null=True, blank=True)
    busy_until = models.DateTimeField(null=True, blank=True)
    version = models.IntegerField(default=1)

    def __str__(self) -> str:
        return f"window of {self.session_id}"

    @property
    def agent_name(self) -> str:
        return self.agent or AGENT_NAME
