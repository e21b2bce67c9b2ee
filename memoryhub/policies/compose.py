"""A policy from its layers: the schema's defaults, a preset, the tenant's word, the space's."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from django.utils.translation import gettext, gettext_noop
from pydantic import ValidationError
from pydantic_core import ErrorDetails

from memoryhub.errors import InvalidInput
from memoryhub.policies.presets import DEFAULT_PRESET, PRESETS
from memoryhub.policies.schema import Policy
from memoryhub.policies.switches import (
    PURPOSE_SWITCHES,
    SWITCH_FAMILIES,
    SWITCHES,
    find_switch,
    get_family,
    get_switch_value,
)

# What belongs to the tenant's house rather than to a system of memory: a space that has a preset
# of its own keeps these of its tenant.
HOUSE_PREFIXES = ("llm.", "erase.", "retention.")

Overrides = Mapping[str, Any]


def compose_policy(
    preset: str, tenant: Overrides, own_preset: str = "", space: Overrides | None = None
) -> Policy:
    """The policy of these layers; the later wins. Raises InvalidInput.

    A space's own preset replaces the tenant's preset together with what the tenant changed of it.
    """
    if own_preset:
        tenant = select_house_rules(tenant)
    name = own_preset or preset or DEFAULT_PRESET
    return _build_policy(name, json.dumps([dict(tenant), dict(space or {})]))


def select_house_rules(overrides: Overrides) -> dict[str, Any]:
    """Those that are kept when another preset is chosen."""
    return {name: value for name, value in overrides.items() if name.startswith(HOUSE_PREFIXES)}


@lru_cache(maxsize=256)
def _build_policy(preset: str, layers: str) -> Policy:
    if preset not in PRESETS:
        told = {"preset": repr(preset), "known": ", ".join(PRESETS)}
        message = gettext("there is no preset %(preset)s; there are: %(known)s")
        raise InvalidInput(message % told, field="preset")
    values = dict(PRESETS[preset].overrides)
    for layer in json.loads(layers):
        values |= layer
    try:
        return Policy.model_validate({"preset": preset, **_nest_overrides(values)})
    except ValidationError as error:
        raise _build_refusal(error.errors()[0]) from error


@dataclass(frozen=True, slots=True)
class PolicyDifference:
    """A switch that has another value in one policy than in the other."""

    name: str
    before: Any
    after: Any


def compute_differences(before: Policy, after: Policy) -> list[PolicyDifference]:
    """In the order of the switches, models and prompts by purpose last."""
    names = [*SWITCHES, *PURPOSE_SWITCHES]
    pairs = (
        (name, get_switch_value(before, name), get_switch_value(after, name)) for name in names
    )
    return [PolicyDifference(*each) for each in pairs if each[1] != each[2]]


def normalise_overrides(policy: Policy, overrides: Overrides) -> dict[str, Any]:
    """The overrides with their values as the policy made of them reads them ("7" as 7)."""
    return {name: get_switch_value(policy, name) for name in sorted(overrides)}


def _nest_overrides(values: Overrides) -> dict[str, dict[str, Any]]:
    nested: dict[str, dict[str, Any]] = {}
    for name, value in values.items():
        if find_switch(name) is None:
            raise _build_unknown_switch_error(name)
        group, _, rest = name.partition(".")
        if get_family(name):
            by_purpose, _, purpose = rest.partition(".")
            nested.setdefault(group, {}).setdefault(by_purpose, {})[purpose] = value
        else:
            nested.setdefault(group, {})[rest] = value
    return nested


def _build_unknown_switch_error(name: str) -> InvalidInput:
    group = name.partition(".")[0]
    near = [each for each in SWITCHES if each.startswith(f"{group}.")]
    if family := get_family(name):
        near = [each for each in PURPOSE_SWITCHES if get_family(each) == family]
    said = gettext("there is no switch %(name)s")
    if near:
        said = gettext("there is no switch %(name)s; of %(group)s there are: %(known)s")
    told = {"name": repr(name), "group": group, "known": ", ".join(near)}
    return InvalidInput(said % told, field=name)


def _build_refusal(fault: ErrorDetails) -> InvalidInput:
    said = _format_fault(fault)
    if not fault["loc"]:
        return InvalidInput(said, field=said.partition(" ")[0])
    depth = 3 if ".".join(map(str, fault["loc"][:2])) in SWITCH_FAMILIES else 2
    name = ".".join(str(part) for part in fault["loc"][:depth])
    switch = find_switch(name)
    if switch:
        said = gettext("%(said)s (allowed: %(bounds)s)") % {"said": said, "bounds": switch.bounds}
    return InvalidInput(gettext("%(name)s: %(said)s") % {"name": name, "said": said}, field=name)


# As Pydantic says it, by the name it has for the fault.
_FAULT_MESSAGES = {
    "bool_parsing": gettext_noop("Input should be a valid boolean, unable to interpret input"),
    "bool_type": gettext_noop("Input should be a valid boolean"),
    "float_parsing": gettext_noop(
        "Input should be a valid number, unable to parse string as a number"
    ),
    "float_type": gettext_noop("Input should be a valid number"),
    "greater_than": gettext_noop("Input should be greater than %(gt)s"),
    "greater_than_equal": gettext_noop("Input should be greater than or equal to %(ge)s"),
    "int_from_float": gettext_noop(
        "Input should be a valid integer, got a number with a fractional part"
    ),
    "int_parsing": gettext_noop(
        "Input should be a valid integer, unable to parse string as an integer"
    ),
    "int_type": gettext_noop("Input should be a valid integer"),
    "less_than": gettext_noop("Input should be less than %(lt)s"),
    "less_than_equal": gettext_noop("Input should be less than or equal to %(le)s"),
    "literal_error": gettext_noop("Input should be %(expected)s"),
    "string_type": gettext_noop("Input should be a valid string"),
}


def _format_fault(fault: ErrorDetails) -> str:
    """In the reader's language where it is known; else as Pydantic wrote it."""
    words = _FAULT_MESSAGES.get(fault["type"], "")
    known = gettext(words) if words else ""
    if known == words:
        return str(fault["msg"]).removeprefix("Value error, ")
    return known % fault.get("ctx", {})
