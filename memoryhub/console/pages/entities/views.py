"""The people and things that a space knows."""

from __future__ import annotations

from uuid import UUID

from django.http import HttpResponse
from django.utils.translation import gettext_lazy as _

from memoryhub.console.frame.access import page_at, tenant_page
from memoryhub.console.frame.lists import (
    FilterChoice,
    Filters,
    ListPage,
    build_text_condition,
    load_page,
    load_value_choice,
    read_filters,
)
from memoryhub.console.frame.requests import ConsoleRequest
from memoryhub.console.frame.space.moments import SpaceMoment
from memoryhub.console.frame.space.tabs import get_space_at_moment, render_tab
from memoryhub.console.frame.text.wording import format_code
from memoryhub.tenants.models import Space
from notes.models import Entity


def load_entity_type_choice(space: Space) -> FilterChoice:
    rows = Entity.objects.filter(space=space)
    found = load_value_choice(rows, "type", _("Type"), _("Any"), spare=False)
    named = (found.options[0], *((value, format_code(value)) for value, label in found.options[1:]))
    return FilterChoice(found.name, found.label, named)


def load_entities(space: Space, filters: Filters, moment: SpaceMoment) -> ListPage[Entity]:
    rows = moment.rows(space, Entity).filter(
        build_text_condition(filters.q, "name", "aliases"), **filters.chosen_values("type")
    )
    return load_page(rows.order_by("-mention_count", "name", "id"), filters.page).map(moment.row)


@page_at("spaces/<uuid:space_id>/entities/", "space-entities")
@tenant_page()
def entity_list_page(request: ConsoleRequest, space_id: UUID) -> HttpResponse:
    space, moment = get_space_at_moment(request, space_id)
    filters = read_filters(request.GET, (load_entity_type_choice(space),))
    page = load_entities(space, filters, moment) if moment.is_dated(Entity) else None
    return render_tab(
        request, space, "entities", "entities/list.html", filters=filters, page=page, moment=moment
    )
