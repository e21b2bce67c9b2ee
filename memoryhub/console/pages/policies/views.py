"""Choosing what a tenant or a space remembers, and how."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from uuid import UUID

from django.conf import settings
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from memoryhub.console.frame.access import ADMIN, EDITOR, action_at, page_at, tenant_page
from memoryhub.console.frame.forms import read_back_address
from memoryhub.console.frame.lists import load_page, read_filters
from memoryhub.console.frame.requests import ConsoleRequest
from memoryhub.console.frame.space.tabs import build_tab_frame, get_space_or_404
from memoryhub.console.pages.history.views import build_undo_tags
from memoryhub.console.pages.policies import switch_form
from memoryhub.console.pages.replays.views import start_replay
from memoryhub.engines.llm import own_prompts
from memoryhub.engines.llm.own_prompts import PURPOSES
from memoryhub.errors import Conflict, InvalidInput
from memoryhub.golden.candidates import CandidateSetting
from memoryhub.policies.compose import select_house_rules
from memoryhub.policies.models import PolicyVersion
from memoryhub.policies.presets import DEFAULT_PRESET, PRESETS
from memoryhub.policies.services import PolicyLayers, load_layers, set_policy
from memoryhub.policies.switches import PROMPT
from memoryhub.tenants.models import Space

VERSIONS_A_PAGE = 10


def list_prompt_choices() -> dict[str, dict[str, str]]:
    """By switch, by name: the difference to the packaged prompt, as lines of a diff."""
    there = own_prompts.list_own_prompts(settings.PROMPTS)
    return {
        f"{PROMPT}.{purpose}": {
            name: own_prompts.diff_prompt(settings.PROMPTS, purpose, name)
            for name in there[purpose]
        }
        for purpose in PURPOSES
        if purpose in there
    }


_CONFLICT_MESSAGE = gettext_lazy(
    "Someone else changed the policy in the meantime. This is the newer version; "
    "make your change again."
)
_CHANGES_KEPT_MESSAGE = gettext_lazy(
    "Someone else changed the policy in the meantime. This is the newer version, with your changes "
    "filled in but not saved."
)


@page_at("policy/", "policy")
@page_at("spaces/<uuid:space_id>/policy/", "space-policy")
@tenant_page()
def policy_page(request: ConsoleRequest, space_id: UUID | None = None) -> HttpResponse:
    return _render_policy(request, _get_space(space_id))


def _get_space(space_id: UUID | None) -> Space | None:
    """None for the tenant itself."""
    found: Space | None = get_space_or_404(space_id, timezone.now()) if space_id else None
    return found


@action_at("policy/versions/<uuid:version_id>/return", "policy-return")
@tenant_page(role=ADMIN)
def return_to_version(request: ConsoleRequest, version_id: UUID) -> HttpResponse:
    """An earlier version, as a new one."""
    rows = PolicyVersion.objects.select_related("space")
    old = get_object_or_404(rows.filter(id=version_id))
    before = _find_version_in_force(load_layers(request.tenant.id, old.space), old.space)
    try:
        made = set_policy(
            request.tenant.id,
            actor=request.actor,
            preset=old.preset,
            overrides=old.overrides,
            space=old.space,
            reason=f"Returned to version {old.version}",
        )
    except InvalidInput as error:
        messages.error(request, _("Not restored: %(why)s.") % {"why": error.message})
    else:
        message = _("Version %(old)s is in force again, as %(new)s.")
        said = message % {"old": old.version, "new": made.version}
        messages.success(request, said, extra_tags=build_return_tags(before, old.space))
    return redirect(read_back_address(request) or _build_policy_address(old.space))


@action_at("policy/unset", "policy-unset")
@action_at("spaces/<uuid:space_id>/policy/unset", "space-policy-unset")
@tenant_page(role=ADMIN)
def return_to_no_version(request: ConsoleRequest, space_id: UUID | None = None) -> HttpResponse:
    """As it was before the first version: the usual preset, or of a space its tenant's setting."""
    space = _get_space(space_id)
    before = _find_version_in_force(load_layers(request.tenant.id, space), space)
    made = set_policy(
        request.tenant.id,
        actor=request.actor,
        preset="" if space else DEFAULT_PRESET,
        space=space,
        reason="Returned to the setting before any version",
    )
    said = _("The setting before any change is in force again, as version %(new)s.")
    tags = build_return_tags(before, space)
    messages.success(request, said % {"new": made.version}, extra_tags=tags)
    return redirect(read_back_address(request) or _build_policy_address(space))


@action_at("policy/try", "policy-try")
@action_at("spaces/<uuid:space_id>/policy/try", "space-policy-try")
@tenant_page(role=EDITOR)
def try_policy(request: ConsoleRequest, space_id: UUID | None = None) -> HttpResponse:
    """What the form asks for, on golden questions first."""
    space = _get_space(space_id)
    layers = load_layers(request.tenant.id, space)
    own = _find_version_in_force(layers, space)
    preset, overrides = _read_policy_form(request, layers, space)
    candidate = CandidateSetting(preset, overrides, base=own.version if own else 0)
    return start_replay(request, candidate, space, back=_build_policy_address(space))


def _read_policy_form(
    request: ConsoleRequest, layers: PolicyLayers, space: Space | None
) -> tuple[str, dict[str, Any]]:
    """The preset and the overrides of the form: it names a preset, or holds the switches."""
    form = request.POST
    own = _find_version_in_force(layers, space)
    kept = own.overrides if own else {}
    if (chosen := form.get("preset")) is not None:
        return chosen, select_house_rules(kept)
    base = switch_form.compose_base(layers, of_space=bool(space))
    return own.preset if own else "", switch_form.read_overrides(form, base, kept)


def _find_version_in_force(layers: PolicyLayers, space: Space | None) -> PolicyVersion | None:
    """The latest version of the space, or of the tenant; None where nothing was chosen yet."""
    return layers.own if space else layers.tenant


def _load_seen_layers(layers: PolicyLayers, space: Space | None, version: int) -> PolicyLayers:
    """What was in force where a form names this version: 0 is none."""
    seen = PolicyVersion.objects.filter(space=space, version=version).first()
    return replace(layers, own=seen) if space else replace(layers, tenant=seen)


def build_return_tags(before: PolicyVersion | None, space: Space | None = None) -> str:
    """Tags that offer the version before, and after the first one what was in force without any."""
    if before is not None:
        return build_undo_tags(reverse("policy-return", args=[before.id]))
    unset = reverse("space-policy-unset", args=[space.id]) if space else reverse("policy-unset")
    return build_undo_tags(unset)


# Other pages that set a few switches, and come back to themselves.
_BACK_PAGES = ("models", "data")


def _build_back_address(request: ConsoleRequest, space: Space | None) -> str:
    wanted = request.POST.get("back", "")
    return reverse(wanted) if wanted in _BACK_PAGES else _build_policy_address(space)


def _build_policy_address(space: Space | None) -> str:
    return reverse("space-policy", args=[space.id]) if space else reverse("policy")


def _render_policy(
    request: ConsoleRequest,
    space: Space | None,
    *,
    given: dict[str, str] | None = None,
    wrong: InvalidInput | None = None,
    status: int = 200,
) -> HttpResponse:
    layers = load_layers(request.tenant.id, space)
    number = read_filters(request.GET).page
    faults = {str(wrong.field): wrong.message} if wrong else {}
    context = {
        "layers": layers,
        "row": _find_version_in_force(layers, space),
        "in_force": layers.policy,
        "preset": PRESETS[layers.policy.preset],
        "options": switch_form.list_preset_options(layers, of_space=bool(space)),
        "groups": switch_form.build_switch_groups(layers, given, faults, list_prompt_choices()),
        "trouble": wrong.message if wrong else "",
        "reason": request.POST.get("reason", ""),
        "page": load_page(PolicyVersion.objects.filter(space=space), number, VERSIONS_A_PAGE).map(
            lambda v: (v, switch_form.format_overrides(v.overrides))
        ),
        **(build_tab_frame(request, space, "policy") if space else {"now": timezone.now()}),
        **_preview_preset(request, layers, space),
    }
    template = "policies/space.html" if space else "policies/tenant.html"
    return render(request, template, context, status=status)


def _preview_preset(
    request: ConsoleRequest, layers: PolicyLayers, space: Space | None
) -> dict[str, Any]:
    """The preset that is looked at before it is applied."""
    options = switch_form.list_preset_options(layers, of_space=bool(space))
    presets = {option.preset.name: option.preset for option in options}
    wanted = request.GET.get("preset")
    if wanted not in presets:
        return {}
    changes = switch_form.list_preset_changes(layers, wanted, of_space=bool(space))
    return {"candidate": presets[wanted], "changes": changes}


@action_at("policy/change", "policy-change")
@action_at("spaces/<uuid:space_id>/policy/change", "space-policy-change")
@tenant_page(role=ADMIN)
def change_policy(request: ConsoleRequest, space_id: UUID | None = None) -> HttpResponse:
    """Apply a preset (the form names one), or the switches of the form."""
    form, space = request.POST, _get_space(space_id)
    layers = load_layers(request.tenant.id, space)
    own = _find_version_in_force(layers, space)
    preset, overrides = _read_policy_form(request, layers, space)
    if "preset" not in form and switch_form.is_unchanged(own.overrides if own else {}, overrides):
        messages.info(request, _("Every setting already has that value."))
        return redirect(_build_back_address(request, space))
    version = form.get("version", "")
    seen = int(version) if version.isdecimal() and len(version) < 8 else None
    try:
        made = set_policy(
            request.tenant.id,
            actor=request.actor,
            preset=preset,
            overrides=overrides,
            space=space,
            reason=form.get("reason", "").replace("\0", "").strip(),
            expected=seen,
        )
    except InvalidInput as error:
        return _render_policy(
            request, space, given=switch_form.read_switch_texts(form), wrong=error, status=422
        )
    except Conflict:
        if "preset" not in form:
            messages.error(request, _CHANGES_KEPT_MESSAGE)
            typed = switch_form.read_typed_texts(form, _load_seen_layers(layers, space, seen or 0))
            return _render_policy(request, space, given=typed, status=409)
        messages.error(request, _CONFLICT_MESSAGE)
    else:
        message = _("Version %(version)s is in force from the next job on.")
        said = message % {"version": made.version}
        messages.success(request, said, extra_tags=build_return_tags(own, space))
    return redirect(_build_back_address(request, space))
