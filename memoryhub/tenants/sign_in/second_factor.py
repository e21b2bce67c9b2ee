"""What is shown beside the password by whoever wants it: codes of an app (TOTP, RFC 6238), passkeys
(passkeys.py), and recovery codes for when both are lost. Call outside every scope."""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
import secrets
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from datetime import datetime
from uuid import UUID

from cryptography.hazmat.primitives.hashes import SHA1
from cryptography.hazmat.primitives.twofactor.totp import TOTP
from django.db import transaction
from django.utils.translation import gettext as _

from memoryhub.errors import Conflict, MemoryHubError, NotFound
from memoryhub.tenants.audit import HUB_ACTOR
from memoryhub.tenants.models import RecoveryCode, SecondFactor, User
from memoryhub.tenants.sealing import SealBroken, open_sealed, reseal, seal_secret
from memoryhub.tenants.sign_in.attempts import (
    Kind,
    SignInAttempt,
    is_second_step_held_back,
    record_account_event,
)

MOST_FACTORS = 10
RECOVERY_CODES = 10
_STEP_SECONDS = 30
_SHORT_CODE = re.compile(r"[0-9]{6}")
_GROUPS = re.compile(r".{4}")


class SecondStepHeldBack(MemoryHubError):
    """So much was wrong lately that nothing more is looked at."""

    code = "held_back"


def has_second_factor(account: User) -> bool:
    return SecondFactor.objects.filter(account=account).exists()


def list_holders(user_ids: Collection[int]) -> set[int]:
    """Those of these people who have one."""
    rows = SecondFactor.objects.filter(account_id__in=user_ids)
    return set(rows.values_list("account_id", flat=True))


def generate_app_secret() -> str:
    """As apps take it when it is typed: 32 letters and digits."""
    return base64.b32encode(secrets.token_bytes(20)).decode()


def build_app_address(account: User, secret: str) -> str:
    """What an app reads from a picture."""
    return _build_totp(secret).get_provisioning_uri(account.username, "MemoryHub")


def add_app(account: User, secret: str, code: str, now: datetime) -> bool:
    """Whether the code is one of this secret's: then the account has the app from then on.

    Raises Conflict where it has one already.
    """
    step = _find_step(secret, clean_code(code), now, after=0)
    if step is None:
        return False
    sealed = seal_secret(secret)
    add_factor(account, SecondFactor(kind="app", name="", sealed_secret=sealed, last_step=step))
    return True


def add_factor(account: User, factor: SecondFactor) -> None:
    """Raises Conflict for a second app, and for more than anybody needs."""
    with _lock_account(account):
        held = SecondFactor.objects.filter(account=account)
        if held.count() >= MOST_FACTORS:
            raise Conflict(_("there are enough: remove one first"), code="too_many_factors")
        if factor.kind == SecondFactor.Kind.APP and held.filter(kind=factor.kind).exists():
            raise Conflict(_("there is an app already: remove it first"), code="app_taken")
        factor.account = account
        factor.save(force_insert=True)
        record_account_event(Kind.FACTOR_ADDED, account, account.username)


def remove_factor(account: User, factor_id: UUID) -> None:
    """The recovery codes go with the last. Raises NotFound for one that is not the account's."""
    with _lock_account(account):
        if not SecondFactor.objects.filter(account=account, id=factor_id).delete()[0]:
            raise NotFound(_("This second factor doesn't exist."))
        if not has_second_factor(account):
            RecoveryCode.objects.filter(account=account).delete()
        record_account_event(Kind.FACTOR_REMOVED, account, account.username)


def remove_all_factors(account: User, *, actor: str = HUB_ACTOR) -> int:
    """For whoever lost them; the password is enough from then on. How many there were."""
    with _lock_account(account):
        removed, _kinds = SecondFactor.objects.filter(account=account).delete()
        RecoveryCode.objects.filter(account=account).delete()
        if removed:
            record_account_event(Kind.FACTOR_REMOVED, account, actor)
    return removed


def make_recovery_codes(account: User) -> list[str]:
    """In place of those before. They can't be shown again."""
    codes = [_generate_recovery_code() for _ in range(RECOVERY_CODES)]
    with _lock_account(account):
        RecoveryCode.objects.filter(account=account).delete()
        RecoveryCode.objects.bulk_create(
            RecoveryCode(account=account, digest=_digest_code(account, code)) for code in codes
        )
        record_account_event(Kind.CODES_MADE, account, account.username)
    return codes


def check_code(account: User, code: str, attempt: SignInAttempt, now: datetime) -> bool:
    """Whether it is the app's code of now, not taken before, or a recovery code, which is used up
    by it. Raises SecondStepHeldBack after too many wrong ones."""
    code = clean_code(code)
    is_short = _SHORT_CODE.fullmatch(code) is not None
    take = _take_app_code if is_short else _take_recovery_code
    return try_second_step(
        account, lambda: take(account, code, attempt, now), attempt, now, is_short=is_short
    )


def try_second_step(
    account: User,
    take: Callable[[], bool],
    attempt: SignInAttempt,
    now: datetime,
    *,
    is_short: bool = False,
) -> bool:
    """Whether what was shown is right; what is not is written down and counts against the next.
    One at a time for an account, so that many at once are no more than one after another.

    Raises SecondStepHeldBack.
    """
    with _lock_account(account):
        if is_second_step_held_back(attempt, now, is_short=is_short):
            raise SecondStepHeldBack(_("Too many failed attempts. Try again in 15 minutes."))
        is_right = take()
        if not is_right:
            record_account_event(Kind.SECOND_FAILED, account, "", attempt)
    return is_right


def clean_code(code: str) -> str:
    """As it is compared: spaces and dashes are how it was shown, and case is nobody's."""
    return re.sub(r"[\s-]", "", code).upper()[:64]


def reseal_apps() -> tuple[int, list[str]]:
    """Seal what apps' codes follow from under the hub's key of now: how many, and the names of
    accounts whose key is gone."""
    done, broken = 0, []
    for row in SecondFactor.objects.exclude(sealed_secret="").select_related("account"):
        try:
            sealed = reseal(row.sealed_secret)
        except SealBroken:
            broken.append(row.account.username)
            continue
        same = SecondFactor.objects.filter(id=row.id, sealed_secret=row.sealed_secret)
        done += same.update(sealed_secret=sealed)
    return done, broken


def _take_app_code(account: User, code: str, attempt: SignInAttempt, now: datetime) -> bool:
    app = SecondFactor.objects.filter(account=account, kind=SecondFactor.Kind.APP).first()
    if app is None:
        return False
    try:
        secret = open_sealed(app.sealed_secret)
    except SealBroken:
        return False
    step = _find_step(secret, code, now, after=app.last_step)
    if step is not None:
        SecondFactor.objects.filter(id=app.id).update(last_step=step, last_used_at=now)
    return step is not None


def _take_recovery_code(account: User, code: str, attempt: SignInAttempt, now: datetime) -> bool:
    held = RecoveryCode.objects.filter(account=account, digest=_digest_code(account, code))
    if not held.delete()[0]:
        return False
    record_account_event(Kind.CODE_USED, account, account.username, attempt)
    return True


def _find_step(secret: str, code: str, now: datetime, *, after: int) -> int | None:
    """The half minute since 1970 whose code this is, of now or next to it and later than `after`:
    each is taken once."""
    totp, here = _build_totp(secret), int(now.timestamp()) // _STEP_SECONDS
    for step in (here - 1, here, here + 1):
        expected = totp.generate(step * _STEP_SECONDS)
        if step > after and hmac.compare_digest(expected, code.encode()):
            return step
    return None


def _build_totp(secret: str) -> TOTP:
    """SHA-1 and six digits are what apps know; neither needs more here."""
    return TOTP(base64.b32decode(secret), 6, SHA1(), _STEP_SECONDS)  # noqa: S303


def _generate_recovery_code() -> str:
    """80 random bits, in four groups that can be copied by hand."""
    return "-".join(_GROUPS.findall(base64.b32encode(secrets.token_bytes(10)).decode()))


def _digest_code(account: User, code: str) -> str:
    """What is as random as this needs no slow hash; the account keeps equal ones apart."""
    return hashlib.sha256(f"{account.pk}:{clean_code(code)}".encode()).hexdigest()


@contextmanager
def _lock_account(account: User) -> Iterator[None]:
    with transaction.atomic():
        User.objects.select_for_update().get(id=account.pk)
        yield
