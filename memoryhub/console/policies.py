"""A policy as a page shows it: switches by group with where their values come from. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from django.utils.translation import gettext as _

from memoryhub.policies.composing import Difference, composed, differences, house_rules
from memoryhub.policies.describing import shown
from memoryhub.policies.presets import DEFAULT, PRESETS, Preset
from memoryhub.policies.schema import Policy
from memoryhub.policies.services import Layers
from memoryhub.policies.switches import (
    BY_PURPOSE,
    GROUPS,
    PROMPT,
    SWITCHES,
    Switch,
    family_of,
    switch_of,
)
from memoryhub.policies.switches import value_of as policy_value

NAMES = (*SWITCHES, *BY_PURPOSE)
# By switch: the prompts to choose from, each with its difference to the packaged one.
OwnPrompts = Mapping[str, Mapping[str, str]]


@dataclass(frozen=True, slots=True)
class Row:
    """A switch with its value as a form holds it. `source`: default, preset, tenant or space."""

    switch: Switch
    text: str
    words: str
    source: str
    error: str = ""
    differences: Mapping[str, str] = field(default_factory=dict)

    @property
    def chosen(self) -> list[str]:
        return self.text.split(",")

    @property
    def step(self) -> str:
        return "1" if self.switch.kind == "int" else "any"

    @property
    def label(self) -> str:
        return self.switch.name.partition(".")[2]


@dataclass(frozen=True, slots=True)
class Group:
    """`changed`: how many of its switches were changed by hand."""

    name: str
    title: str
    rows: list[Row]

    @property
    def changed(self) -> int:
        return sum(row.source in ("tenant", "space") for row in self.rows)

    @property
    def is_open(self) -> bool:
        return any(row.error for row in self.rows)


@dataclass(frozen=True, slots=True)
class Change:
    """A line of the table shown before a preset is applied."""

    switch: Switch
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Option:
    """A preset to choose. `changes`: how many switches it would change."""

    preset: Preset
    changes: int
    in_force: bool


def groups(
    layers: Layers,
    given: Mapping[str, str] | None = None,
    wrong: Mapping[str, str] | None = None,
    prompts: OwnPrompts | None = None,
) -> list[Group]:
    """All switches. `given` are values of a form that was refused, `wrong` why, by switch."""
    policy, given, wrong = layers.policy, given or {}, wrong or {}
    made = (_row(name, policy, layers, given, wrong) for name in NAMES)
    rows = [row for each in made if (row := _with_prompts(each, prompts or {}))]
    return [
        Group(group, title, [row for row in rows if row.switch.group == group])
        for group, title in GROUPS.items()
    ]


def rows_of(layers: Layers, names: Sequence[str]) -> list[Row]:
    """These switches, for a page that sets them alone."""
    return [_row(name, layers.policy, layers, {}, {}) for name in names]


def _with_prompts(row: Row, prompts: OwnPrompts) -> Row | None:
    """A choice of a purpose's prompts; None where there is nothing to choose and nothing chosen."""
    if family_of(row.switch.name) != PROMPT:
        return row
    found = prompts.get(row.switch.name, {})
    names = tuple(dict.fromkeys(["", *found, row.text]))
    if names == ("",):
        return None
    return replace(row, switch=replace(row.switch, kind="choice", choices=names), differences=found)


def _row(
    name: str,
    policy: Policy,
    layers: Layers,
    given: Mapping[str, str],
    wrong: Mapping[str, str],
) -> Row:
    switch = switch_of(name)
    assert switch is not None  # NAMES holds switches only
    value = policy_value(policy, name)
    text = given.get(name, as_text(value))
    return Row(switch, text, worded(value), _source(name, value, layers), wrong.get(name, ""))


def _source(name: str, value: Any, layers: Layers) -> str:
    if layers.own and name in layers.own.overrides:
        return "space"
    told = layers.tenant.overrides if layers.tenant else {}
    if name in told and told[name] == value:
        return "tenant"
    default = SWITCHES[name].default if name in SWITCHES else ""
    return "default" if value == default else "preset"


def worded(value: Any) -> str:
    """A value as a page says it."""
    return _(shown(value)) if value is None or isinstance(value, bool) else shown(value)


def as_text(value: Any) -> str:
    """A value as its field of the form holds it."""
    if value is None:
        return ""
    return ",".join(value) if isinstance(value, list) else shown(value)


def options(layers: Layers, *, of_space: bool) -> list[Option]:
    """Presets with how much each would change. A space may also follow its tenant ("")."""
    followed = [_follow(layers)] if of_space else []
    chosen = (layers.own.preset if layers.own else "") if of_space else _preset_of(layers.tenant)
    return [
        Option(
            preset,
            len(_compared(layers, preset.name, of_space=of_space)),
            preset.name == chosen,
        )
        for preset in (*followed, *PRESETS.values())
    ]


def _follow(layers: Layers) -> Preset:
    name = _preset_of(layers.tenant)
    return Preset(
        "", _("As the tenant"), _("Follows the tenant, whose preset is %(name)s.") % {"name": name}
    )


def _preset_of(row: Any) -> str:
    return row.preset if row else DEFAULT


def changes(layers: Layers, preset: str, *, of_space: bool) -> list[Change]:
    """What applying the preset would change: changes by hand are taken back, most of them."""
    return [_change(each) for each in _compared(layers, preset, of_space=of_space)]


def _compared(layers: Layers, preset: str, *, of_space: bool) -> list[Difference]:
    return differences(layers.policy, candidate(layers, preset, of_space=of_space))


def candidate(layers: Layers, preset: str, *, of_space: bool = True) -> Policy:
    """What the policy would be with this preset applied: changes by hand taken back, most."""
    own = layers.own if of_space else layers.tenant
    kept = house_rules(own.overrides if own else {})
    return _applied(layers, preset, of_space=of_space, overrides=kept)


def _change(each: Difference) -> Change:
    switch = switch_of(each.name)
    assert switch is not None  # differences are of switches
    return Change(switch, worded(each.before) or _("nothing"), worded(each.after) or _("nothing"))


def _applied(
    layers: Layers, preset: str, *, of_space: bool, overrides: Mapping[str, Any]
) -> Policy:
    if not of_space:
        return composed(preset, overrides)
    tenant = layers.tenant
    return composed(_preset_of(tenant), tenant.overrides if tenant else {}, preset, overrides)


def base_of(layers: Layers, *, of_space: bool) -> Policy:
    """The policy without what was changed here by hand."""
    own = layers.own if of_space else layers.tenant
    preset = own.preset if own else "" if of_space else DEFAULT
    return _applied(layers, preset, of_space=of_space, overrides={})


def read_form(
    form: Any, base: Policy, kept: Mapping[str, Any]
) -> dict[str, str | list[str] | None]:
    """The overrides that a posted form asks for: switches whose value is not the base's.

    `form` is a QueryDict. Switches that the form leaves out stay as they are (`kept`).
    """
    found: dict[str, Any] = {}
    for name in NAMES:
        if name not in form:
            found |= {name: kept[name]} if name in kept else {}
            continue
        text = _given(form, name)
        if not _same(text, as_text(policy_value(base, name))):
            found[name] = _value(name, text)
    return found


def given_texts(form: Any) -> dict[str, str]:
    return {name: _given(form, name) for name in NAMES if name in form}


def _given(form: Any, name: str) -> str:
    """The field's text; boxes of a list are joined (an empty one marks that they were shown)."""
    return ",".join(part.strip() for part in form.getlist(name) if part.strip())


def _same(text: str, base: str) -> bool:
    if text == base:
        return True
    try:
        return float(text) == float(base)
    except ValueError:
        return False


def _value(name: str, text: str) -> Any:
    switch = SWITCHES.get(name)
    if switch is None:
        return text
    if switch.kind == "list":
        return text.split(",") if text else []
    if not text and switch.nullable:
        return None
    return text


def steps(overrides: Mapping[str, Any]) -> Sequence[tuple[str, str]]:
    """(switch, value) of what a version changed, as words."""
    return list(_worded(overrides))


def _worded(overrides: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for name, value in overrides.items():
        yield name, worded(value) or _("nothing")


def unchanged(own: Mapping[str, Any], asked: Mapping[str, Any]) -> bool:
    """Whether what a form asks for is what was said already."""
    before, after = ({n: as_text(v) for n, v in each.items()} for each in (own, asked))
    return before.keys() == after.keys() and all(_same(after[n], before[n]) for n in after)
