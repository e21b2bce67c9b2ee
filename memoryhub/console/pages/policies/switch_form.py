"""A policy as a page shows it: switches by group with where their values come from. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from memoryhub.console.frame.text.purpose_words import PURPOSE_TITLES
from memoryhub.policies.compose import (
    PolicyDifference,
    compose_policy,
    compute_differences,
    select_house_rules,
)
from memoryhub.policies.presets import DEFAULT_PRESET, PRESETS, Preset
from memoryhub.policies.reference import format_switch_value
from memoryhub.policies.schema import Policy
from memoryhub.policies.services import PolicyLayers
from memoryhub.policies.switches import (
    GROUP_TITLES,
    PROMPT,
    PURPOSE_SWITCHES,
    SWITCHES,
    Switch,
    find_switch,
    get_family,
)
from memoryhub.policies.switches import get_switch_value as policy_value

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise

SWITCH_TITLES: Mapping[str, StrOrPromise] = {
    "llm.budget_tokens_per_day": gettext_lazy("Tokens per day"),
    "llm.budget_money_per_day": gettext_lazy("Cost per day"),
    "retention.max_age_days": gettext_lazy("Days memories are kept"),
    "retention.turn_days": gettext_lazy("Days messages are kept"),
    "retention.recall_days": gettext_lazy("Days recalls are kept"),
    "retention.request_days": gettext_lazy("Days requests are kept"),
    "retention.delivery_days": gettext_lazy("Days webhook events are kept"),
    "retention.call_days": gettext_lazy("Days model calls are kept"),
    "retention.job_days": gettext_lazy("Days jobs are kept"),
    "retention.answer_days": gettext_lazy("Days idempotent responses are kept"),
    "retention.import_days": gettext_lazy("Days import reports are kept"),
    "retention.audit_days": gettext_lazy("Days the list of changes is kept"),
    "retention.receipt_days": gettext_lazy("Days receipts are kept"),
}
# Without days of the tenant's own these end as the hub ends them.
_HUB_KEEPS = {
    f"retention.{name}" for name in ("recall_days", "request_days", "delivery_days", "receipt_days")
}
SWITCH_NAMES = (*SWITCHES, *PURPOSE_SWITCHES)
# By switch: the prompts to choose from, each with its difference to the packaged one.
OwnPrompts = Mapping[str, Mapping[str, str]]


@dataclass(frozen=True, slots=True)
class SwitchRow:
    """A switch with its value as a form holds it. `source`: default, preset, tenant or space.
    `is_typed`: the value is one that was sent and refused, and not the one in force."""

    switch: Switch
    text: str
    words: str
    source: str
    error: str = ""
    is_typed: bool = False
    differences: Mapping[str, str] = field(default_factory=dict)

    @property
    def chosen_values(self) -> list[str]:
        return self.text.split(",")

    @property
    def step(self) -> str:
        return "1" if self.switch.kind == "int" else "any"

    @property
    def label(self) -> str:
        return self.switch.name.partition(".")[2]

    @property
    def empty_words(self) -> str:
        """What an empty field says."""
        if self.switch.name in _HUB_KEEPS:
            return _("hub default")
        return _("no limit") if self.switch.name in SWITCH_TITLES else _("nothing")

    @property
    def title(self) -> StrOrPromise:
        """In plain words, where a page of settings shows it by itself; else its name."""
        purpose = self.switch.name.rpartition(".")[2]
        told = PURPOSE_TITLES.get(purpose) if get_family(self.switch.name) else None
        return told or SWITCH_TITLES.get(self.switch.name) or self.switch.name


@dataclass(frozen=True, slots=True)
class SwitchGroup:
    """`changed`: how many of its switches were changed by hand."""

    name: str
    title: str
    rows: list[SwitchRow]

    @property
    def changed_count(self) -> int:
        return sum(row.source in ("tenant", "space") for row in self.rows)

    @property
    def is_open(self) -> bool:
        return any(row.error or row.is_typed for row in self.rows)


@dataclass(frozen=True, slots=True)
class PresetChange:
    """A line of the table shown before a preset is applied."""

    switch: Switch
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class PresetOption:
    """A preset to choose. `changes`: how many switches it would change."""

    preset: Preset
    changes: int
    in_force: bool


def build_switch_groups(
    layers: PolicyLayers,
    given: Mapping[str, str] | None = None,
    wrong: Mapping[str, str] | None = None,
    prompts: OwnPrompts | None = None,
) -> list[SwitchGroup]:
    """All switches. `given` are values of a form that was refused, `wrong` why, by switch."""
    made = (_build_switch_row(name, layers, given or {}, wrong or {}) for name in SWITCH_NAMES)
    rows = [row for each in made if (row := _add_prompt_choices(each, prompts or {}))]
    return [
        SwitchGroup(group, title, [row for row in rows if row.switch.group == group])
        for group, title in GROUP_TITLES.items()
    ]


def build_switch_rows(layers: PolicyLayers, names: Sequence[str]) -> list[SwitchRow]:
    """These switches, for a page that sets them alone."""
    return [_build_switch_row(name, layers, {}, {}) for name in names]


def _add_prompt_choices(row: SwitchRow, prompts: OwnPrompts) -> SwitchRow | None:
    """A choice of a purpose's prompts; None where there is nothing to choose and nothing chosen."""
    if get_family(row.switch.name) != PROMPT:
        return row
    found = prompts.get(row.switch.name, {})
    names = tuple(dict.fromkeys(["", *found, row.text]))
    if names == ("",):
        return None
    return replace(row, switch=replace(row.switch, kind="choice", choices=names), differences=found)


def _build_switch_row(
    name: str, layers: PolicyLayers, given: Mapping[str, str], wrong: Mapping[str, str]
) -> SwitchRow:
    switch = find_switch(name)
    assert switch is not None  # NAMES holds switches only
    value = policy_value(layers.policy, name)
    in_force = format_form_value(value)
    text = given.get(name, in_force)
    return SwitchRow(
        switch,
        text,
        format_value(value),
        _find_value_source(name, value, layers),
        wrong.get(name, ""),
        is_typed=not _is_same_value(text, in_force),
    )


def _find_value_source(name: str, value: Any, layers: PolicyLayers) -> str:
    if layers.own and name in layers.own.overrides:
        return "space"
    told = layers.tenant.overrides if layers.tenant else {}
    if name in told and told[name] == value:
        return "tenant"
    default = SWITCHES[name].default if name in SWITCHES else ""
    return "default" if value == default else "preset"


def format_value(value: Any) -> str:
    """A value as a page says it."""
    said = format_switch_value(value)
    return _(said) if value is None or isinstance(value, bool) else said


def format_form_value(value: Any) -> str:
    """A value as its field of the form holds it."""
    if value is None:
        return ""
    return ",".join(value) if isinstance(value, list) else format_switch_value(value)


def list_preset_options(layers: PolicyLayers, *, of_space: bool) -> list[PresetOption]:
    """Presets with how much each would change. A space may also follow its tenant ("")."""
    tenant_preset = layers.tenant.preset if layers.tenant else DEFAULT_PRESET
    chosen, followed = tenant_preset, []
    if of_space:
        chosen = layers.own.preset if layers.own else ""
        said = _("Follows the tenant, whose preset is %(name)s.") % {"name": tenant_preset}
        followed = [Preset("", _("Tenant setting"), said)]
    return [
        PresetOption(
            preset, len(_diff_preset(layers, preset.name, of_space=of_space)), preset.name == chosen
        )
        for preset in (*followed, *PRESETS.values())
    ]


def list_preset_changes(layers: PolicyLayers, preset: str, *, of_space: bool) -> list[PresetChange]:
    """What applying the preset would change: changes by hand are taken back, most of them."""
    found = []
    for each in _diff_preset(layers, preset, of_space=of_space):
        switch = find_switch(each.name)
        assert switch is not None  # differences are of switches
        before, after = (format_value(v) or _("nothing") for v in (each.before, each.after))
        found.append(PresetChange(switch, before, after))
    return found


def _diff_preset(layers: PolicyLayers, preset: str, *, of_space: bool) -> list[PolicyDifference]:
    return compute_differences(layers.policy, compose_candidate(layers, preset, of_space=of_space))


def compose_candidate(layers: PolicyLayers, preset: str, *, of_space: bool = True) -> Policy:
    """What the policy would be with this preset applied: changes by hand taken back, most."""
    own = layers.own if of_space else layers.tenant
    kept = select_house_rules(own.overrides if own else {})
    return _apply_preset(layers, preset, of_space=of_space, overrides=kept)


def _apply_preset(
    layers: PolicyLayers, preset: str, *, of_space: bool, overrides: Mapping[str, Any]
) -> Policy:
    if not of_space:
        return compose_policy(preset, overrides)
    tenant = layers.tenant
    below, changed = (tenant.preset, tenant.overrides) if tenant else (DEFAULT_PRESET, {})
    return compose_policy(below, changed, preset, overrides)


def compose_base(layers: PolicyLayers, *, of_space: bool) -> Policy:
    """The policy without what was changed here by hand."""
    own = layers.own if of_space else layers.tenant
    preset = own.preset if own else "" if of_space else DEFAULT_PRESET
    return _apply_preset(layers, preset, of_space=of_space, overrides={})


def read_overrides(
    form: Any, base: Policy, kept: Mapping[str, Any]
) -> dict[str, str | list[str] | None]:
    """The overrides that a posted form asks for: switches whose value is not the base's.

    `form` is a QueryDict. Switches that the form leaves out stay as they are (`kept`).
    """
    found: dict[str, Any] = {}
    for name in SWITCH_NAMES:
        if name not in form:
            found |= {name: kept[name]} if name in kept else {}
            continue
        text = _read_switch_text(form, name)
        if not _is_same_value(text, format_form_value(policy_value(base, name))):
            found[name] = _parse_switch_value(name, text)
    return found


def read_switch_texts(form: Any) -> dict[str, str]:
    return {name: _read_switch_text(form, name) for name in SWITCH_NAMES if name in form}


def read_typed_texts(form: Any, seen: PolicyLayers) -> dict[str, str]:
    """Of a form that was made from `seen`, the fields that somebody has changed."""
    policy = seen.policy
    return {
        name: text
        for name, text in read_switch_texts(form).items()
        if not _is_same_value(text, format_form_value(policy_value(policy, name)))
    }


def _read_switch_text(form: Any, name: str) -> str:
    """The field's text; boxes of a list are joined (an empty one marks that they were shown)."""
    return ",".join(part.strip() for part in form.getlist(name) if part.strip())


def _is_same_value(text: str, base: str) -> bool:
    if text == base:
        return True
    try:
        return float(text) == float(base)
    except ValueError:
        return False


def _parse_switch_value(name: str, text: str) -> Any:
    switch = SWITCHES.get(name)
    if switch is None:
        return text
    if switch.kind == "list":
        return text.split(",") if text else []
    if not text and switch.nullable:
        return None
    return text


def format_overrides(overrides: Mapping[str, Any]) -> Sequence[tuple[str, str]]:
    """(switch, value) of what a version changed, as words."""
    return [(name, format_value(value) or _("nothing")) for name, value in overrides.items()]


def is_unchanged(own: Mapping[str, Any], asked: Mapping[str, Any]) -> bool:
    """Whether what a form asks for is what was said already."""
    before, after = ({n: format_form_value(v) for n, v in each.items()} for each in (own, asked))
    return before.keys() == after.keys() and all(_is_same_value(after[n], before[n]) for n in after)
