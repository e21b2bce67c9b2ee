"""The people and things that a space knows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils import timezone
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from memoryhub.console.frame.access import EDITOR, action_at, page_at, tenant_page, tenant_view
from memoryhub.console.frame.forms import attempt
from memoryhub.console.frame.lists import (
    FilterChoice,
    build_text_condition,
    load_page,
    load_value_choice,
    read_filters,
)
from memoryhub.console.frame.requests import ConsoleRequest
from memoryhub.console.frame.space.tabs import (
    get_space_at_moment,
    get_space_or_404,
    render_tab,
)
from memoryhub.console.frame.text.wording import format_code
from memoryhub.console.pages.history.views import build_correction_undo_tags
from memoryhub.pipeline import corrections
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope
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
        others = _load_standing_names(space, list(page))
        page = page.map(lambda row: (row, others.get(row.merged_into_id, "")))
    return render_tab(
        request, space, "entities", "entities/list.html", filters=filters, page=page, moment=moment
    )


def _load_standing_names(space: Space, merged: Sequence[Entity]) -> dict[UUID | None, str]:
    """By id, the names of those that stand for these. One statement."""
    wanted = [row.merged_into_id for row in merged if row.merged_into_id]
    rows = Entity.objects.filter(space=space, id__in=wanted)
    return dict(rows.values_list("id", "name")) if wanted else {}


@action_at("spaces/<uuid:space_id>/entities/<uuid:entity_id>/split", "space-entity-split")
@tenant_view(role=EDITOR)
def split_entity(request: ConsoleRequest, space_id: UUID, entity_id: UUID) -> HttpResponse:
    """The entity stands for itself again."""
    now = timezone.now()
    with tenant_scope(request.tenant.id):
        space = get_space_or_404(space_id, now)
        get_object_or_404(Entity, space=space, id=entity_id)

    def split() -> corrections.Correction[Any]:
        return corrections.split_entity(space, entity_id, request.actor, now)

    made = attempt(request, split, gettext("Nothing was changed: %(why)s."))
    if made is not None:
        tags = build_correction_undo_tags(made)
        messages.success(request, gettext("Split: it stands for itself."), extra_tags=tags)
    return redirect("space-entities", space_id)
