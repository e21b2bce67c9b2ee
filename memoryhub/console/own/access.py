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

from memoryhub.console.own import topics
from memoryhub.tenants import person_links
from memoryhub.tenants.models import Space
from memoryhub.tenants.person_links import Visit
from memoryhub.tenants.scope import tenant_scope
from personas.traits import owner_of

COOKIE = "memoryhub_me"
_SALT = "memoryhub.person-visit"
# Without a request for so long, the link has to be opened again.
IDLE = timedelta(minutes=30)
MOST_A_MINUTE = 120

P = ParamSpec("P")
R = TypeVar("R", bound=HttpResponseBase)


@dataclass(frozen=True, slots=True)
class Person:
    """Whoever looks at the page."""

    visit: Visit
    space: Space
    hub: str

    @property
    def name(self) -> str:
        return owner_of(self.space)

    @property
    def names(self) -> list[str]:
        return topics.names_of(self.space)


View = Callable[Concatenate[HttpRequest, Person, P], HttpResponseBase]


def person_view(view: View[P]) -> Callable[..., HttpResponseBase]:
    """The view runs without a scope, as it may ask models. What it does not find, and a link that
    opens nothing, look alike."""

    @wraps(view)
    def checked(request: HttpRequest, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponseBase:
        visit = person_links.visit(name, timezone.now()) if (name := _name(request)) else None
        if visit is None:
            return closed(request)
        if visit.count > MOST_A_MINUTE:
            return private(render(request, "me/busy.html", status=429))
        try:
            answer = view(request, _person(visit), *args, **kwargs)
        except Http404:
            return closed(request)
        if COOKIE not in cast("HttpResponse", answer).cookies:
            remember(answer, visit)
        return private(answer)

    return checked


def person_page(view: View[P]) -> Callable[..., HttpResponseBase]:
    """As `person_view`, with the view and its template inside the tenant's scope."""

    @wraps(view)
    def scoped(
        request: HttpRequest, person: Person, /, *args: P.args, **kwargs: P.kwargs
    ) -> HttpResponseBase:
        with tenant_scope(person.visit.tenant_id):
            return view(request, person, *args, **kwargs)

    return person_view(scoped)


def _name(request: HttpRequest) -> str:
    age = int(IDLE.total_seconds())
    return request.get_signed_cookie(COOKIE, default="", salt=_SALT, max_age=age) or ""


def _person(visit: Visit) -> Person:
    with tenant_scope(visit.tenant_id):
        space = Space.objects.select_related("tenant").get(id=visit.space_id)
    return Person(visit, space, space.tenant.name)


def closed(request: HttpRequest) -> HttpResponse:
    """One answer for strangers, and for links that are over, closed or made up."""
    answer = render(request, "me/closed.html", status=404)
    leave(answer)
    return private(answer)


def remember(answer: HttpResponseBase, visit: Visit) -> None:
    """Let the browser come again, for a while."""
    answer.set_signed_cookie(
        COOKIE,
        visit.name,
        salt=_SALT,
        max_age=IDLE,
        path=reverse("me"),
        secure=settings.HTTPS,
        httponly=True,
        samesite="Strict",
    )


def leave(answer: HttpResponseBase) -> None:
    answer.delete_cookie(COOKIE, path=reverse("me"), samesite="Strict")


def private(answer: R) -> R:
    """Kept by no cache, listed by no search engine, told to no other site."""
    answer.headers["Cache-Control"] = "no-store, private"
    answer.headers["X-Robots-Tag"] = "noindex, nofollow, noarchive"
    # Not "no-referrer": browsers would then hide from forms of this page where they come from,
    # which is what guards them. No address of it holds the token.
    answer.headers["Referrer-Policy"] = "same-origin"
    return answer
