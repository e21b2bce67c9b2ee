"""Every switch by its dotted name, as the schema describes it: what a page or a document shows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from memoryhub.engines.llm.own_prompts import PURPOSES
from memoryhub.policies.schema import Policy

# A switch a purpose: llm.model.construct, llm.prompt.judge, ... with its help and bounds.
MODEL, PROMPT = "llm.model", "llm.prompt"
FAMILIES: Mapping[str, tuple[str, str]] = {
    MODEL: ("The model asked for this purpose.", "a model's name"),
    PROMPT: (
        "The operator's prompt for this purpose, instead of the packaged one.",
        "the name of a prompt in the folder, or nothing",
    ),
}
# What clients ask through the hub: it has a model, and no prompt but their own.
PROXY = "proxy"
BY_PURPOSE: tuple[str, ...] = (
    *(f"{family}.{purpose}" for family in FAMILIES for purpose in PURPOSES),
    f"{MODEL}.{PROXY}",
)

GROUPS: Mapping[str, str] = {
    "derive": "Reading dialogue",
    "stm": "Short-term memory",
    "facts": "Facts",
    "graph": "Graph",
    "notes": "Notes",
    "segments": "Topics",
    "heat": "Heat of topics",
    "chain": "Chains",
    "traits": "Traits",
    "shelf": "Shelf",
    "portrait": "Portrait",
    "episodes": "Episodes and summaries",
    "forget": "Forgetting",
    "retention": "Age limit",
    "window": "Window",
    "core": "Agents' own memory",
    "route": "Routing questions",
    "judge": "Judging what was found",
    "recall": "Search",
    "llm": "Models",
    "erase": "Erasure",
}


@dataclass(frozen=True, slots=True)
class Switch:
    """`kind` is bool, int, float, choice, list or text; `bounds` are in words."""

    name: str
    kind: str
    default: Any
    help: str
    bounds: str
    choices: tuple[str, ...] = ()
    least: float | None = None
    most: float | None = None
    nullable: bool = False

    @property
    def group(self) -> str:
        return self.name.partition(".")[0]


def _described() -> Iterator[Switch]:
    schema = Policy.model_json_schema(by_alias=True)
    for group, reference in schema["properties"].items():
        if group == "preset":
            continue
        part = schema["$defs"][_definition(reference)]
        for name, described in part["properties"].items():
            full = f"{group}.{name}"
            if full not in FAMILIES:
                yield _switch(full, described)


def _definition(reference: Mapping[str, Any]) -> str:
    found = reference.get("$ref") or reference["allOf"][0]["$ref"]
    return str(found).rpartition("/")[2]


def _switch(name: str, described: Mapping[str, Any]) -> Switch:
    options = [each for each in described.get("anyOf", []) if each.get("type") != "null"]
    shape: Mapping[str, Any] = options[0] if options else described
    least = shape.get("minimum", shape.get("exclusiveMinimum"))
    choices = shape.get("enum") or shape.get("items", {}).get("enum") or ()
    kind = _kind(shape)
    nullable = bool(options)
    return Switch(
        name=name,
        kind=kind,
        default=described.get("default"),
        help=" ".join(str(described.get("description", "")).split()),
        bounds=_bounds(kind, shape, choices, nullable=nullable),
        choices=tuple(choices),
        least=least,
        most=shape.get("maximum"),
        nullable=nullable,
    )


def _kind(shape: Mapping[str, Any]) -> str:
    if shape.get("enum"):
        return "choice"
    kinds = {"boolean": "bool", "integer": "int", "number": "float", "array": "list"}
    return kinds.get(str(shape.get("type")), "text")


def _bounds(kind: str, shape: Mapping[str, Any], choices: Any, *, nullable: bool) -> str:
    if kind == "bool":
        return "on or off"
    if kind == "choice":
        return ", ".join(choices)
    if kind == "list":
        return f"any of {', '.join(choices)}"
    said = _range(shape) if kind in ("int", "float") else "text"
    said = f"whole number, {said}" if kind == "int" else said
    return f"{said}, or nothing" if nullable else said


def _range(shape: Mapping[str, Any]) -> str:
    over, least, most = (shape.get(k) for k in ("exclusiveMinimum", "minimum", "maximum"))
    low = f"over {_plain(over)}" if over is not None else f"at least {_plain(least)}"
    return low if most is None else f"{_plain(least)} to {_plain(most)}"


def _plain(number: Any) -> str:
    return f"{number:.12g}"


SWITCHES: Mapping[str, Switch] = {switch.name: switch for switch in _described()}


def switch_of(name: str) -> Switch | None:
    """The switch of this name; each family has one for every purpose (`llm.model.<purpose>`)."""
    if name in BY_PURPOSE:
        return Switch(name, "text", "", *FAMILIES[family_of(name)])
    return SWITCHES.get(name)


def family_of(name: str) -> str:
    """`llm.prompt` of `llm.prompt.judge`; "" for a switch that stands for itself."""
    family = name.rpartition(".")[0]
    return family if family in FAMILIES else ""


def value_of(policy: Policy, name: str) -> Any:
    """The switch's value as JSON: lists for tuples, None where nothing is set."""
    group, _, rest = name.partition(".")
    dumped = getattr(policy, group).model_dump(mode="json", by_alias=True)
    if family_of(name):
        by_purpose, _, purpose = rest.partition(".")
        return dumped[by_purpose].get(purpose, "")
    return dumped[rest]
