"""Single sign-on: whose account it is that an OpenID provider speaks of, and what they may do by
what it says. Call outside every scope.

An account is known by the provider's own name for a person (`sub`), never by a name or an address
that somebody could choose there. Nobody operates the hub by what a provider says.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import structlog
from django.conf import settings
from django.contrib.auth.validators import UnicodeUsernameValidator
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction

from memoryhub.errors import Conflict, MemoryHubError
from memoryhub.tenants.audit import HUB_ACTOR
from memoryhub.tenants.models import Membership, SignOnIdentity, User
from memoryhub.tenants.people import remove_person, set_member_role
from memoryhub.tenants.scope import tenant_scope, user_scope
from memoryhub.tenants.services import add_member, find_tenant
from memoryhub.tenants.sign_in.attempts import Kind, record_account_event
from memoryhub.tenants.sign_in.openid_roles import choose_roles

# Who changes what follows from the provider's words.
PROVIDER_ACTOR = "single sign-on"
_MOST_NAME = 150  # the length of its column
_log = structlog.get_logger(__name__)


class SignOnRefused(MemoryHubError):
    """`code` says why: unknown, disabled, no_place, name_taken, last_admin. `account`: whose it is,
    where that is known."""

    def __init__(self, code: str, account: User | None = None) -> None:
        super().__init__(code, code=code)
        self.account = account


def admit_person(claims: Mapping[str, Any]) -> User:
    """The account of whom these claims are, which hold, with the roles they give; a new one where
    unknown people are let in. Raises SignOnRefused."""
    roles = choose_roles(claims, settings.OIDC_ROLES_CLAIM, settings.OIDC_ROLES)
    known = _find_identity(str(claims["sub"]))
    if known is None:
        return _let_in(claims, roles)
    account = known.account
    if not account.is_active:
        raise SignOnRefused("disabled", account)
    try:
        for slug, role in roles.items():
            _set_role(account, slug, role)
    except Conflict as error:
        raise SignOnRefused("last_admin", account) from error
    with user_scope(account.pk):
        has_place = Membership._base_manager.filter(user_id=account.pk).exists()
    if not has_place and not account.is_superuser:
        raise SignOnRefused("no_place", account)
    return account


def shows_second_factor(claims: Mapping[str, Any]) -> bool:
    """Whether the provider says that more than a password was shown, in words that the operator
    takes for it."""
    methods = claims.get("amr")
    told = {claims.get("acr"), *(methods if isinstance(methods, list) else [])}
    return any(isinstance(each, str) and each in settings.OIDC_SECOND_FACTOR for each in told)


def connect_account(account: User, subject: str, *, actor: str = HUB_ACTOR) -> None:
    """Let whoever has this `sub` at the provider sign in to the account. Raises Conflict where
    either is connected already."""
    try:
        with transaction.atomic():
            SignOnIdentity.objects.create(
                account=account, issuer=settings.OIDC_ISSUER, subject=subject
            )
    except IntegrityError:
        raise Conflict("the account or the subject is connected already") from None
    record_account_event(Kind.SIGN_ON_LINKED, account, actor)


def disconnect_account(account: User, *, actor: str = HUB_ACTOR) -> int:
    """From every provider. How many there were."""
    removed, _kinds = SignOnIdentity.objects.filter(account=account).delete()
    if removed:
        record_account_event(Kind.SIGN_ON_REMOVED, account, actor)
    return removed


def _find_identity(subject: str) -> SignOnIdentity | None:
    rows = SignOnIdentity.objects.filter(issuer=settings.OIDC_ISSUER, subject=subject)
    return rows.select_related("account").first()


def _let_in(claims: Mapping[str, Any], roles: Mapping[str, str | None]) -> User:
    if not settings.OIDC_ADMIT_UNKNOWN:
        raise SignOnRefused("unknown")
    places = {slug: role for slug, role in roles.items() if role and find_tenant(slug)}
    if not places:
        raise SignOnRefused("no_place")
    is_mail_theirs = claims.get("email_verified") is True
    mail = str(claims.get("email") or "") if is_mail_theirs else ""
    name = _choose_name(str(claims.get("preferred_username") or ""), mail, str(claims["sub"]))
    try:
        with transaction.atomic():
            account = User.objects.create_user(name, mail[:254])
            connect_account(account, str(claims["sub"]), actor=PROVIDER_ACTOR)
            for slug, role in places.items():
                _set_role(account, slug, role)
    except (IntegrityError, Conflict) as error:
        # Somebody's account is nobody else's by having the name there: an operator connects them.
        raise SignOnRefused("name_taken") from error
    return account


def _choose_name(*names: str) -> str:
    """The first that may be a user's name here."""
    for name in names:
        try:
            UnicodeUsernameValidator()(name)
        except ValidationError:
            continue
        if len(name) <= _MOST_NAME:
            return name
    raise SignOnRefused("name_taken")


def _set_role(account: User, slug: str, role: str | None) -> None:
    """Raises Conflict where the tenant's last admin would be one no longer."""
    tenant = find_tenant(slug)
    if tenant is None:
        _log.warning("single sign-on names a tenant that is not there", tenant=slug)
        return
    with tenant_scope(tenant.id):
        member = Membership.objects.filter(user_id=account.pk).first()
    if member is None:
        if role:
            add_member(tenant, account, role, actor=PROVIDER_ACTOR)
    elif role is None:
        remove_person(tenant.id, member.id, actor=PROVIDER_ACTOR, keeps_account=True)
    elif member.role != role:
        set_member_role(tenant.id, member.id, role, actor=PROVIDER_ACTOR)
