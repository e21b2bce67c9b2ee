"""The overrides of a policy: each switch with its own type, as JSON has them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from api.fields import MetadataField
from memoryhub.policies.switches import BY_PURPOSE, MODEL, SWITCHES, Switch, switch_of

_TYPES: Mapping[str, tuple[str, tuple[type, ...]]] = {
    "bool": ("boolean", (bool,)),
    "int": ("integer", (int,)),
    "float": ("number", (int, float)),
    "choice": ("string", (str,)),
    "list": ("array", (list,)),
    "text": ("string", (str,)),
}


def _schema(switch: Switch) -> dict[str, Any]:
    """As far as a switch can be judged by itself: some bound each other."""
    name, _ = _TYPES[switch.kind]
    made: dict[str, Any] = {"type": [name, "null"] if switch.nullable else name}
    if switch.kind == "choice":
        made["enum"] = [*switch.choices, *([None] if switch.nullable else [])]
    if switch.kind == "list":
        made["items"] = {
            "type": "string",
            **({"enum": [*switch.choices]} if switch.choices else {}),
        }
    if switch.least is not None:
        made["exclusiveMinimum" if "over " in switch.bounds else "minimum"] = switch.least
    if switch.most is not None:
        made["maximum"] = switch.most
    return made | {"description": switch.help}


def _described() -> dict[str, Any]:
    found = {name: _schema(switch) for name, switch in SWITCHES.items()}
    families = {name: {"type": "string"} for name in BY_PURPOSE if name.startswith(MODEL)}
    return {
        "type": "object",
        "properties": found | families,
        "additionalProperties": False,
    }


@extend_schema_field(_described())
class OverridesField(MetadataField):
    """By dotted names. Bounds and names are the policy's to judge; "7" is no number here."""

    def to_internal_value(self, data: Any) -> dict[str, Any]:
        found = super().to_internal_value(data)
        wrong = {name: ["of another type"] for name, value in found.items() if _odd(name, value)}
        if wrong:
            raise serializers.ValidationError(wrong)
        return found


def _odd(name: str, value: Any) -> bool:
    switch = switch_of(name)
    if switch is None or (value is None and switch.nullable):
        return False
    if isinstance(value, bool) and switch.kind != "bool":
        return True
    if switch.kind == "int" and isinstance(value, float):
        return not value.is_integer()
    return not isinstance(value, _TYPES[switch.kind][1])
