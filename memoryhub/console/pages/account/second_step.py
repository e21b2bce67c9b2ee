"""Between the right password and the second factor: nobody is signed in yet, and the browser's
session knows whose password it was for ten minutes."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.http import HttpRequest
from django.utils import timezone
from django.utils.crypto import constant_time_compare

from memoryhub.tenants.models import User
from memoryhub.tenants.sign_in.attempts import read_attempt
from memoryhub.tenants.sign_in.passkeys import ask_for_passkey, take_passkey
from memoryhub.tenants.sign_in.second_factor import check_code, try_second_step

TIME_TO_ANSWER = timedelta(minutes=10)
_STEP_KEY, _PASSKEY_KEY = "second_step", "second_step_passkey"


@dataclass(frozen=True, slots=True)
class SecondStep:
    """Whose password was right, and where they were going."""

    account: User
    next_address: str
    # In place of the password, a provider said who it is.
    is_single_sign_on: bool = False

    def ask_for_passkey(self, request: HttpRequest) -> str:
        """What the browser is to ask for, as JSON; "" where the account has none for this host."""
        asked = ask_for_passkey(self.account, request.get_host())
        if asked is None:
            return ""
        request.session[_PASSKEY_KEY] = asked.state
        return asked.options

    def try_answer(self, request: HttpRequest) -> bool:
        """Whether the code or the passkey sent is right. Raises SecondStepHeldBack."""
        now, attempt = timezone.now(), read_attempt(request, self.account.username)
        answer = request.POST.get("credential", "")
        if not answer:
            return check_code(self.account, request.POST.get("code", ""), attempt, now)
        # A challenge is good for one answer, right or wrong.
        state: dict[str, Any] = request.session.pop(_PASSKEY_KEY, {})
        host = request.get_host()
        return try_second_step(
            self.account,
            lambda: take_passkey(self.account, host, state, answer, now),
            attempt,
            now,
        )

    def end(self, request: HttpRequest) -> None:
        for key in (_STEP_KEY, _PASSKEY_KEY):
            request.session.pop(key, None)
        request.session.set_expiry(None)


def begin_second_step(
    request: HttpRequest, account: User, next_address: str, *, is_single_sign_on: bool = False
) -> None:
    """In a session of its own, whatever this browser's was before."""
    request.session.flush()
    request.session[_STEP_KEY] = {
        "account": account.pk,
        "password": account.get_session_auth_hash(),
        "next": next_address,
        "single": is_single_sign_on,
        "at": timezone.now().isoformat(),
    }
    request.session.set_expiry(TIME_TO_ANSWER)


def read_second_step(request: HttpRequest) -> SecondStep | None:
    """None without one, after its time, and once the password is another."""
    kept = request.session.get(_STEP_KEY)
    if not kept or datetime.fromisoformat(kept["at"]) < timezone.now() - TIME_TO_ANSWER:
        return None
    account = User.objects.filter(id=kept["account"], is_active=True).first()
    if account is None:
        return None
    if not constant_time_compare(kept["password"], account.get_session_auth_hash()):
        return None
    return SecondStep(account, kept["next"], kept.get("single", False))
