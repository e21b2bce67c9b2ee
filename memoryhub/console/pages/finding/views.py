"""What is found from any page: as one types, and as a page of its own."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse
from django.shortcuts import render

from memoryhub.console.frame.access import page_at, tenant_view
from memoryhub.console.frame.forms import read_ids
from memoryhub.console.frame.lists import load_page, read_filters
from memoryhub.console.frame.requests import ConsoleRequest
from memoryhub.console.pages.finding.find import find_people_and_memories
from memoryhub.console.pages.overview.queries import find_facts
from memoryhub.console.pages.spaces.views import find_spaces
from memoryhub.tenants.scope import tenant_scope


@page_at("search", "search")
@tenant_view()
def tenant_search_page(request: ConsoleRequest) -> HttpResponse:
    filters = read_filters(request.GET)
    context: dict[str, Any] = {"filters": filters}
    if filters.q:
        context["found"] = find_people_and_memories(request.tenant, filters.q)
    with tenant_scope(request.tenant.id):
        if filters.q:
            spaces = load_page(find_spaces(filters.q), 1)
            context |= {"spaces": spaces, "facts": find_facts(filters.q)}
        return render(request, "finding/search.html", context)


@page_at("find", "find")
@tenant_view()
def find_page(request: ConsoleRequest) -> HttpResponse:
    """A part of a page: what the palette offers for the words typed so far."""
    asked = read_filters(request.GET).q
    here = next(iter(read_ids(request.GET.getlist("space"))), None)
    found = find_people_and_memories(request.tenant, asked, here)
    with tenant_scope(request.tenant.id):
        return render(request, "finding/_found.html", {"found": found})
