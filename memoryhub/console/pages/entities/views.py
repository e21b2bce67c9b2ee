"""The people and things that a space knows."""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID

from django.http import HttpResponse
from django.utils.translation import gettext_lazy as _

from memoryhub.console.frame.access import page_at, tenant_page
from memoryhub.console.frame.lists import (
    FilterChoice,
    build_text_condition,
    load_page,
    load_value_choice,
    read_filters,
)
from memoryhub.console.frame.requests import ConsoleRequest
from memoryhub.console.frame.space.tabs import get_space_at_moment, render_tab
from memoryhub.console.frame.text.wording import format_code
from memoryhub.tenants.models import Space
from notes.models import Entity


def load_entity_type_choice(space: Space) -> FilterChoice:
    rows = Entity.objects.filter(space=space)
    found = load_value_choice(rows, "type", _("Type"), _("Any"), spare=False)
    named = (found.options[0], *((value, format_code(value)) for value, label in found.options[1:]))
    return replace(found, options=named)


@page_at("spaces/<uuid:space_id>/entities/", "space-entities")
@tenant_page()
def entity_list_page(request: ConsoleRequest, space_id: UUID) -> HttpResponse:
    space, moment = get_space_at_moment(request, space_id)
    filters = read_filters(request.GET, (load_entity_type_choice(space),))
    page = None
    if moment.is_dated(Entity):
        told = build_text_condition(filters.q, "name", "aliases")
        rows = moment.rows(space, Entity).filter(told, **filters.chosen_values("type"))
        rows = rows.order_by("-mention_count", "name", "id")
        page = load_page(rows, filters.page).map(moment.row)
    return render_tab(
        request, space, "entities", "entities/list.html", filters=filters, page=page, moment=moment
    )
