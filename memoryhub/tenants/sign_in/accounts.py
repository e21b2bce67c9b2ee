"""Accounts are the hub's: who operates it, passwords, sessions. Call outside every scope.

An operator of the hub sees to accounts, models and the machine; an admin sees to one tenant. Nobody
becomes the first by way of the second: only a command makes one, on the machine itself.
"""

from __future__ import annotations

import hmac
from uuid import UUID

from django.conf import settings
from django.utils.translation import gettext as _

from memoryhub.errors import NotFound
from memoryhub.tenants.audit import ADMIN_ACTOR, HUB_ACTOR, Action, record_audit_entry
from memoryhub.tenants.models import BrowserSession, Membership, User
from memoryhub.tenants.people import generate_password
from memoryhub.tenants.scope import hub_scope, tenant_scope
from memoryhub.tenants.sign_in.attempts import Kind, record_account_event


def ensure_account(name: str, password: str = "") -> tuple[User, str]:
    """(account, its new password): "" for one that is there already, which is left as it is."""
    found = User.objects.filter(username=name).first()
    if found is not None:
        return found, ""
    password = password or generate_password()
    return User.objects.create_user(name, password=password), password


def find_first_operator() -> User | None:
    return User.objects.filter(is_superuser=True).order_by("id").first()


def make_operator(user: User, *, actor: str = HUB_ACTOR) -> None:
    User.objects.filter(id=user.id).update(is_superuser=True, is_staff=True)
    record_account_event(Kind.OPERATOR_MADE, user, actor)


def dismiss_operator(user: User, *, actor: str = HUB_ACTOR) -> None:
    """An admin of their tenants stays one."""
    User.objects.filter(id=user.id).update(is_superuser=False, is_staff=False)
    record_account_event(Kind.OPERATOR_DISMISSED, user, actor)


def set_password(user: User, password: str = "", *, actor: str = HUB_ACTOR) -> str:
    """Give the account this password, or a new one that is returned; whoever is signed in is so no
    longer."""
    password = password or generate_password()
    user.set_password(password)
    user.save(update_fields=["password"])
    record_account_event(Kind.PASSWORD_CHANGED, user, actor)
    BrowserSession.objects.filter(account=user).delete()
    return password


def name_session(session_key: str) -> str:
    """What a page may call a session by: whoever has the key itself is signed in with it."""
    key = settings.SECRET_KEY.encode()
    return hmac.new(key, session_key.encode(), "sha256").hexdigest()[:32]


def end_sessions(
    user: User, *, name: str = "", but: str | None = None, actor: str = HUB_ACTOR
) -> int:
    """End the session of this name, or all of the account but the one of the key `but`. How many
    there were."""
    rows = BrowserSession.objects.filter(account=user)
    found = [
        row.session_key
        for row in rows
        if row.session_key != but and (not name or name_session(row.session_key) == name)
    ]
    if found:
        rows.filter(session_key__in=found).delete()
        record_account_event(Kind.SESSIONS_ENDED, user, actor)
    return len(found)


def sign_member_out(tenant_id: UUID, member_id: UUID, *, actor: str = HUB_ACTOR) -> None:
    """End all sessions of a member, for an admin of the tenant.

    A session is the person's and opens every tenant of theirs: whoever belongs to others signs in
    anew there, too. The tenant's list of changes names the actor; the account's own record, which
    the person's other tenants see, says that an admin did it. Raises NotFound.
    """
    with tenant_scope(tenant_id):
        member = Membership.objects.filter(id=member_id).select_related("user").first()
        if member is None:
            raise NotFound(_("There is no such member."))
        record_audit_entry(tenant_id, Action.PERSON_SIGNED_OUT, actor, member.user.username)
        with hub_scope():
            end_sessions(member.user, actor=ADMIN_ACTOR)
