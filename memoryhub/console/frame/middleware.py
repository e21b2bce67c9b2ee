"""Finds out for which tenant a signed-in person works, and in which language pages are."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import cast

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.middleware.locale import LocaleMiddleware
from django.shortcuts import redirect
from django.urls import Resolver404, resolve, reverse
from django.utils import translation

from memoryhub.console.frame.requests import TENANT_SESSION_KEY, ConsoleRequest, Seat
from memoryhub.tenants.models import Membership
from memoryhub.tenants.scope import tenant_scope, user_scope
from memoryhub.tenants.sign_in.sessions import SECOND_FACTOR_KEY

# Where nobody comes by an account.
_PATHS_WITHOUT_SEAT = ("/api/", "/me/")
_ACCOUNT_PAGES = {"account", "account-end", "choose-tenant", "language", "sign-out"} | {
    f"account-second{part}" for part in ("", "-confirm", "-app", "-passkey", "-codes", "-remove")
}
_PROGRAM_PATHS = (
    "/api/",
    "/openai/",
    "/mcp",
    "/v1/",
    "/v2/",
    "/v3/",
    "/healthz",
    "/readyz",
    "/metrics",
)


class PageLanguageMiddleware(LocaleMiddleware):
    """Pages are in the language their reader chose, or else the browser's; what programs read is
    in one language, whatever they accept."""

    def process_request(self, request: HttpRequest) -> None:
        if request.path.startswith(_PROGRAM_PATHS):
            translation.activate(settings.LANGUAGE_CODE)
        else:
            super().process_request(request)

    def process_response(
        self, request: HttpRequest, response: HttpResponseBase
    ) -> HttpResponseBase:
        if request.path.startswith(_PROGRAM_PATHS):
            return response
        return super().process_response(request, response)


class ConsoleTenantMiddleware:
    """Sets `request.seat` and `request.tenant`, both None for strangers and people of no tenant.

    Django's admin knows nothing of scopes, so its requests run inside one as a whole. What is sent
    to one of its lists is an action, which goes through services that open their own.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        seat = _find_seat(request)
        console = cast("ConsoleRequest", request)
        console.seat = cast("Seat", seat)
        console.tenant = seat.tenant if seat else None  # type: ignore[assignment]  # see class
        console.actor = request.user.get_username() if seat else ""
        with _open_admin_scope(request, seat):
            return self.get_response(request)

    def process_view(
        self, request: HttpRequest, view: object, args: object, kwargs: object
    ) -> HttpResponseBase | None:
        """Where the tenant asks for a second factor, one's own account alone is open until then."""
        seat = cast("ConsoleRequest", request).seat
        match = request.resolver_match
        if not lacks_second_factor(request, seat) or request.path.startswith(_PROGRAM_PATHS):
            return None
        return None if match and match.url_name in _ACCOUNT_PAGES else redirect("account-second")


def lacks_second_factor(request: HttpRequest, seat: Seat | None) -> bool:
    """Whether the tenant asks for more than was shown in this session."""
    is_asked = seat is not None and seat.tenant.second_factor_required
    return is_asked and not request.session.get(SECOND_FACTOR_KEY)


def _find_seat(request: HttpRequest) -> Seat | None:
    """The chosen tenant if the person still belongs to it, else the first; None without any."""
    if request.path.startswith(_PATHS_WITHOUT_SEAT) or not request.user.is_authenticated:
        return None
    # No tenant is in scope yet, which is why the tenant's manager would find none.
    with user_scope(request.user.id):
        rows = Membership._base_manager.filter(user_id=request.user.id).select_related("tenant")
        held = list(rows.order_by("tenant__name", "tenant_id"))
    chosen = request.session.get(TENANT_SESSION_KEY, "")
    own = next((each for each in held if str(each.tenant_id) == chosen), held[0] if held else None)
    return Seat(own, [each for each in held if each is not own]) if own else None


def _open_admin_scope(request: HttpRequest, seat: Seat | None) -> AbstractContextManager[None]:
    if seat is None or not request.path.startswith(reverse("admin:index")):
        return nullcontext()
    if request.method == "POST" and _is_admin_list(request.path):
        return nullcontext()
    return tenant_scope(seat.tenant.id)


def _is_admin_list(path: str) -> bool:
    try:
        return (resolve(path).url_name or "").endswith("_changelist")
    except Resolver404:
        return False
