"""The overrides of a policy: each switch with its own type, as JSON has them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from api.core.fields import MetadataField
from memoryhub.policies.switches import MODEL, PURPOSE_SWITCHES, SWITCHES, Switch, find_switch

_JSON_TYPE_BY_KIND: Mapping[str, tuple[str, tuple[type, ...]]] = {
    "bool": ("boolean", (bool,)),
    "int": ("integer", (int,)),
    "float": ("number", (int, float)),
    "choice": ("string", (str,)),
    "list": ("array", (list,)),
    "text": ("string", (str,)),
}


def _build_switch_schema(switch: Switch) -> dict[str, Any]:
    """As far as a switch can be judged by itself: some bound each other."""
    name, _ = _JSON_TYPE_BY_KIND[switch.kind]
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


def _build_overrides_schema() -> dict[str, Any]:
    found = {name: _build_switch_schema(switch) for name, switch in SWITCHES.items()}
    families = {name: {"type": "string"} for name in PURPOSE_SWITCHES if name.startswith(MODEL)}
    return {
        "type": "object",
        "properties": found | families,
        "additionalProperties": False,
    }


@extend_schema_field(_build_overrides_schema())
class OverridesField(MetadataField):
    """By dotted names. Bounds and names are the policy's to judge; "7" is no number here."""

    def to_internal_value(self, data: Any) -> dict[str, Any]:
        found = super().to_internal_value(data)
        wrong = {
            name: ["of another type"]
            for name, value in found.items()
            if _has_wrong_type(name, value)
        }
        if wrong:
            raise serializers.ValidationError(wrong)
        return found


def _has_wrong_type(name: str, value: Any) -> bool:
    switch = find_switch(name)
    if switch is None or (value is None and switch.nullable):
        return False
    if isinstance(value, bool) and switch.kind != "bool":
        return True
    if switch.kind == "int" and isinstance(value, float):
        return not value.is_integer()
    return not isinstance(value, _JSON_TYPE_BY_KIND[switch.kind][1])
