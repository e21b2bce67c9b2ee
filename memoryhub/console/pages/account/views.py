"""Signing in and out, one's own account, and the choice of the tenant to work for."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from threading import Thread
from typing import Any, cast

from django import forms
from django.conf import settings
from django.contrib import messages
from django.contrib.auth import login, update_session_auth_hash
from django.contrib.auth.forms import AuthenticationForm, PasswordChangeForm, PasswordResetForm
from django.contrib.auth.views import (
    LoginView,
    LogoutView,
    PasswordResetConfirmView,
    PasswordResetView,
)
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import NoReverseMatch, reverse, reverse_lazy
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters

from memoryhub.console.frame.access import action_at, page_at, tenant_view
from memoryhub.console.frame.requests import TENANT_SESSION_KEY, ConsoleRequest
from memoryhub.console.pages.account.browsers import name_browser
from memoryhub.console.pages.account.second_step import (
    SecondStep,
    begin_second_step,
    read_second_step,
)
from memoryhub.console.pages.account.single_sign_on import (
    begin_single_session,
    build_sign_in_context,
)
from memoryhub.tenants.models import (
    AccountEvent,
    BrowserSession,
    SecondFactor,
    SignOnIdentity,
    User,
)
from memoryhub.tenants.sign_in import attempts
from memoryhub.tenants.sign_in.accounts import end_sessions, name_session
from memoryhub.tenants.sign_in.second_factor import SecondStepHeldBack, has_second_factor
from memoryhub.tenants.sign_in.sessions import SECOND_FACTOR_KEY

Kind = AccountEvent.Kind
MOST_EVENTS = 20


class SignInForm(AuthenticationForm):
    """Asks first whether this one may try; looks at a password only in turn."""

    attempt: attempts.SignInAttempt

    def clean(self) -> dict[str, Any]:
        name, request = str(self.cleaned_data.get("username", "")), cast("Any", self.request)
        self.attempt = attempts.read_attempt(request, name)
        if attempts.is_held_back(self.attempt, timezone.now()):
            raise forms.ValidationError(_("Too many failed attempts. Try again in 15 minutes."))
        with attempts.take_turn() as has_turn:
            if not has_turn:
                raise forms.ValidationError(
                    _("Too many people are signing in right now. Try again in a moment.")
                )
            try:
                return super().clean()
            except forms.ValidationError:
                attempts.record_failure(self.attempt, name)
                raise


class SignInView(LoginView):
    template_name = "account/sign_in.html"
    authentication_form = SignInForm
    redirect_authenticated_user = True

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        return super().get_context_data(**kwargs, **build_sign_in_context())

    def form_valid(self, form: AuthenticationForm) -> HttpResponse:
        account, attempt = form.get_user(), cast("SignInForm", form).attempt
        if has_second_factor(account):
            begin_second_step(self.request, account, self.get_success_url())
            return redirect("sign-in-second")
        answer = super().form_valid(form)
        attempts.begin_session(self.request, account, attempt)
        attempts.remember_device(answer, attempt)
        return answer


@page_at("sign-in/second", "sign-in-second")
@sensitive_post_parameters()
@never_cache
def second_step_page(request: HttpRequest) -> HttpResponse:
    """For whoever gave the right password a moment ago and has a second factor."""
    step = read_second_step(request)
    if step is None:
        return redirect("sign-in")
    wrong = ""
    if request.method == "POST":
        try:
            if step.try_answer(request):
                return _finish_sign_in(request, step)
            wrong = _(
                "That code is not valid. Each code works once; your app shows a new one shortly."
            )
        except SecondStepHeldBack as error:
            wrong = error.message
    context = {
        "wrong": wrong,
        "has_app": SecondFactor.objects.filter(account=step.account, kind="app").exists(),
        "passkey": step.ask_for_passkey(request),
    }
    return render(request, "account/second_step.html", context)


def _finish_sign_in(request: HttpRequest, step: SecondStep) -> HttpResponse:
    step.end(request)
    login(request, step.account)
    attempt = attempts.read_attempt(request, step.account.username)
    if step.is_single_sign_on:
        begin_single_session(request, step.account)
    else:
        attempts.begin_session(request, step.account, attempt)
    request.session[SECOND_FACTOR_KEY] = True
    answer = redirect(step.next_address)
    attempts.remember_device(answer, attempt)
    return answer


class SignOutView(LogoutView):
    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if isinstance(request.user, User):
            actor = request.user.username
            attempts.record_account_event(Kind.SIGNED_OUT, request.user, actor)
        return super().post(request, *args, **kwargs)


page_at("sign-in", "sign-in")(SignInView.as_view())
page_at("sign-out", "sign-out")(SignOutView.as_view())


class MailedResetForm(PasswordResetForm):
    """The answer takes as long for an address that nobody has: mail goes out beside it."""

    def send_mail(self, *args: Any, **kwargs: Any) -> None:
        Thread(target=partial(super().send_mail, *args, **kwargs), daemon=True).start()


class ResetView(PasswordResetView):
    """Asks for an address; says the same whether anybody has it."""

    form_class = MailedResetForm
    template_name = "account/reset.html"
    email_template_name = "account/reset_mail.txt"
    subject_template_name = "account/reset_subject.txt"
    success_url = reverse_lazy("password-reset")

    def dispatch(self, *args: Any, **kwargs: Any) -> Any:
        if not settings.EMAIL_HOST:
            raise Http404
        return super().dispatch(*args, **kwargs)

    def form_valid(self, form: PasswordResetForm) -> HttpResponse:
        attempt = attempts.read_attempt(self.request, form.cleaned_data["email"].casefold())
        if not attempts.is_reset_held_back(attempt.address, attempt.name_key, timezone.now()):
            attempts.record_account_event(Kind.RESET_ASKED, None, "", attempt)
            super().form_valid(form)
        return render(self.request, self.template_name, {"sent": True})


class NewPasswordView(PasswordResetConfirmView):
    template_name = "account/new_password.html"
    success_url = reverse_lazy("sign-in")

    def form_valid(self, form: Any) -> HttpResponse:
        attempts.record_account_event(Kind.PASSWORD_CHANGED, form.user, form.user.username)
        end_sessions(form.user, actor=form.user.username)
        return super().form_valid(form)


page_at("password/reset", "password-reset")(ResetView.as_view())
page_at("password/reset/<uidb64>/<token>/", "password-new")(NewPasswordView.as_view())


@page_at("account/", "account")
@sensitive_post_parameters()
@never_cache
@tenant_view()
def account_page(request: ConsoleRequest) -> HttpResponse:
    """The password, where one is signed in, and what happened lately."""
    form = PasswordChangeForm(request.user)
    if request.method == "POST":
        refused = _change_password(request)
        if refused is None:
            return redirect("account")
        form = refused
    sessions = BrowserSession.objects.filter(account=request.user, expire_date__gt=timezone.now())
    context = {
        "form": form,
        "single_sign_on": SignOnIdentity.objects.filter(account=request.user).exists(),
        "factors": SecondFactor.objects.filter(account=request.user),
        "events": AccountEvent.objects.filter(account_id=request.user.pk)[:MOST_EVENTS],
        "sessions": [
            {
                "name": name_session(each.session_key),
                "row": each,
                "browser": name_browser(each.agent),
                "is_here": each.session_key == request.session.session_key,
            }
            for each in sessions.order_by("-started_at")
        ],
    }
    return render(request, "account/page.html", context)


def _change_password(request: ConsoleRequest) -> PasswordChangeForm | None:
    """None once it is done, else the form with what is wrong. The old one is guessed at no faster
    than by signing in: who has to wait gets an empty form, as a filled one tells whether it fits.
    """
    attempt = attempts.read_attempt(request, request.user.username)
    if attempts.is_held_back(attempt, timezone.now()):
        messages.error(request, _("Too many failed attempts. Try again in 15 minutes."))
        return PasswordChangeForm(request.user)
    with attempts.take_turn() as has_turn:
        if not has_turn:
            messages.error(
                request, _("Too many people are signing in right now. Try again in a moment.")
            )
            return PasswordChangeForm(request.user)
        form = PasswordChangeForm(request.user, request.POST)
        if not form.is_valid():
            if "old_password" in form.errors:
                attempts.record_failure(attempt, request.user.username)
            return form
        form.save()
    update_session_auth_hash(request, form.user)
    end_sessions(request.user, but=request.session.session_key, actor=request.actor)
    attempts.record_account_event(Kind.PASSWORD_CHANGED, request.user, request.actor, attempt)
    messages.success(request, _("Password changed. You have been signed out everywhere else."))
    return None


@action_at("account/sessions/end", "account-end")
@tenant_view()
def end_own_sessions(request: ConsoleRequest) -> HttpResponse:
    """One by its name, or without a name all but this one."""
    name = request.POST.get("session", "")
    but = None if name else request.session.session_key
    if not end_sessions(request.user, name=name, but=but, actor=request.actor) and name:
        raise Http404
    messages.success(request, _("That session has been signed out."))
    return redirect("account")


@action_at("tenant", "choose-tenant")
@tenant_view()
def choose_tenant(request: ConsoleRequest) -> HttpResponse:
    """Back to the overview: what was open belongs to the tenant just left. A list of the
    administration is there for each tenant, and shows the other's rows."""
    wanted = request.POST.get("tenant", "")
    if wanted not in {str(m.tenant_id) for m in (request.seat.membership, *request.seat.others)}:
        raise Http404
    request.session[TENANT_SESSION_KEY] = wanted
    return redirect(_find_list_address(request.POST.get("page", "")))


def _find_list_address(page: str) -> str:
    """`page`: the name of the page that the choice was made on."""
    if page.startswith("admin:") and page.endswith(("_changelist", ":index")):
        with suppress(NoReverseMatch):
            return reverse(page)
    return reverse("overview")
