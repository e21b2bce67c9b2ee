"""The list of spaces."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import render
from django.utils import timezone

from memoryhub.console.frame.access import page_at, tenant_page
from memoryhub.console.frame.lists import read_filters
from memoryhub.console.frame.requests import ConsoleRequest
from memoryhub.console.pages.spaces import queries


@page_at("spaces/", "spaces")
@tenant_page()
def space_list_page(request: ConsoleRequest) -> HttpResponse:
    choices = (queries.SPACE_SORT_CHOICE, queries.SPACE_ACTIVE_CHOICE, queries.SPACE_WORK_CHOICE)
    filters = read_filters(request.GET, choices)
    page = queries.load_spaces(filters, timezone.now())
    return render(request, "spaces/list.html", {"filters": filters, "page": page})
