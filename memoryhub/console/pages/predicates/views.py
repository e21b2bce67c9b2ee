"""Which predicates have one value at a time: seen with what is known of them, and set."""

from __future__ import annotations

from collections.abc import Mapping

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext, gettext_noop
from django.utils.translation import gettext_lazy as _

from memoryhub.console.frame.access import ADMIN, action_at, page_at, tenant_page
from memoryhub.console.frame.forms import read_back_address, run_and_report
from memoryhub.console.frame.lists import (
    FilterChoice,
    build_text_condition,
    load_page,
    read_filters,
    slice_page,
)
from memoryhub.console.frame.requests import ConsoleRequest
from memoryhub.console.frame.text.predicate_words import format_predicate
from memoryhub.console.pages.policies.views import build_return_tags
from memoryhub.console.pages.predicates.queries import (
    Taken,
    list_held_facts,
    list_predicate_rows,
    load_predicate_uses,
)
from memoryhub.policies.services import load_layers, load_tenant_policy, set_predicate_cardinality

TAKEN_CHOICE = FilterChoice(
    "taken",
    _("Treated as"),
    (("", _("Either")), ("single", _("One value at a time")), ("multi", _("Several values"))),
)
REASON_CHOICE = FilterChoice(
    "why",
    _("Sources"),
    (
        ("", _("Any reason")),
        ("person", _("Set by a person")),
        ("model", _("By a model")),
        ("table", _("Built in")),
        ("none", _("Not set by anyone")),
    ),
)
_CARDINALITIES: Mapping[str, Taken] = {"single": "single", "multi": "multi"}
_SET_MESSAGES = {
    "single": gettext_noop(
        "“%(key)s” now has one value at a time: a new value replaces the old one."
    ),
    "multi": gettext_noop(
        "“%(key)s” can now have several values: a new value is added to the others."
    ),
    None: gettext_noop("“%(key)s” is decided by the model and the built-in table again."),
}


@page_at("predicates/", "predicates")
@tenant_page()
def predicate_list_page(request: ConsoleRequest) -> HttpResponse:
    """All that are in use."""
    facts = load_tenant_policy(request.tenant.id).policy.facts
    filters = read_filters(request.GET, (TAKEN_CHOICE, REASON_CHOICE))
    rows = list_predicate_rows(load_predicate_uses(), facts, filters)
    context = {"filters": filters, "page": slice_page(rows, filters.page)}
    return render(request, "predicates/list.html", context)


@page_at("predicates/facts/", "predicate-facts")
@tenant_page()
def predicate_fact_page(request: ConsoleRequest) -> HttpResponse:
    """The facts of one predicate, `?key=`, or of all."""
    key = request.GET.get("key", "").replace("\0", "")[:80]
    filters = read_filters(request.GET)
    found = build_text_condition(filters.q, "text", "owner", "space__subject")
    rows = list_held_facts(key).filter(found).select_related("space")
    page = load_page(rows.order_by("-asserted_at", "-id"), filters.page)
    context = {"key": key, "held": {"key": key}, "filters": filters, "page": page}
    return render(request, "predicates/facts.html", context)


@action_at("predicates/set", "predicate-set")
@tenant_page(role=ADMIN)
def set_predicate(request: ConsoleRequest) -> HttpResponse:
    """One value, several, or nothing said: a new version of the tenant's policy."""
    key = request.POST.get("key", "").replace("\0", "").strip()[:80]
    cardinality = _CARDINALITIES.get(request.POST.get("cardinality", ""))
    before = load_layers(request.tenant.id, None).tenant
    run_and_report(
        request,
        lambda: set_predicate_cardinality(request.tenant.id, key, cardinality, actor=request.actor),
        gettext(_SET_MESSAGES[cardinality]) % {"key": format_predicate(key)},
        refused=gettext("Not set"),
        undo=lambda: build_return_tags(before),
    )
    return redirect(read_back_address(request) or "predicates")
