"""The people of a tenant: who may sign in to its console, and as what."""

from __future__ import annotations

import secrets
from uuid import UUID

from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from memoryhub.errors import Conflict, NotFound
from memoryhub.tenants.audit import HUB_ACTOR, Action, record_audit_entry
from memoryhub.tenants.models import Membership, Tenant, User
from memoryhub.tenants.scope import hub_scope, tenant_scope, user_scope

_ADMIN_ROLE = Membership.Role.ADMIN


def generate_password() -> str:
    return secrets.token_urlsafe(12)


def add_person(
    tenant_id: UUID, username: str, role: str, *, email: str = "", actor: str = HUB_ACTOR
) -> tuple[Membership, str]:
    """(membership, password): a new person with a password that can't be shown again.

    Raises Conflict for a name that is taken, by whomever: a tenant draws nobody in who works for
    another. Opens its own scope.
    """
    password = generate_password()
    with tenant_scope(tenant_id):
        try:
            with transaction.atomic(), hub_scope():
                user = User.objects.create_user(username, email, password)
        except IntegrityError:
            raise Conflict(_("this name is taken: choose another"), code="name_taken") from None
        tenant = Tenant.objects.get(id=tenant_id)
        made = Membership.objects.create(tenant=tenant, user=user, role=role)
        record_audit_entry(tenant_id, Action.PERSON_ADDED, actor, username, f"as {role}")
    return made, password


def set_member_role(tenant_id: UUID, member_id: UUID, role: str, *, actor: str = HUB_ACTOR) -> None:
    """Raises NotFound, and Conflict for the last admin's. Opens its own scope."""
    with tenant_scope(tenant_id):
        member = _lock_member(tenant_id, member_id)
        if role != _ADMIN_ROLE:
            _check_other_admin(member)
        Membership.objects.filter(id=member.id).update(role=role)
        words = f"{member.role} before, now {role}"
        record_audit_entry(tenant_id, Action.PERSON_CHANGED, actor, member.user.username, words)


def remove_person(
    tenant_id: UUID, member_id: UUID, *, actor: str = HUB_ACTOR, keeps_account: bool = False
) -> None:
    """Take the person out of the tenant; whoever belongs to no other is forgotten, unless the
    account is to be kept.

    Raises NotFound, and Conflict for the last admin. Opens its own scopes.
    """
    with tenant_scope(tenant_id):
        member = _lock_member(tenant_id, member_id)
        _check_other_admin(member)
        name, role = member.user.username, member.role
        member.delete()
        record_audit_entry(tenant_id, Action.PERSON_REMOVED, actor, name, f"was {role}")
        if keeps_account:
            return
        with user_scope(member.user_id):
            elsewhere = Membership._base_manager.filter(user_id=member.user_id).exists()
        if not elsewhere:
            with hub_scope():
                User.objects.filter(id=member.user_id, is_superuser=False).delete()


def _lock_member(tenant_id: UUID, member_id: UUID) -> Membership:
    """With the tenant, so that two admins don't remove each other at once."""
    Tenant.objects.select_for_update(no_key=True).get(id=tenant_id)
    member = Membership.objects.filter(id=member_id).select_related("user").first()
    if member is None:
        raise NotFound(_("There is no such member."))
    return member


def _check_other_admin(member: Membership) -> None:
    others = Membership.objects.filter(role=_ADMIN_ROLE).exclude(id=member.id)
    if member.role == _ADMIN_ROLE and not others.exists():
        raise Conflict(_("the last admin stays: make somebody else one first"), code="last_admin")
