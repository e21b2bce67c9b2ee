"""Who uses the hub: people, tenants, and the spaces that keep subjects apart (spec §11.2)."""

from __future__ import annotations

from datetime import date, timedelta
from functools import lru_cache
from typing import TypeVar
from uuid import UUID
from zoneinfo import ZoneInfo

from django.contrib.auth.models import AbstractUser
from django.contrib.postgres.fields import ArrayField
from django.contrib.sessions.base_session import AbstractBaseSession
from django.db import models
from django.db.models import Index, Q, UniqueConstraint
from django.db.models.sql import Query
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from memoryhub.subject_names import PLACEHOLDERS, choose_display_name, list_called_names
from memoryhub.tenants.ids import new_id
from memoryhub.tenants.scope import get_current_tenant

M = TypeVar("M", bound=models.Model)


class User(AbstractUser):
    """A person who signs in to the console. Belongs to tenants by memberships."""


class BrowserSession(AbstractBaseSession):
    """A browser that somebody signed in with (sessions.py). The hub's, as people are."""

    account = models.ForeignKey(User, models.CASCADE, null=True, related_name="+")
    address = models.CharField(max_length=45, blank=True)
    agent = models.CharField(max_length=200, blank=True)
    started_at = models.DateTimeField(null=True)


class SecondFactor(models.Model):
    """What somebody shows beside the password: the codes of an app, or a passkey
    (second_factor.py, passkeys.py). The hub's, as people are."""

    class Kind(models.TextChoices):
        APP = "app", _("Authenticator app")
        PASSKEY = "passkey", _("Passkey")

    NAME_LENGTH = 60

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    account = models.ForeignKey(User, models.CASCADE, related_name="+")
    kind = models.CharField(max_length=10, choices=Kind)
    name = models.CharField(max_length=NAME_LENGTH)
    # An app's: what its codes follow from, under seal, and the half minute of the last one taken.
    sealed_secret = models.TextField(blank=True)
    last_step = models.BigIntegerField(default=0)
    # A passkey's: its id and public key as WebAuthn has them, and the host it was made for.
    credential = models.BinaryField(default=b"")
    host = models.CharField(max_length=253, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    last_used_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["created_at", "id"]
        constraints = [
            UniqueConstraint(
                fields=["account"], condition=Q(kind="app"), name="one_app_per_account"
            )
        ]

    def __str__(self) -> str:
        return self.name


class RecoveryCode(models.Model):
    """Signs in once in place of a second factor; the row goes with its use. Of the code, which is
    random and long, a digest is kept."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    account = models.ForeignKey(User, models.CASCADE, related_name="+")
    digest = models.CharField(max_length=64)

    def __str__(self) -> str:
        return f"of {self.account_id}"


class SignOnIdentity(models.Model):
    """Who somebody is to an OpenID provider (sign_on.py). The hub's, as people are."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    account = models.ForeignKey(User, models.CASCADE, related_name="+")
    issuer = models.CharField(max_length=300)
    subject = models.CharField(max_length=255)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            UniqueConstraint(fields=["issuer", "subject"], name="one_account_per_identity"),
            UniqueConstraint(fields=["issuer", "account"], name="one_identity_per_account"),
        ]

    def __str__(self) -> str:
        return f"{self.subject} of {self.issuer}"


class AccountEvent(models.Model):
    """What happened to an account, appended by sign_in.py and accounts.py and never changed.

    A name that nobody has is not kept: it may be a password in the wrong field. `name_key` stands
    for it, an HMAC; `device` is a browser that the account was signed in with before.
    """

    class Kind(models.TextChoices):
        SIGNED_IN = "sign_in.done", _("Signed in")
        SIGN_IN_FAILED = "sign_in.failed", _("Wrong password")
        SIGNED_ON = "sign_on.done", _("Signed in by single sign-on")
        SIGN_ON_REFUSED = "sign_on.refused", _("Single sign-on refused")
        SIGN_ON_LINKED = "sign_on.linked", _("Single sign-on connected")
        SIGN_ON_REMOVED = "sign_on.removed", _("Single sign-on removed")
        SECOND_FAILED = "second.failed", _("Wrong code or passkey")
        SIGNED_OUT = "sign_out.done", _("Signed out")
        RESET_ASKED = "reset.asked", _("Password reset requested")
        PASSWORD_CHANGED = "password.changed", _("Password changed")  # no password
        SESSIONS_ENDED = "sessions.ended", _("Sessions ended")
        FACTOR_ADDED = "second.added", _("Second factor added")
        FACTOR_REMOVED = "second.removed", _("Second factor removed")
        CODES_MADE = "second.codes", _("Recovery codes created")
        CODE_USED = "second.code_used", _("Recovery code used")
        OPERATOR_MADE = "operator.made", _("Became an operator")
        OPERATOR_DISMISSED = "operator.dismissed", _("No longer an operator")

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    at = models.DateTimeField()
    kind = models.CharField(max_length=20, choices=Kind)
    # No foreign key: what happened outlives the account.
    account_id = models.BigIntegerField(null=True)
    name = models.CharField(max_length=150, blank=True)
    actor = models.CharField(max_length=150, blank=True)
    address = models.CharField(max_length=45, blank=True)
    name_key = models.CharField(max_length=32, blank=True)
    device = models.CharField(max_length=32, blank=True)

    class Meta:
        ordering = ["-at", "-id"]
        indexes = [
            Index(fields=["at"], name="account_event_old"),
            Index(fields=["name_key", "at"], name="account_event_name"),
            Index(fields=["address", "at"], name="account_event_address"),
            Index(fields=["account_id", "at"], name="account_event_account"),
        ]

    def __str__(self) -> str:
        return f"{self.get_kind_display()}: {self.name}"


class TenantManager(models.Manager[M]):
    """Rows of the tenant in scope; none without a scope."""

    def get_queryset(self) -> models.QuerySet[M]:
        tenant_id = get_current_tenant()
        found = super().get_queryset()
        if tenant_id is None:
            return found.none()
        found.query = _build_tenant_query(self.model, tenant_id).clone()
        return found


# A step asks a hundred times: to copy the condition takes a fourth of putting it together.
@lru_cache(maxsize=1024)
def _build_tenant_query(model: type[models.Model], tenant_id: UUID) -> Query:
    return models.QuerySet(model).filter(tenant_id=tenant_id).query


class Tenant(models.Model):
    """A customer of the hub: nothing crosses from one to another."""

    class Engine(models.TextChoices):
        LOCAL = "local", _("Local, no model needed")
        LLM = "llm", _("OpenAI-compatible model")

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    name = models.CharField(max_length=120)
    slug = models.SlugField(max_length=60, unique=True)
    engine = models.CharField(max_length=20, choices=Engine, default=Engine.LOCAL)
    created_at = models.DateTimeField(auto_now_add=True)
    # Where a model is asked, if not where the hub's is: with its key under seal (sealing.py).
    endpoint = models.CharField(max_length=500, blank=True)
    model = models.CharField(max_length=120, blank=True)
    sealed_key = models.TextField(blank=True)
    # Its people are shown nothing of it unless they signed in with a second factor.
    second_factor_required = models.BooleanField(default=False, db_default=False)
    # Set once the demo's dialogues are all in: a hub never seeds twice.
    seeded_at = models.DateTimeField(null=True, blank=True)
    # The cell that serves it now, once it has moved: nothing is read or written here any more.
    moved_to = models.CharField(max_length=60, blank=True, default="", db_default="")
    # How many messages it may keep, 0 for any number; None: as the settings say.
    max_turns = models.PositiveIntegerField(null=True, blank=True)
    # A replay's: whoever made it does its work, by the clock of what was said. Workers don't.
    own_clock = models.BooleanField(default=False)

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name


class TenantModel(models.Model):
    """A row of a tenant. Its table has row-level security (see rls.py and its test)."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    tenant = models.ForeignKey(Tenant, models.CASCADE, related_name="+", db_index=False)

    objects = TenantManager()

    class Meta:
        abstract = True


class Space(TenantModel):
    """One subject's memories: the unit of isolation, order and erasure."""

    subject = models.CharField(max_length=200)
    name = models.CharField(max_length=200, blank=True)
    timezone = models.CharField(max_length=64, default="UTC")
    # What else they are or were called, ids among it, and the turn that told the name; None:
    # somebody set it.
    former_names = ArrayField(models.CharField(max_length=200), default=list, blank=True)
    named_in = models.UUIDField(null=True, blank=True)
    # What was written before does not say the name yet.
    rename_due = models.BooleanField(default=False)
    # Names of everyone who spoke here: recall takes them out of questions.
    speakers = ArrayField(models.CharField(max_length=120), default=list, blank=True)
    next_seq = models.BigIntegerField(default=1)
    # Whose vectors are searched; "": the embedder's in use (E17).
    embedding_model = models.CharField(max_length=80, blank=True)
    # Whose vectors have an approximate index (notes/index/approximate.py); "": search is exact.
    approximate_model = models.CharField(max_length=80, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    last_activity_at = models.DateTimeField(null=True, blank=True)
    # Since then nothing that is said is kept, until somebody goes on; None: it is.
    paused_at = models.DateTimeField(null=True, blank=True)
    paused_by = models.CharField(max_length=150, blank=True)

    class Meta:
        ordering = ["subject"]
        constraints = [UniqueConstraint(fields=["tenant", "subject"], name="space_per_subject")]

    def __str__(self) -> str:
        return self.name or self.subject

    @property
    def display_name(self) -> str:
        """How the subject is called in what is written; never by an id."""
        spoke = [name for name in PLACEHOLDERS if name in self.speakers]
        return choose_display_name(self.name, self.subject, placeholder=spoke[0] if spoke else "")

    @property
    def called_names(self) -> tuple[str, ...]:
        """All that stands for the subject, the display name first."""
        return list_called_names(self.display_name, self.subject, self.former_names)

    def name_owner(self, owner: str) -> str:
        """Whose a fact is: the subject has one name there, whatever its words say."""
        return self.display_name if owner in self.called_names else owner

    @property
    def people(self) -> list[str]:
        """Everyone who spoke here, the subject by one name."""
        others = set(self.called_names[1:])
        return [name for name in self.speakers if name not in others]


class SpaceModel(TenantModel):
    """A row of one space."""

    space = models.ForeignKey(Space, models.CASCADE, related_name="+", db_index=False)

    class Meta:
        abstract = True


class Membership(TenantModel):
    class Role(models.TextChoices):
        VIEWER = "viewer", _("Viewer: reads")
        EDITOR = "editor", _("Editor: corrects memories")
        ADMIN = "admin", _("Admin: keys, people, erasure")

    user = models.ForeignKey(User, models.CASCADE, related_name="memberships")
    role = models.CharField(max_length=10, choices=Role, default=Role.VIEWER)

    class Meta:
        constraints = [
            UniqueConstraint(fields=["tenant", "user"], name="one_membership_per_tenant")
        ]

    def __str__(self) -> str:
        return f"{self.user_id} is {self.role}"


class ApiKey(TenantModel):
    """A secret of an agent backend: `mh_<prefix>_<secret>`, of which an HMAC is kept."""

    class Scope(models.TextChoices):
        READ = "read", pgettext_lazy("what a key may do", "Read")
        WRITE = "write", pgettext_lazy("what a key may do", "Write")
        ADMIN = "admin", pgettext_lazy("what a key may do", "Admin")

    NAME_LENGTH = 120

    name = models.CharField(max_length=NAME_LENGTH)
    prefix = models.CharField(max_length=12, unique=True)
    digest = models.CharField(max_length=64)
    scopes = ArrayField(models.CharField(max_length=10, choices=Scope))
    space = models.ForeignKey(
        Space, models.CASCADE, null=True, blank=True, related_name="+", db_index=False
    )
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)
    last_used_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-created_at"]

    def __str__(self) -> str:
        return f"{self.name} (mh_{self.prefix}_…)"

    @property
    def last_day(self) -> date | None:
        """On which it still works, in its space's zone, else in UTC."""
        if self.expires_at is None:
            return None
        zone = ZoneInfo(self.space.timezone if self.space else "UTC")
        return (self.expires_at.astimezone(zone) - timedelta(microseconds=1)).date()

    @property
    def is_over(self) -> bool:
        """Its time is over, whether it was revoked or not."""
        return self.expires_at is not None and self.expires_at <= timezone.now()

    @property
    def scope_words(self) -> str:
        return ", ".join(str(self.Scope(scope).label).lower() for scope in self.scopes)


class PersonLink(SpaceModel):
    """A person's way to the page of their own memories. The signed token is kept nowhere.

    `minute`, counted from 1970, is that of the last visit; `count`, the requests in it.
    """

    note = models.CharField(max_length=200, blank=True)
    created_by = models.CharField(max_length=150)
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    revoked_at = models.DateTimeField(null=True, blank=True)
    last_used_at = models.DateTimeField(null=True, blank=True)
    minute = models.BigIntegerField(default=0)
    count = models.IntegerField(default=0)

    class Meta:
        ordering = ["-created_at"]
        indexes = [Index(fields=["space", "-created_at"], name="person_link_recent")]

    def __str__(self) -> str:
        return f"until {self.expires_at:%Y-%m-%d}"


class AuditEntry(TenantModel):
    """A change of the tenant itself, by whom (audit.py). `about` and `detail` are words for people,
    without secrets and without the name of a subject; what is about one `space` goes with it."""

    class Action(models.TextChoices):
        KEY_MADE = "key.made", _("Key created")
        KEY_ROTATED = "key.rotated", _("Key rotated")
        KEY_REVOKED = "key.revoked", _("Key revoked")
        PERSON_ADDED = "person.added", _("Person added")
        PERSON_CHANGED = "person.changed", _("Role changed")
        PERSON_REMOVED = "person.removed", _("Person removed")
        PERSON_SIGNED_OUT = "person.signed_out", _("Person signed out")
        WEBHOOK_MADE = "webhook.made", _("Webhook created")
        WEBHOOK_CHANGED = "webhook.changed", _("Webhook changed")
        WEBHOOK_ROTATED = "webhook.rotated", _("Webhook's secret changed")
        WEBHOOK_DELETED = "webhook.deleted", _("Webhook deleted")
        TENANT_CHANGED = "tenant.changed", _("Tenant changed")
        MODELS_CHANGED = "models.changed", _("Models changed")
        EXPORTED = "data.exported", _("Exported as a file")
        REDACTED = "data.redacted", _("Content of model calls deleted")
        AGED_OUT = "data.aged_out", _("Ended by age")

    action = models.CharField(max_length=20, choices=Action)
    actor = models.CharField(max_length=120)
    about = models.CharField(max_length=200)
    detail = models.CharField(max_length=500, blank=True)
    space = models.ForeignKey(Space, models.CASCADE, null=True, blank=True, related_name="+")
    at = models.DateTimeField()

    class Meta:
        ordering = ["-at", "-id"]
        indexes = [Index(fields=["tenant", "-at"], name="audit_recent")]

    def __str__(self) -> str:
        return f"{self.get_action_display()}: {self.about}"
