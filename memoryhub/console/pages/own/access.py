"""Who may see the page: whoever came by a link that still opens, and nobody by an account.

The token comes in the part of an address that browsers never send, and is handed over once, in
the body of a form. From then on a signed cookie names the link, for this page alone, and every
request asks the link's row whether it still opens. docs/explanation/person-page.md says why.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar, cast

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone

from memoryhub.console.pages.own.queries import list_person_names
from memoryhub.tenants import person_links
from memoryhub.tenants.models import Space
from memoryhub.tenants.person_links import PersonLinkVisit
from memoryhub.tenants.scope import tenant_scope
from personas.traits import get_owner_name

VISIT_COOKIE = "memoryhub_me"
_COOKIE_SALT = "memoryhub.person-visit"
# Without a request for so long, the link has to be opened again.
MAX_IDLE = timedelta(minutes=30)
MAX_REQUESTS_A_MINUTE = 120

P = ParamSpec("P")
R = TypeVar("R", bound=HttpResponseBase)


@dataclass(frozen=True, slots=True)
class PageVisitor:
    """Whoever looks at the page."""

    visit: PersonLinkVisit
    space: Space
    hub: str

    @property
    def name(self) -> str:
        return get_owner_name(self.space)

    @property
    def names(self) -> list[str]:
        return list_person_names(self.space)


View = Callable[Concatenate[HttpRequest, PageVisitor, P], HttpResponseBase]


def person_view(view: View[P]) -> Callable[..., HttpResponseBase]:
    """The view runs without a scope, as it may ask models. What it does not find, and a link that
    opens nothing, look alike."""

    @wraps(view)
    def checked(request: HttpRequest, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponseBase:
        age = int(MAX_IDLE.total_seconds())
        name = request.get_signed_cookie(VISIT_COOKIE, default="", salt=_COOKIE_SALT, max_age=age)
        visit = person_links.count_link_visit(name, timezone.now()) if name else None
        if visit is None:
            return render_closed_page(request)
        if visit.count > MAX_REQUESTS_A_MINUTE:
            return add_privacy_headers(render(request, "own/visit/busy.html", status=429))
        try:
            answer = view(request, _load_visitor(visit), *args, **kwargs)
        except Http404:
            return render_closed_page(request)
        if VISIT_COOKIE not in cast("HttpResponse", answer).cookies:
            set_visit_cookie(answer, visit)
        return add_privacy_headers(answer)

    return checked


def person_page(view: View[P]) -> Callable[..., HttpResponseBase]:
    """As `person_view`, with the view and its template inside the tenant's scope."""

    @wraps(view)
    def scoped(
        request: HttpRequest, person: PageVisitor, /, *args: P.args, **kwargs: P.kwargs
    ) -> HttpResponseBase:
        with tenant_scope(person.visit.tenant_id):
            return view(request, person, *args, **kwargs)

    return person_view(scoped)


def _load_visitor(visit: PersonLinkVisit) -> PageVisitor:
    with tenant_scope(visit.tenant_id):
        space = Space.objects.select_related("tenant").get(id=visit.space_id)
    return PageVisitor(visit, space, space.tenant.name)


def render_closed_page(request: HttpRequest) -> HttpResponse:
    """One answer for strangers, and for links that are over, closed or made up."""
    answer = render(request, "own/visit/closed.html", status=404)
    delete_visit_cookie(answer)
    return add_privacy_headers(answer)


def set_visit_cookie(answer: HttpResponseBase, visit: PersonLinkVisit) -> None:
    """Let the browser come again, for a while."""
    answer.set_signed_cookie(
        VISIT_COOKIE,
        visit.name,
        salt=_COOKIE_SALT,
        max_age=MAX_IDLE,
        path=reverse("me"),
        secure=settings.HTTPS,
        httponly=True,
        samesite="Strict",
    )


def delete_visit_cookie(answer: HttpResponseBase) -> None:
    answer.delete_cookie(VISIT_COOKIE, path=reverse("me"), samesite="Strict")


def add_privacy_headers(answer: R) -> R:
    """Kept by no cache, listed by no search engine, told to no other site."""
    answer.headers["Cache-Control"] = "no-store, private"
    answer.headers["X-Robots-Tag"] = "noindex, nofollow, noarchive"
    # Not "no-referrer": browsers would then hide from forms of this page where they come from,
    # which is what guards them. No address of it holds the token.
    answer.headers["Referrer-Policy"] = "same-origin"
    return answer
