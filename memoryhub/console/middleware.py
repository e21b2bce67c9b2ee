"""Finds out for which tenant a signed-in person works, and in which language pages are."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import cast

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.middleware.locale import LocaleMiddleware
from django.urls import reverse
from django.utils import translation

from memoryhub.console.requests import ConsoleRequest, Seat
from memoryhub.console.seats import CHOSEN, memberships_of, seat_in
from memoryhub.tenants.scope import tenant_scope

# Where nobody comes by an account.
_WITHOUT = ("/api/", "/me/")
_FOR_PROGRAMS = ("/api/", "/openai/", "/mcp", "/v1/", "/v2/", "/v3/", "/healthz")


class PageLanguageMiddleware(LocaleMiddleware):
    """Pages are in the language their reader chose, or else the browser's; what programs read is
    in one language, whatever they accept."""

    def process_request(self, request: HttpRequest) -> None:
        if request.path.startswith(_FOR_PROGRAMS):
            translation.activate(settings.LANGUAGE_CODE)
        else:
            super().process_request(request)

    def process_response(
        self, request: HttpRequest, response: HttpResponseBase
    ) -> HttpResponseBase:
        if request.path.startswith(_FOR_PROGRAMS):
            return response
        return super().process_response(request, response)


class ConsoleTenantMiddleware:
    """Sets `request.seat` and `request.tenant`, both None for strangers and people of no tenant.

    Django's admin knows nothing of scopes, so its requests run inside one as a whole.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        seat = _seat(request)
        console = cast("ConsoleRequest", request)
        console.seat = cast("Seat", seat)
        console.tenant = seat.tenant if seat else None  # type: ignore[assignment]  # see class
        with _admin_scope(request, seat):
            return self.get_response(request)


def _seat(request: HttpRequest) -> Seat | None:
    if request.path.startswith(_WITHOUT) or not request.user.is_authenticated:
        return None
    return seat_in(memberships_of(request.user.id), request.session.get(CHOSEN, ""))


def _admin_scope(request: HttpRequest, seat: Seat | None) -> AbstractContextManager[None]:
    if seat is None or not request.path.startswith(reverse("admin:index")):
        return nullcontext()
    return tenant_scope(seat.tenant.id)
