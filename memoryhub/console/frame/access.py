"""Where a page is found and who may see it. Every view of the console goes through one of these."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar, cast

from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import URLPattern, path
from django.views.decorators.http import require_POST

from memoryhub.console.frame.requests import ConsoleRequest
from memoryhub.tenants.models import Membership
from memoryhub.tenants.scope import tenant_scope

P = ParamSpec("P")
View = Callable[Concatenate[ConsoleRequest, P], HttpResponseBase]
WrappedView = Callable[..., HttpResponseBase]
V = TypeVar("V", bound=WrappedView)
ADMIN, EDITOR = Membership.Role.ADMIN, Membership.Role.EDITOR
# Of every view that was imported.
ADDRESSES: list[URLPattern] = []


def page_at(route: str, name: str) -> Callable[[V], V]:
    """The address of a view, and the name by which links call it."""

    def place(view: V) -> V:
        ADDRESSES.append(path(route, view, name=name))
        return view

    return place


def action_at(route: str, name: str) -> Callable[[V], V]:
    """The same of a view that is only sent to."""
    return lambda view: page_at(route, name)(require_POST(view))


def check_role(request: ConsoleRequest, role: str) -> None:
    """Raises PermissionDenied below this role; why is for the log, the page tells no more."""
    if not request.seat.has_role(role):
        raise PermissionDenied(f"This takes the role of {role} or more.")


def tenant_view(role: str = Membership.Role.VIEWER) -> Callable[[View[P]], WrappedView]:
    """For members of the tenant with at least this role.

    The view runs without a scope: it may call a model, and opens scopes around its reads.
    """

    def decorate(view: View[P]) -> WrappedView:
        @wraps(view)
        def checked(request: HttpRequest, *args: P.args, **kwargs: P.kwargs) -> HttpResponseBase:
            console = cast("ConsoleRequest", request)
            if console.seat is None:
                return render(request, "no_tenant.html", status=403)
            check_role(console, role)
            return view(console, *args, **kwargs)

        return login_required(checked)

    return decorate


def tenant_page(role: str = Membership.Role.VIEWER) -> Callable[[View[P]], WrappedView]:
    """As `tenant_view`, with the view and its template inside the tenant's scope."""

    def decorate(view: View[P]) -> WrappedView:
        @wraps(view)
        def scoped(
            request: ConsoleRequest, /, *args: P.args, **kwargs: P.kwargs
        ) -> HttpResponseBase:
            with tenant_scope(request.tenant.id):
                return view(request, *args, **kwargs)

        return tenant_view(role)(scoped)

    return decorate


def operator_view(view: View[P]) -> WrappedView:
    """For the hub's operators alone, as admins of the tenant: what it does costs the whole hub.

    The view runs without a scope, as those of `tenant_view`.
    """

    @wraps(view)
    def checked(request: ConsoleRequest, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponseBase:
        if not request.user.is_superuser:
            raise PermissionDenied("Only an operator of the hub may do this.")
        return view(request, *args, **kwargs)

    return tenant_view(ADMIN)(checked)
