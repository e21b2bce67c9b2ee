"""Who a space is about, and the blocks in front of its agents."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.db import transaction
from django.http import Http404, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.utils.translation import gettext as _

from memoryhub.console.frame.access import EDITOR, action_at, page_at, tenant_page
from memoryhub.console.frame.forms import keep_draft, run_and_report, take_draft
from memoryhub.console.frame.lists import read_filters, slice_page
from memoryhub.console.frame.requests import ConsoleRequest
from memoryhub.console.frame.space.tabs import get_space_at_moment, get_space_or_404, render_tab
from memoryhub.console.pages.history.views import build_event_undo_tags
from memoryhub.console.pages.persona import queries
from memoryhub.errors import InvalidInput
from memoryhub.pipeline import corrections
from memoryhub.pipeline.corrections import Correction
from memoryhub.pipeline.naming import set_subject_name
from memoryhub.policies.services import load_effective_policy
from memoryhub.tenants.models import Space
from notes.models import EvolutionEvent
from personas import blocks
from personas.blocks import BlockWriter
from personas.models import CoreBlock


@page_at("spaces/<uuid:space_id>/persona/", "space-persona")
@tenant_page()
def persona_page(request: ConsoleRequest, space_id: UUID) -> HttpResponse:
    space, moment = get_space_at_moment(request, space_id)
    policy = load_effective_policy(space).policy
    filters = read_filters(request.GET, (queries.TRAIT_CATEGORY_CHOICE, queries.TRAIT_LEVEL_CHOICE))
    shown = queries.load_persona(space, policy, moment, filters)
    return render_tab(
        request,
        space,
        "persona",
        "persona/persona.html",
        persona=shown,
        policy=policy,
        filters=filters,
        moment=moment,
        trait_draft=take_draft(request, f"trait-{space_id}"),
        profile_draft=take_draft(request, f"profile-{space_id}"),
    )


@page_at("spaces/<uuid:space_id>/persona/trait", "space-trait")
@tenant_page(role=EDITOR)
def correct_trait(request: ConsoleRequest, space_id: UUID) -> HttpResponse:
    said = _("Set. From now on the hub only proposes changes to it.")
    draft = f"trait-{space_id}"
    return _correct_persona(request, space_id, corrections.correct_trait, "level", said, draft)


@page_at("spaces/<uuid:space_id>/persona/profile", "space-profile")
@tenant_page(role=EDITOR)
def correct_profile_entry(request: ConsoleRequest, space_id: UUID) -> HttpResponse:
    said = _("Profile updated.")
    draft = f"profile-{space_id}"
    return _correct_persona(request, space_id, corrections.correct_profile, "value", said, draft)


def _correct_persona(
    request: ConsoleRequest,
    space_id: UUID,
    correct: Callable[..., Correction[Any]],
    field: str,
    said: str,
    draft: str,
) -> HttpResponse:
    """Give what stands under the form's `key` the value of its `field`."""
    space, now = _get_posted_space(request, space_id), timezone.now()
    key, value = request.POST.get("key", ""), request.POST.get(field, "")

    def change() -> list[EvolutionEvent]:
        made = correct(space, key, value, request.actor, now)
        return [made.event] if made.is_stored else []

    _run_in_transaction(request, change, said, draft)
    return redirect("space-persona", space_id=space.id)


@action_at("spaces/<uuid:space_id>/persona/name", "space-name")
@tenant_page(role=EDITOR)
def set_name(request: ConsoleRequest, space_id: UUID) -> HttpResponse:
    """What they are called; what was written about them follows."""
    now = timezone.now()
    space = get_space_or_404(space_id, now)
    try:
        set_subject_name(space, request.POST.get("subject_name", ""), request.actor, now)
        messages.success(request, _("Saved: this name is used from now on."))
    except InvalidInput as error:
        messages.error(request, error.message)
    return redirect("space-persona", space_id=space_id)


@page_at("spaces/<uuid:space_id>/blocks/", "space-blocks")
@tenant_page()
def block_list_page(request: ConsoleRequest, space_id: UUID) -> HttpResponse:
    space, moment = get_space_at_moment(request, space_id)
    filters = read_filters(request.GET, (queries.BLOCK_KIND,))
    found = queries.load_block_rows(space, filters, moment)
    return render_tab(
        request,
        space,
        "blocks",
        "persona/blocks.html",
        page=slice_page(found, filters.page),
        filters=filters,
        moment=moment,
        attachable=queries.load_attachable_blocks(space),
        limit=load_effective_policy(space).policy.core.char_limit,
        draft=take_draft(request, f"new-block-{space_id}"),
    )


@page_at("spaces/<uuid:space_id>/blocks/<uuid:block_id>/", "space-block")
@tenant_page()
def block_page(request: ConsoleRequest, space_id: UUID, block_id: UUID) -> HttpResponse:
    space = get_space_or_404(space_id, timezone.now())
    found = queries.get_block_or_404(space, block_id)
    return render_tab(
        request,
        space,
        "block",
        "persona/block.html",
        core=found,
        versions=queries.load_block_versions(found),
        draft=take_draft(request, f"block-{block_id}"),
    )


@page_at("spaces/<uuid:space_id>/blocks/new", "block-new")
@tenant_page(role=EDITOR)
def create_block(request: ConsoleRequest, space_id: UUID) -> HttpResponse:
    space = _get_posted_space(request, space_id)
    form, writer = request.POST, _build_block_writer(request, space)

    def change() -> list[EvolutionEvent]:
        blocks.create_block(
            writer,
            form.get("label", ""),
            _normalise_lines(form.get("value", "")),
            tenant_id=space.tenant_id,
            space=None if form.get("shared") else space,
            description=form.get("description", ""),
            char_limit=_parse_block_number(form.get("char_limit", "")),
            read_only=bool(form.get("read_only")),
        )
        if form.get("shared"):
            label = form.get("label", "").strip()
            shared = CoreBlock.objects.get(space=None, agent="", label=label, retired_at=None)
            blocks.attach_block(shared, space)
        return writer.events

    said = _("Block created. Agents see it from their next step on.")
    _run_in_transaction(request, change, said, f"new-block-{space_id}")
    return redirect("space-blocks", space_id=space.id)


@page_at("spaces/<uuid:space_id>/blocks/<uuid:block_id>/save", "block-save")
@tenant_page(role=EDITOR)
def save_block(request: ConsoleRequest, space_id: UUID, block_id: UUID) -> HttpResponse:
    """All of the form at once."""
    space, found = _get_posted_block(request, space_id, block_id)
    form, writer = request.POST, _build_block_writer(request, space)
    value = _normalise_lines(form.get("value", ""))

    def change() -> list[EvolutionEvent]:
        blocks.revise_block(
            writer,
            found.id,
            _parse_block_number(form.get("version", "")),
            value=value,
            label=form.get("label", ""),
            char_limit=_parse_block_number(form.get("char_limit", "")),
        )
        return writer.events

    _run_in_transaction(request, change, _("Saved as a new version."), f"block-{block_id}")
    return redirect("space-block", space_id=space.id, block_id=found.id)


@page_at("spaces/<uuid:space_id>/blocks/<uuid:block_id>/delete", "block-delete")
@tenant_page(role=EDITOR)
def delete_block(request: ConsoleRequest, space_id: UUID, block_id: UUID) -> HttpResponse:
    space, found = _get_posted_block(request, space_id, block_id)
    writer = _build_block_writer(request, space)

    def change() -> list[EvolutionEvent]:
        blocks.delete_block(writer, found.id)
        return writer.events

    _run_in_transaction(request, change, _("Removed. Its versions stay."))
    return redirect("space-blocks", space_id=space.id)


@page_at("spaces/<uuid:space_id>/blocks/<uuid:block_id>/attach", "block-attach")
@tenant_page(role=EDITOR)
def attach_block(request: ConsoleRequest, space_id: UUID, block_id: UUID) -> HttpResponse:
    posted = _get_posted_block(request, space_id, block_id, anywhere=True)
    return _attach(request, blocks.attach_block, *posted, _("Agents in this space now see it."))


@page_at("spaces/<uuid:space_id>/blocks/<uuid:block_id>/detach", "block-detach")
@tenant_page(role=EDITOR)
def detach_block(request: ConsoleRequest, space_id: UUID, block_id: UUID) -> HttpResponse:
    posted = _get_posted_block(request, space_id, block_id)
    done = _("Agents in this space no longer see it.")
    return _attach(request, blocks.detach_block, *posted, done)


def _attach(
    request: ConsoleRequest, work: Callable[..., object], space: Space, block: CoreBlock, said: str
) -> HttpResponse:
    run_and_report(request, lambda: work(block, space), said, refused=_("Not changed"))
    return redirect("space-blocks", space_id=space.id)


def _get_posted_space(request: ConsoleRequest, space_id: UUID) -> Space:
    if request.method != "POST":
        raise Http404
    found: Space = get_space_or_404(space_id, timezone.now())
    return found


def _get_posted_block(
    request: ConsoleRequest, space_id: UUID, block_id: UUID, *, anywhere: bool = False
) -> tuple[Space, CoreBlock]:
    space = _get_posted_space(request, space_id)
    return space, queries.get_block_or_404(space, block_id, anywhere=anywhere)


def _build_block_writer(request: ConsoleRequest, space: Space) -> BlockWriter:
    return BlockWriter(request.actor, "person", timezone.now(), space, reason="by hand")


def _run_in_transaction(
    request: ConsoleRequest, change: Callable[[], list[EvolutionEvent]], done: str, draft: str = ""
) -> None:
    """All of it or nothing, in one transaction; the first of its events is offered to be undone.
    `draft`: under this name what was typed is kept when it is refused."""
    made: list[EvolutionEvent] = []

    @transaction.atomic
    def run() -> None:
        made.extend(change())

    is_done = run_and_report(
        request,
        run,
        done,
        refused=_("Not changed"),
        undo=lambda: build_event_undo_tags(made[0]) if made else "",
    )
    if draft and not is_done:
        keep_draft(request, draft)


def _parse_block_number(text: str) -> int:
    if not text.strip().isdecimal() or len(text) > 9:
        raise InvalidInput(_("a whole number"), field="number")
    return int(text)


def _normalise_lines(text: str) -> str:
    """As agents write lines: browsers send two characters for an end of line."""
    return text.replace("\r\n", "\n").replace("\0", "")
