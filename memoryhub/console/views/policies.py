"""Choosing what a tenant or a space remembers, and how."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_POST

from memoryhub.console import policies
from memoryhub.console.access import tenant_page
from memoryhub.console.listing import read_filters
from memoryhub.console.queries import policies as queries
from memoryhub.console.queries import spaces as space_queries
from memoryhub.console.queries.prompts import prompts_to_choose
from memoryhub.console.requests import ConsoleRequest
from memoryhub.console.views.history import undoable
from memoryhub.console.views.replays import begin
from memoryhub.console.views.spaces import framed
from memoryhub.errors import Conflict, InvalidInput
from memoryhub.golden.candidates import Candidate
from memoryhub.policies.composing import house_rules
from memoryhub.policies.models import PolicyVersion
from memoryhub.policies.presets import PRESETS
from memoryhub.policies.services import Layers, layers_of, set_policy
from memoryhub.tenants.models import Membership, Space

_CHANGED = gettext_lazy(
    "Somebody changed the policy meanwhile. This is the newer one; make your change again."
)


@tenant_page()
def policy(request: ConsoleRequest) -> HttpResponse:
    return _page(request, None)


@tenant_page()
def space_policy(request: ConsoleRequest, space_id: UUID) -> HttpResponse:
    return _page(request, space_queries.space_or_404(space_id, timezone.now()))


@require_POST
@tenant_page(role=Membership.Role.ADMIN)
def change(request: ConsoleRequest) -> HttpResponse:
    return _changed(request, None)


@require_POST
@tenant_page(role=Membership.Role.ADMIN)
def space_change(request: ConsoleRequest, space_id: UUID) -> HttpResponse:
    return _changed(request, space_queries.space_or_404(space_id, timezone.now()))


@require_POST
@tenant_page(role=Membership.Role.ADMIN)
def return_to(request: ConsoleRequest, version_id: UUID) -> HttpResponse:
    """An earlier version, as a new one."""
    old = queries.version_or_404(version_id)
    before = _in_force(layers_of(request.tenant.id, old.space), old.space)
    try:
        made = set_policy(
            request.tenant.id,
            actor=request.user.get_username(),
            preset=old.preset,
            overrides=old.overrides,
            space=old.space,
            reason=f"Returned to version {old.version}",
        )
    except InvalidInput as error:
        messages.error(request, _("Not returned: %(why)s.") % {"why": error.message})
    else:
        message = _("Version %(old)s is in force again, as %(new)s.")
        said = message % {"old": old.version, "new": made.version}
        messages.success(request, said, extra_tags=_returning(before))
    return redirect(_address(old.space))


@require_POST
@tenant_page(role=Membership.Role.EDITOR)
def attempt(request: ConsoleRequest) -> HttpResponse:
    """What the form asks for, on golden questions first."""
    return _attempted(request, None)


@require_POST
@tenant_page(role=Membership.Role.EDITOR)
def space_attempt(request: ConsoleRequest, space_id: UUID) -> HttpResponse:
    return _attempted(request, space_queries.space_or_404(space_id, timezone.now()))


def _attempted(request: ConsoleRequest, space: Space | None) -> HttpResponse:
    layers = layers_of(request.tenant.id, space)
    own = _in_force(layers, space)
    preset, overrides = _asked(request, layers, space)
    candidate = Candidate(preset, overrides, base=own.version if own else 0)
    return begin(request, candidate, space, back=_address(space))


def _asked(
    request: ConsoleRequest, layers: Layers, space: Space | None
) -> tuple[str, dict[str, Any]]:
    """The preset and the overrides of the form: it names a preset, or holds the switches."""
    form = request.POST
    own = _in_force(layers, space)
    kept = own.overrides if own else {}
    if (chosen := form.get("preset")) is not None:
        return chosen, house_rules(kept)
    base = policies.base_of(layers, of_space=bool(space))
    return own.preset if own else "", policies.read_form(form, base, kept)


def _in_force(layers: Layers, space: Space | None) -> PolicyVersion | None:
    """The latest version of the space, or of the tenant; None where nothing was chosen yet."""
    return layers.own if space else layers.tenant


def _returning(before: PolicyVersion | None) -> str:
    """Tags that offer the version before; "" after the first one, before which there was none."""
    return undoable(reverse("policy-return", args=[before.id])) if before else ""


# Other pages that set a few switches, and come back to themselves.
_BACK = ("models", "data")


def _back(request: ConsoleRequest, space: Space | None) -> str:
    wanted = request.POST.get("back", "")
    return reverse(wanted) if wanted in _BACK else _address(space)


def _address(space: Space | None) -> str:
    return reverse("space-policy", args=[space.id]) if space else reverse("policy")


def _page(
    request: ConsoleRequest,
    space: Space | None,
    *,
    given: dict[str, str] | None = None,
    wrong: InvalidInput | None = None,
) -> HttpResponse:
    layers = layers_of(request.tenant.id, space)
    number = read_filters(request.GET).page
    faults = {str(wrong.field): wrong.message} if wrong else {}
    context = {
        "layers": layers,
        "row": _in_force(layers, space),
        "in_force": layers.policy,
        "preset": PRESETS[layers.policy.preset],
        "options": policies.options(layers, of_space=bool(space)),
        "groups": policies.groups(layers, given, faults, prompts_to_choose()),
        "trouble": wrong.message if wrong else "",
        "page": queries.versions(space, number).map(lambda v: (v, policies.steps(v.overrides))),
        **(framed(request, space, "policy") if space else {"now": timezone.now()}),
        **_compared(request, layers, space),
    }
    template = "space/policy.html" if space else "policy.html"
    return render(request, template, context, status=422 if wrong else 200)


def _compared(request: ConsoleRequest, layers: Layers, space: Space | None) -> dict[str, Any]:
    """The preset that is looked at before it is applied."""
    wanted = request.GET.get("preset")
    known = next((o for o in policies.options(layers, of_space=bool(space))
                  if o.preset.name == wanted), None)  # fmt: skip
    if known is None:
        return {}
    changes = policies.changes(layers, known.preset.name, of_space=bool(space))
    return {"candidate": known.preset, "changes": changes}


def _changed(request: ConsoleRequest, space: Space | None) -> HttpResponse:
    """Apply a preset (the form names one), or the switches of the form."""
    form = request.POST
    layers = layers_of(request.tenant.id, space)
    own = _in_force(layers, space)
    preset, overrides = _asked(request, layers, space)
    if "preset" not in form and policies.unchanged(own.overrides if own else {}, overrides):
        messages.info(request, _("Every switch has that value already."))
        return redirect(_back(request, space))
    version = form.get("version", "")
    try:
        made = set_policy(
            request.tenant.id,
            actor=request.user.get_username(),
            preset=preset,
            overrides=overrides,
            space=space,
            reason=form.get("reason", "").replace("\0", "").strip(),
            expected=int(version) if version.isdecimal() and len(version) < 8 else None,
        )
    except InvalidInput as error:
        return _page(request, space, given=policies.given_texts(form), wrong=error)
    except Conflict:
        messages.error(request, _CHANGED)
    else:
        message = _("Version %(version)s is in force from the next job on.")
        said = message % {"version": made.version}
        messages.success(request, said, extra_tags=_returning(own))
    return redirect(_back(request, space))
