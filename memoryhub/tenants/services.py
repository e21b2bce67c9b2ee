"""Every change to tenants, spaces, memberships and keys."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from datetime import datetime, timedelta
from uuid import UUID

from django.db import connection
from django.utils.translation import gettext, gettext_noop

from memoryhub.errors import Conflict, InvalidInput, NotFound
from memoryhub.subject_names import has_hidden_characters
from memoryhub.tenants import keys
from memoryhub.tenants.audit import HUB_ACTOR, Action, record_audit_entry
from memoryhub.tenants.database.prepared import load_prepared_rows
from memoryhub.tenants.models import ApiKey, Membership, Space, Tenant, User
from memoryhub.tenants.scope import tenant_scope

HIDDEN_REFUSED = gettext_noop("control characters and line breaks are not allowed")
MAX_SUBJECT_LENGTH = 200
MAX_NAME_LENGTH = 120
MAX_QUOTA = 2**31 - 1  # of messages


def create_tenant(
    name: str, slug: str, *, engine: str = Tenant.Engine.LOCAL, own_clock: bool = False
) -> Tenant:
    """`own_clock`: workers leave it alone; whoever makes it runs its jobs."""
    tenant = Tenant(name=name, slug=slug, engine=engine, own_clock=own_clock)
    with tenant_scope(tenant.id):
        tenant.save(force_insert=True)
    return tenant


def check_engine_known(engine: str) -> None:
    """Raises InvalidInput."""
    if engine not in Tenant.Engine.values:
        told = {"engine": repr(engine), "known": ", ".join(Tenant.Engine.values)}
        message = gettext("there is no engine %(engine)s; known: %(known)s")
        raise InvalidInput(message % told, field="engine")


def set_tenant_engine(tenant_id: UUID, engine: str, *, actor: str = HUB_ACTOR) -> None:
    """Have another engine read and answer for the tenant, from the next job on."""
    check_engine_known(engine)
    with tenant_scope(tenant_id):
        Tenant.objects.filter(id=tenant_id).update(engine=engine)
        record_audit_entry(tenant_id, Action.TENANT_CHANGED, actor, "engine", f"now {engine}")


def rename_tenant(tenant_id: UUID, name: str, *, actor: str = HUB_ACTOR) -> None:
    """Raises InvalidInput."""
    name = " ".join(name.replace("\0", "").split())
    if not 1 <= len(name) <= MAX_NAME_LENGTH:
        raise InvalidInput(
            gettext("1 to %(limit)s characters") % {"limit": MAX_NAME_LENGTH}, field="name"
        )
    with tenant_scope(tenant_id):
        Tenant.objects.filter(id=tenant_id).update(name=name)
        record_audit_entry(tenant_id, Action.TENANT_CHANGED, actor, "name", f"now {name}")


def require_second_factor(tenant_id: UUID, required: bool, *, actor: str = HUB_ACTOR) -> None:
    """From the next page that its people open."""
    with tenant_scope(tenant_id):
        if Tenant.objects.filter(id=tenant_id).update(second_factor_required=required):
            words = "required" if required else "everybody's own choice"
            record_audit_entry(
                tenant_id, Action.TENANT_CHANGED, actor, "second factor", f"now {words}"
            )


def set_quota(tenant_id: UUID, messages: int | None, *, actor: str = HUB_ACTOR) -> None:
    """How many messages the tenant may keep: 0 for any number, None for what the settings say.
    Raises InvalidInput."""
    if messages is not None and not 0 <= messages <= MAX_QUOTA:
        raise InvalidInput(
            gettext("a number between 0 and %(limit)s") % {"limit": f"{MAX_QUOTA:,}"},
            field="messages",
        )
    words = f"{messages:,}" if messages else "any number"
    if messages is None:
        words = "as the settings say"
    with tenant_scope(tenant_id):
        Tenant.objects.filter(id=tenant_id).update(max_turns=messages)
        record_audit_entry(tenant_id, Action.TENANT_CHANGED, actor, "quota", f"now {words}")


def add_member(tenant: Tenant, user: User, role: str, *, actor: str = HUB_ACTOR) -> Membership:
    """Give a person this role, in place of the one they had. Who has it already is left as is."""
    with tenant_scope(tenant.id):
        had = Membership.objects.filter(user=user).first()
        if had is not None and had.role == role:
            return had
        membership, _ = Membership.objects.update_or_create(
            tenant=tenant, user=user, defaults={"role": role}
        )
        action = Action.PERSON_CHANGED if had else Action.PERSON_ADDED
        words = f"{had.role} before, now {role}" if had else f"as {role}"
        record_audit_entry(tenant.id, action, actor, user.username, words)
    return membership


def create_key(
    tenant: Tenant,
    name: str,
    scopes: Sequence[str],
    *,
    space: Space | None = None,
    expires_at: datetime | None = None,
    secret: str | None = None,
    actor: str = HUB_ACTOR,
    replaces: ApiKey | None = None,
) -> tuple[ApiKey, str]:
    """(row, key). The key can't be shown again. `secret`: a key chosen by the operator;
    `replaces`: the one it is to take the place of."""
    if unknown := set(scopes) - set(ApiKey.Scope.values):
        raise InvalidInput(
            gettext("unknown scopes: %(known)s") % {"known": ", ".join(sorted(unknown))},
            field="scopes",
        )
    if secret:
        key, prefix, digest = secret, keys.extract_prefix(secret), keys.hash_key(secret)
    else:
        key, prefix, digest = keys.generate_key()
    if not prefix:
        message = gettext(
            "a key looks like mh_<12 letters or digits>_<32 to 64 url-safe characters>"
        )
        raise InvalidInput(message, field="secret")
    with tenant_scope(tenant.id):
        row = ApiKey.objects.create(
            tenant=tenant,
            name=name,
            prefix=prefix,
            digest=digest,
            scopes=list(scopes),
            space=space,
            expires_at=expires_at,
        )
        action = Action.KEY_ROTATED if replaces else Action.KEY_MADE
        reach = f"{', '.join(row.scopes)}; {'one space' if space else 'all spaces'}"
        before = f"; in place of {replaces}" if replaces else ""
        record_audit_entry(tenant.id, action, actor, str(row), reach + before, space=space)
    return row, key


def rotate_key(
    key: ApiKey, now: datetime, overlap: timedelta, *, actor: str = HUB_ACTOR
) -> tuple[ApiKey, str]:
    """(row, key): another with the same rights and end. The old one works until `overlap` is
    over, if it does not end before. Raises Conflict for one that is revoked or over."""
    if key.revoked_at is not None or (key.expires_at and key.expires_at <= now):
        raise Conflict(gettext("this key is over: make a new one"), code="key_over")
    with tenant_scope(key.tenant_id):
        tenant = Tenant.objects.get(id=key.tenant_id)
        space = Space.objects.get(id=key.space_id) if key.space_id else None
        made = create_key(
            tenant,
            key.name,
            key.scopes,
            space=space,
            expires_at=key.expires_at,
            actor=actor,
            replaces=key,
        )
        until = min(now + overlap, key.expires_at or now + overlap)
        ApiKey.objects.filter(id=key.id).update(expires_at=until)
    return made


def revoke_key(key: ApiKey, now: datetime, *, actor: str = HUB_ACTOR) -> None:
    with tenant_scope(key.tenant_id):
        if ApiKey.objects.filter(id=key.id, revoked_at=None).update(revoked_at=now):
            space = Space.objects.filter(id=key.space_id).first() if key.space_id else None
            record_audit_entry(key.tenant_id, Action.KEY_REVOKED, actor, str(key), space=space)


def ensure_space(tenant_id: UUID, subject: str, *, name: str = "") -> Space:
    """The subject's space, made on first use. Call inside the tenant's scope.

    Raises InvalidInput for a subject that can't be kept, or that nobody new may be called by.
    """
    subject = clean_subject(subject)
    space = find_space(subject)
    if space is None:
        refuse_hidden_characters(subject)
        space, _ = Space.objects.get_or_create(
            tenant_id=tenant_id, subject=subject, defaults={"name": name}
        )
    return space


def find_space(subject: str) -> Space | None:
    """The subject's space, None where nobody is called so. Call inside the tenant's scope."""
    found: Space | None = Space.objects.filter(subject=normalise_subject(subject)).first()
    return found


def load_space(tenant_id: UUID, space_id: UUID) -> Space:
    """The space with its tenant, as every step asks for it. Call inside the tenant's scope.

    Raises DoesNotExist."""
    found = load_prepared_rows(Space, "tenant_id = %s AND id = %s", [tenant_id, space_id])
    if not found:
        raise Space.DoesNotExist("there is no such space")
    (found[0].tenant,) = load_prepared_rows(Tenant, "id = %s", [tenant_id])
    return found[0]


def pause_space(space: Space, actor: str, now: datetime) -> None:
    """From now on nothing that is said is kept, and agents write nothing. Opens its own scope."""
    with tenant_scope(space.tenant_id):
        Space.objects.filter(id=space.id, paused_at=None).update(
            paused_at=now, paused_by=actor[:150]
        )


def resume_space(space: Space) -> None:
    """End a pause. What was said meanwhile was not kept. Opens its own scope."""
    with tenant_scope(space.tenant_id):
        Space.objects.filter(id=space.id).update(paused_at=None, paused_by="")


def find_tenant(slug: str) -> Tenant | None:
    """The tenant of this slug, whoever asks: for commands, which act for the operator."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT memoryhub_tenant_id(%s)", [slug])
        (tenant_id,) = cursor.fetchone()
    if tenant_id is None:
        return None
    with tenant_scope(tenant_id):
        return Tenant.objects.get(id=tenant_id)


def normalise_subject(subject: str) -> str:
    """As it is kept and looked for: composed (NFC), without NULs and blanks around it (E3)."""
    return unicodedata.normalize("NFC", subject.replace("\0", "")).strip()


def clean_subject(subject: str) -> str:
    """Raises InvalidInput for one that is empty or too long, or that no row can have."""
    if "\0" in subject:
        raise InvalidInput(gettext("NUL characters are not allowed"), field="subject")
    subject = normalise_subject(subject)
    if not subject:
        raise InvalidInput(
            gettext("a subject is needed: whom are these memories about?"), field="subject"
        )
    if len(subject) > MAX_SUBJECT_LENGTH:
        raise InvalidInput(
            gettext("at most %(limit)s characters") % {"limit": MAX_SUBJECT_LENGTH}, field="subject"
        )
    return subject


def refuse_hidden_characters(subject: str, field: str = "subject") -> None:
    """Raises InvalidInput for what nobody new may be called. Who was called so before the hub
    looked for it is still found by it."""
    if has_hidden_characters(subject):
        raise InvalidInput(gettext(HIDDEN_REFUSED), field=field)


def lock_space(space: Space) -> None:
    """Bring the space up to date and lock it until commit: one writer at a time numbers turns.

    Its key is left alone, so that rows that name the space are written meanwhile: a job that holds
    pages would wait for who waits for those pages. Raises NotFound for one that was erased
    meanwhile.
    """
    try:
        space.refresh_from_db(from_queryset=Space.objects.select_for_update(no_key=True))
    except Space.DoesNotExist as error:
        raise NotFound(gettext("there is no space with this subject")) from error
