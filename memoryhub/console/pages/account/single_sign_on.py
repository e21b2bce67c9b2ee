"""Signing in where an OpenID provider says who somebody is."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import structlog
from django.conf import settings
from django.contrib.auth import login
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.crypto import constant_time_compare
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from memoryhub.console.frame.access import page_at
from memoryhub.console.pages.account.second_step import begin_second_step
from memoryhub.tenants.models import AccountEvent, User
from memoryhub.tenants.sign_in import attempts
from memoryhub.tenants.sign_in.openid_provider import (
    BegunSignOn,
    ProviderFailed,
    begin_sign_on,
    build_sign_out_address,
    finish_sign_on,
    is_sign_on_offered,
)
from memoryhub.tenants.sign_in.second_factor import has_second_factor
from memoryhub.tenants.sign_in.sessions import SECOND_FACTOR_KEY
from memoryhub.tenants.sign_in.single_sign_on import (
    SignOnRefused,
    admit_person,
    shows_second_factor,
)

Kind = AccountEvent.Kind
# What was begun, in the browser and signed: strangers that begin leave no row behind.
_COOKIE, _SALT = "sign_on", "memoryhub.sign_on"
_TIME_TO_RETURN = timedelta(minutes=10)
_log = structlog.get_logger(__name__)


@page_at("sign-in/single", "sign-on")
@require_GET
@never_cache
def begin_single_sign_on(request: HttpRequest) -> HttpResponse:
    """To the provider."""
    _check_offered()
    if attempts.is_sign_on_held_back(attempts.read_address(request), timezone.now()):
        return _refuse(request, "held_back")
    try:
        begun = begin_sign_on(_build_return_address(request))
    except ProviderFailed as error:
        _log.warning("the OpenID provider can't be asked", reason=error.message)
        return _refuse(request, "provider", status=502)
    wanted = request.GET.get("next", "")
    is_here = wanted.isprintable() and url_has_allowed_host_and_scheme(
        wanted, {request.get_host()}, require_https=request.is_secure()
    )
    answer = redirect(begun.url)
    kept = [begun.state, begun.nonce, begun.code_verifier, wanted if is_here else ""]
    answer.set_signed_cookie(
        _COOKIE,
        "\n".join(kept),
        salt=_SALT,
        max_age=_TIME_TO_RETURN,
        path=reverse("sign-in"),
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
        # The provider leads back here: a strict one would stay away.
        samesite="Lax",
    )
    return answer


@page_at("sign-in/single/return", "sign-on-return")
@require_GET
@never_cache
def finish_single_sign_on(request: HttpRequest) -> HttpResponse:
    """Back from the provider."""
    _check_offered()
    answer = _take_return(request)
    # Good for one return, right or wrong.
    answer.delete_cookie(_COOKIE, path=reverse("sign-in"))
    return answer


@page_at("sign-in/single/end", "sign-on-end")
@require_GET
@never_cache
def end_at_provider(request: HttpRequest) -> HttpResponse:
    """For whoever is signed out here and would be at the provider, too."""
    _check_offered()
    back = request.build_absolute_uri(reverse("sign-in"))
    try:
        return redirect(build_sign_out_address(back) or "sign-in")
    except ProviderFailed as error:
        _log.warning("the OpenID provider can't be asked", reason=error.message)
        return _refuse(request, "provider", status=502)


def _take_return(request: HttpRequest) -> HttpResponse:
    kept = request.get_signed_cookie(_COOKIE, default="", salt=_SALT, max_age=_TIME_TO_RETURN)
    state, nonce, code_verifier, wanted = (kept or "").split("\n") if kept else [""] * 4
    if not state or not constant_time_compare(state, request.GET.get("state", "")):
        return _refuse(request, "too_late")
    attempt = attempts.read_attempt(request, "")
    if attempts.is_sign_on_held_back(attempt.address, timezone.now()):
        return _refuse(request, "held_back")
    begun = BegunSignOn("", state, nonce, code_verifier)
    claims: dict[str, Any] = {}
    try:
        if "code" not in request.GET:
            raise ProviderFailed(f"no code: {request.GET.get('error', '')[:60]!r}")
        claims = finish_sign_on(request.GET["code"], begun, _build_return_address(request))
        account = admit_person(claims)
    except ProviderFailed as error:
        _log.warning("the OpenID provider is not believed", reason=error.message)
        attempts.record_account_event(Kind.SIGN_ON_REFUSED, None, "", attempt)
        return _refuse(request, "provider")
    except SignOnRefused as refused:
        attempts.record_account_event(Kind.SIGN_ON_REFUSED, refused.account, "", attempt)
        return _refuse(request, refused.code, subject=str(claims["sub"]))
    return _sign_in(request, account, wanted, shows_second=shows_second_factor(claims))


def _sign_in(
    request: HttpRequest, account: User, wanted: str, *, shows_second: bool
) -> HttpResponse:
    """One's own second factor is asked for where the provider tells of none."""
    where = wanted or reverse(settings.LOGIN_REDIRECT_URL)
    if not shows_second and has_second_factor(account):
        begin_second_step(request, account, where, is_single_sign_on=True)
        return redirect("sign-in-second")
    login(request, account)
    begin_single_session(request, account)
    if shows_second:
        request.session[SECOND_FACTOR_KEY] = True
    return redirect(where)


def begin_single_session(request: HttpRequest, account: User) -> None:
    """It ends by itself, as only at its beginning the provider is asked."""
    attempt = attempts.read_attempt(request, account.username)
    attempts.begin_session(request, account, attempt, Kind.SIGNED_ON)
    request.session.set_expiry(timedelta(hours=settings.OIDC_SESSION_HOURS))


def _refuse(
    request: HttpRequest, why: str, *, subject: str = "", status: int = 403
) -> HttpResponse:
    """The page of signing in, with what somebody can do about it."""
    words = {
        "held_back": _("Too many failed attempts. Try again in 15 minutes."),
        "too_late": _("That took too long, or was started in another browser. Start again."),
        "provider": _("Single sign-on did not work. Try again, or contact the hub's operator."),
        "unknown": _(
            "There is no account for you here yet. Contact the hub's operator and give them this:"
        ),
        "disabled": _("This account is closed."),
        "no_place": _(
            "You are signed in with your provider, but have no access to any tenant here."
        ),
        "name_taken": _(
            "Your username is already taken here. Contact the hub's operator and give them this:"
        ),
        "last_admin": _(
            "You are the last admin of a tenant that your provider no longer gives you access to."
        ),
    }
    told = subject if why in ("unknown", "name_taken") else ""
    context = build_sign_in_context() | {"refused": words[why], "told": told}
    return render(request, "account/sign_in.html", context, status=status)


def build_sign_in_context() -> dict[str, Any]:
    """What the page of signing in offers beside a name and a password."""
    single = settings.OIDC_LABEL if is_sign_on_offered() else ""
    return {"mails": bool(settings.EMAIL_HOST), "single_sign_on": single}


def _check_offered() -> None:
    if not is_sign_on_offered():
        raise Http404


def _build_return_address(request: HttpRequest) -> str:
    return request.build_absolute_uri(reverse("sign-on-return"))
