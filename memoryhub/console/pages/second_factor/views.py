"""One's own second factor: an app, passkeys, recovery codes.

Looked at by whoever is signed in; changed a moment after signing in or giving the password, so that
a browser left open gives nobody the account.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from uuid import UUID

import segno
from django.contrib import messages
from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.safestring import mark_safe
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters

from memoryhub.console.frame.access import action_at, page_at, tenant_view
from memoryhub.console.frame.forms import attempt, read_id, run_and_report
from memoryhub.console.frame.middleware import lacks_second_factor
from memoryhub.console.frame.requests import ConsoleRequest
from memoryhub.console.frame.shown_once import keep_until_shown, take_shown_once
from memoryhub.errors import NotFound
from memoryhub.tenants.models import RecoveryCode, SecondFactor
from memoryhub.tenants.sealing import open_sealed, seal_secret
from memoryhub.tenants.sign_in import attempts, second_factor
from memoryhub.tenants.sign_in.accounts import end_sessions
from memoryhub.tenants.sign_in.passkeys import begin_passkey, read_new_passkey
from memoryhub.tenants.sign_in.sessions import SECOND_FACTOR_KEY

# Of the session: an app's secret until its first code came, under seal, and a passkey's challenge.
_APP_KEY, _PASSKEY_KEY = "second_app", "second_passkey"
_CODES_KEY = "new_recovery_codes"
View = Callable[[ConsoleRequest], HttpResponseBase]


def confirmed(view: View) -> View:
    """Back to the page, which asks for the password, where that was too long ago."""

    @wraps(view)
    def checked(request: ConsoleRequest) -> HttpResponseBase:
        if not attempts.is_lately_confirmed(request, timezone.now()):
            messages.error(request, _("Enter your password first."))
            return redirect("account-second")
        return view(request)

    return checked


@page_at("account/second/", "account-second")
@never_cache
@tenant_view()
def second_factor_page(request: ConsoleRequest) -> HttpResponse:
    factors = list(SecondFactor.objects.filter(account=request.user))
    context = {
        "factors": factors,
        "has_app": any(each.kind == SecondFactor.Kind.APP for each in factors),
        "codes": take_shown_once(request, _CODES_KEY).split(),
        "codes_left": RecoveryCode.objects.filter(account=request.user).count(),
        "is_wanted": lacks_second_factor(request, request.seat),
        "is_confirmed": attempts.is_lately_confirmed(request, timezone.now()),
    }
    return render(request, "second_factor/list.html", context)


@action_at("account/second/confirm", "account-second-confirm")
@sensitive_post_parameters()
@tenant_view()
def confirm_password(request: ConsoleRequest) -> HttpResponse:
    """Guessed at no faster than by signing in."""
    tried = attempts.read_attempt(request, request.user.username)
    if attempts.is_held_back(tried, timezone.now()):
        messages.error(request, _("Too many failed attempts. Try again in 15 minutes."))
        return redirect("account-second")
    with attempts.take_turn() as has_turn:
        if not has_turn:
            messages.error(
                request, _("Too many people are signing in right now. Try again in a moment.")
            )
        elif request.user.check_password(request.POST.get("password", "")):
            attempts.confirm_person(request)
        else:
            attempts.record_failure(tried, request.user.username)
            messages.error(request, _("That is not your password."))
    return redirect("account-second")


@page_at("account/second/app", "account-second-app")
@sensitive_post_parameters()
@never_cache
@tenant_view()
@confirmed
def add_app_page(request: ConsoleRequest) -> HttpResponse:
    """A picture for the app to read; its first code, sent back, shows that it did."""
    secret = open_sealed(request.session.get(_APP_KEY, "")) or second_factor.generate_app_secret()
    wrong = ""
    if request.method == "POST" and _APP_KEY in request.session:
        code, now = request.POST.get("code", ""), timezone.now()
        added = attempt(
            request,
            lambda: second_factor.add_app(request.user, secret, code, now),
            _("Not added: %(why)s."),
        )
        if added is not False:
            del request.session[_APP_KEY]
            return _welcome_factor(request) if added else redirect("account-second")
        wrong = _("That is not the app's current code. Is your phone's clock right?")
    request.session[_APP_KEY] = seal_secret(secret)
    picture = segno.make(second_factor.build_app_address(request.user, secret), error="m")
    context = {
        # Made here of an address that the library escapes: no scripts, no styles.
        "picture": mark_safe(picture.svg_inline(scale=5, border=2, light="#fff")),  # noqa: S308
        "secret": secret,
        "wrong": wrong,
    }
    return render(request, "second_factor/app.html", context)


@page_at("account/second/passkey", "account-second-passkey")
@never_cache
@tenant_view()
@confirmed
def add_passkey_page(request: ConsoleRequest) -> HttpResponse:
    host = request.get_host()
    if request.method == "POST":
        state = request.session.pop(_PASSKEY_KEY, {})
        name = " ".join(request.POST.get("name", "").replace("\0", "").split())
        answer = request.POST.get("credential", "")
        made = read_new_passkey(host, state, answer, name or _("Passkey"))
        if made is None:
            messages.error(request, _("The browser provided no passkey. Try again."))
        elif attempt(request, lambda: _add_passkey(request, made), _("Not added: %(why)s.")):
            return _welcome_factor(request)
        return redirect("account-second")
    challenge = begin_passkey(request.user, host)
    request.session[_PASSKEY_KEY] = challenge.state
    return render(request, "second_factor/passkey.html", {"options": challenge.options})


@action_at("account/second/codes", "account-second-codes")
@never_cache
@tenant_view()
@confirmed
def renew_recovery_codes(request: ConsoleRequest) -> HttpResponse:
    """They are on the page that follows and never again."""
    if second_factor.has_second_factor(request.user):
        _make_codes(request)
    return redirect("account-second")


def _make_codes(request: ConsoleRequest) -> None:
    codes = second_factor.make_recovery_codes(request.user)
    keep_until_shown(request, _CODES_KEY, "\n".join(codes))


@action_at("account/second/remove", "account-second-remove")
@tenant_view()
@confirmed
def remove_factor(request: ConsoleRequest) -> HttpResponse:
    factor_id = read_id(request.POST.get("factor", ""))
    run_and_report(
        request,
        lambda: _remove_factor(request, factor_id),
        _("Removed."),
        refused=_("Not removed"),
    )
    return redirect("account-second")


def _remove_factor(request: ConsoleRequest, factor_id: UUID | None) -> None:
    if factor_id is None:
        raise NotFound(_("This second factor doesn't exist."))
    second_factor.remove_factor(request.user, factor_id)
    if not second_factor.has_second_factor(request.user):
        request.session.pop(SECOND_FACTOR_KEY, None)


def _add_passkey(request: ConsoleRequest, made: SecondFactor) -> bool:
    second_factor.add_factor(request.user, made)
    return True


def _welcome_factor(request: ConsoleRequest) -> HttpResponse:
    """With the first come recovery codes, and whoever signed in without it is signed out."""
    request.session[SECOND_FACTOR_KEY] = True
    if not RecoveryCode.objects.filter(account=request.user).exists():
        _make_codes(request)
        end_sessions(request.user, but=request.session.session_key, actor=request.actor)
    messages.success(request, _("Added. You will be asked for it when you sign in."))
    return redirect("account-second")
