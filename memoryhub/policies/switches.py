"""Every switch by its dotted name, as the schema describes it: what a page or a document shows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from memoryhub.engines.llm.own_prompts import PURPOSES
from memoryhub.policies.schema import Policy

# A switch a purpose: llm.model.construct, llm.prompt.judge, ... with its help and bounds.
MODEL, PROMPT = "llm.model", "llm.prompt"
SWITCH_FAMILIES: Mapping[str, tuple[str, str]] = {
    MODEL: ("The model asked for this purpose.", "a model's name"),
    PROMPT: (
        "The operator's prompt for this purpose, instead of the built-in one.",
        "the name of a prompt in the folder, or empty",
    ),
}
# What clients ask through the hub: it has a model, and no prompt but their own.
PROXY_PURPOSE = "proxy"
PURPOSE_SWITCHES: tuple[str, ...] = (
    *(f"{family}.{purpose}" for family in SWITCH_FAMILIES for purpose in PURPOSES),
    f"{MODEL}.{PROXY_PURPOSE}",
)

GROUP_TITLES: Mapping[str, str] = {
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
    "retention": "Retention limits",
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


def _list_switches() -> Iterator[Switch]:
    schema = Policy.model_json_schema(by_alias=True)
    for group, reference in schema["properties"].items():
        if group == "preset":
            continue
        place = reference.get("$ref") or reference["allOf"][0]["$ref"]
        part = schema["$defs"][str(place).rpartition("/")[2]]
        for name, described in part["properties"].items():
            full = f"{group}.{name}"
            if full not in SWITCH_FAMILIES:
                yield _build_switch(full, described)


def _build_switch(name: str, described: Mapping[str, Any]) -> Switch:
    options = [each for each in described.get("anyOf", []) if each.get("type") != "null"]
    shape: Mapping[str, Any] = options[0] if options else described
    least = shape.get("minimum", shape.get("exclusiveMinimum"))
    choices = shape.get("enum") or shape.get("items", {}).get("enum") or ()
    kinds = {"boolean": "bool", "integer": "int", "number": "float", "array": "list"}
    kind = "choice" if shape.get("enum") else kinds.get(str(shape.get("type")), "text")
    nullable = bool(options)
    return Switch(
        name=name,
        kind=kind,
        default=described.get("default"),
        help=" ".join(str(described.get("description", "")).split()),
        bounds=_format_bounds(kind, shape, choices, nullable=nullable),
        choices=tuple(choices),
        least=least,
        most=shape.get("maximum"),
        nullable=nullable,
    )


def _format_bounds(kind: str, shape: Mapping[str, Any], choices: Any, *, nullable: bool) -> str:
    if kind == "bool":
        return "on or off"
    if kind == "choice":
        return ", ".join(choices)
    if kind == "list":
        return f"any of {', '.join(choices)}"
    said = _format_range(shape) if kind in ("int", "float") else "text"
    said = f"whole number, {said}" if kind == "int" else said
    return f"{said}, or empty" if nullable else said


def _format_range(shape: Mapping[str, Any]) -> str:
    over, least, most = (shape.get(k) for k in ("exclusiveMinimum", "minimum", "maximum"))
    if most is not None:
        return f"{least:.12g} to {most:.12g}"
    return f"over {over:.12g}" if over is not None else f"at least {least:.12g}"


SWITCHES: Mapping[str, Switch] = {switch.name: switch for switch in _list_switches()}

# How long a log is kept, which is the tenant's alone.
LOG_SWITCHES: tuple[str, ...] = tuple(
    name
    for name, switch in SWITCHES.items()
    if switch.group == "retention" and name not in ("retention.max_age_days", "retention.turn_days")
)


def find_switch(name: str) -> Switch | None:
    """The switch of this name; each family has one for every purpose (`llm.model.<purpose>`)."""
    if name in PURPOSE_SWITCHES:
        return Switch(name, "text", "", *SWITCH_FAMILIES[get_family(name)])
    return SWITCHES.get(name)


def get_family(name: str) -> str:
    """`llm.prompt` of `llm.prompt.judge`; "" for a switch that stands for itself."""
    family = name.rpartition(".")[0]
    return family if family in SWITCH_FAMILIES else ""


def get_switch_value(policy: Policy, name: str) -> Any:
    """The switch's value as JSON: lists for tuples, None where nothing is set."""
    group, _, rest = name.partition(".")
    dumped = getattr(policy, group).model_dump(mode="json", by_alias=True)
    if get_family(name):
        by_purpose, _, purpose = rest.partition(".")
        return dumped[by_purpose].get(purpose, "")
    return dumped[rest]
