"""How often somebody may try to sign in: guessing is hopeless, and nobody is locked out by it.

What is wrong counts against the name at this address, against the address, and against the name
from everywhere. A browser that the account was signed in with before has a signed cookie and counts
by itself alone: whoever guesses somebody's password keeps others out, and never them.
"""

from __future__ import annotations

import hmac
import ipaddress
import secrets
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import Count, Q
from django.http import HttpRequest, HttpResponseBase
from django.utils import timezone

from memoryhub.places import step_aside
from memoryhub.tenants.models import AccountEvent, BrowserSession, User
from memoryhub.tenants.sign_in.sessions import ORIGIN_KEY

Kind = AccountEvent.Kind
WINDOW = timedelta(minutes=15)
MOST_BY_DEVICE = 10
MOST_AT_ADDRESS_BY_NAME = 5
MOST_AT_ADDRESS = 50
MOST_BY_NAME = 100
MOST_RESETS = 5
# Of an app's six digits, by whoever has the password already: three of a million fit at a time.
MOST_CODES = 10
MOST_CODES_A_DAY = 30
# The database lets nobody delete what is younger (migration 0012).
KEPT = timedelta(days=365)
DEVICE_COOKIE = "device"
_DEVICE_SALT = "memoryhub.device"
_CONFIRMED_KEY = "confirmed"
# Passwords compared at once by one process: each takes 19 MiB and a moment of a core.
_TURNS = threading.BoundedSemaphore(2)
_TURN_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class SignInAttempt:
    """Who tries: a name's HMAC, an address, and a known browser of that account or ""."""

    name_key: str
    address: str
    device: str


def read_attempt(request: HttpRequest, name: str) -> SignInAttempt:
    name_key = _hash_name(name)
    cookie = request.get_signed_cookie(DEVICE_COOKIE, default="", salt=_DEVICE_SALT, max_age=KEPT)
    owner, _, device = (cookie or "").partition(":")
    return SignInAttempt(name_key, read_address(request), device if owner == name_key else "")


def read_address(request: HttpRequest) -> str:
    """The client's address, of IPv6 its network: by the nearest proxy that is trusted."""
    passed = [each.strip() for each in request.headers.get("X-Forwarded-For", "").split(",")]
    at = settings.PROXIES
    told = passed[-at] if 0 < at <= len(passed) else ""
    try:
        address = ipaddress.ip_address(told or request.META.get("REMOTE_ADDR", ""))
    except ValueError:
        return ""
    if address.version == 4:
        return str(address)
    return str(ipaddress.ip_network((address, 64), strict=False).network_address)


def is_held_back(attempt: SignInAttempt, now: datetime) -> bool:
    """Whether so much was wrong lately that this one has to wait. Asks before any password is
    looked at."""
    rows = AccountEvent.objects.filter(kind=Kind.SIGN_IN_FAILED, at__gt=now - WINDOW)
    if attempt.device:
        mine = rows.filter(name_key=attempt.name_key, device=attempt.device)
        return mine.count() >= MOST_BY_DEVICE
    by_name = Q(name_key=attempt.name_key, device="")
    here = Q(address=attempt.address)
    counts = rows.filter(by_name | here).aggregate(
        both=Count("id", filter=by_name & here),
        here=Count("id", filter=here),
        by_name=Count("id", filter=by_name),
    )
    return bool(
        counts["both"] >= MOST_AT_ADDRESS_BY_NAME
        or counts["here"] >= MOST_AT_ADDRESS
        or counts["by_name"] >= MOST_BY_NAME
    )


def is_second_step_held_back(attempt: SignInAttempt, now: datetime, *, is_short: bool) -> bool:
    """The same of what is shown after the password. `is_short`: of six digits, which can be
    guessed; passkeys and recovery codes can't, so that who has the password keeps nobody out."""
    rows = AccountEvent.objects.filter(kind=Kind.SECOND_FAILED, at__gt=now - timedelta(days=1))
    mine, here = Q(name_key=attempt.name_key), Q(address=attempt.address)
    lately = Q(at__gt=now - WINDOW)
    counts = rows.filter(mine | here).aggregate(
        lately=Count("id", filter=mine & lately & Q(device=attempt.device)),
        today=Count("id", filter=mine),
        here=Count("id", filter=here & lately),
    )
    if counts["here"] >= MOST_AT_ADDRESS:
        return True
    return is_short and (counts["lately"] >= MOST_CODES or counts["today"] >= MOST_CODES_A_DAY)


def is_reset_held_back(address: str, name_key: str, now: datetime) -> bool:
    rows = AccountEvent.objects.filter(kind=Kind.RESET_ASKED, at__gt=now - WINDOW)
    return rows.filter(Q(address=address) | Q(name_key=name_key)).count() >= MOST_RESETS


@contextmanager
def take_turn() -> Iterator[bool]:
    """False where too many passwords are being compared: then nothing may be compared inside.
    Others are served while this waits."""
    with step_aside():
        has_turn = _TURNS.acquire(timeout=_TURN_SECONDS)
    try:
        yield has_turn
    finally:
        if has_turn:
            _TURNS.release()


def record_account_event(
    kind: AccountEvent.Kind,
    account: User | None,
    actor: str,
    attempt: SignInAttempt | None = None,
) -> None:
    """Call outside every scope. What is older than is kept goes at the same time."""
    AccountEvent.objects.create(
        at=timezone.now(),
        kind=kind,
        account_id=account.pk if account else None,
        name=account.username if account else "",
        actor=actor[:150],
        address=attempt.address if attempt else "",
        name_key=attempt.name_key if attempt else "",
        device=attempt.device if attempt else "",
    )
    AccountEvent.objects.filter(at__lt=timezone.now() - KEPT).delete()


def record_failure(attempt: SignInAttempt, name: str) -> None:
    account = User.objects.filter(username=name).first()
    record_account_event(Kind.SIGN_IN_FAILED, account, "", attempt)


def is_sign_on_held_back(address: str, now: datetime) -> bool:
    rows = AccountEvent.objects.filter(kind=Kind.SIGN_ON_REFUSED, at__gt=now - WINDOW)
    return rows.filter(address=address).count() >= MOST_AT_ADDRESS


def begin_session(
    request: HttpRequest,
    account: User,
    attempt: SignInAttempt,
    kind: AccountEvent.Kind = Kind.SIGNED_IN,
) -> None:
    """After the password was right, or the provider said who it is, before the session is saved."""
    now = timezone.now()
    request.session[ORIGIN_KEY] = {
        "address": attempt.address,
        "agent": request.headers.get("User-Agent", "")[:200],
        "at": now.isoformat(),
    }
    record_account_event(kind, account, account.username, attempt)
    BrowserSession.objects.filter(expire_date__lt=now).delete()


def confirm_person(request: HttpRequest) -> None:
    """After the password was right once more."""
    request.session[_CONFIRMED_KEY] = timezone.now().isoformat()


def is_lately_confirmed(request: HttpRequest, now: datetime) -> bool:
    """Whether whoever sits there is the account's owner still: they signed in or gave the password
    a moment ago."""
    times = (request.session.get(_CONFIRMED_KEY), request.session.get(ORIGIN_KEY, {}).get("at"))
    return any(at and datetime.fromisoformat(at) > now - WINDOW for at in times)


def remember_device(answer: HttpResponseBase, attempt: SignInAttempt) -> None:
    answer.set_signed_cookie(
        DEVICE_COOKIE,
        f"{attempt.name_key}:{attempt.device or secrets.token_hex(16)}",
        salt=_DEVICE_SALT,
        max_age=int(KEPT.total_seconds()),
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
        samesite="Strict",
    )


def _hash_name(name: str) -> str:
    return hmac.new(settings.SECRET_KEY.encode(), name.encode(), "sha256").hexdigest()[:32]
