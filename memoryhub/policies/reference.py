"""The reference of all switches and presets, as docs/reference/policies.md holds it."""

from __future__ import annotations

import json
from typing import Any

from memoryhub.engines.llm.own_prompts import PURPOSES
from memoryhub.policies.presets import PRESETS, Preset
from memoryhub.policies.switches import GROUP_TITLES, MODEL, PROMPT, PROXY_PURPOSE, SWITCHES

_INTRODUCTION = """# Policies

Which systems of memory run, and with which parameters. A policy is a preset, what the tenant changed of it, and what a space changed on top; [Choose a preset](../how-to/choose-a-preset.md) says how. Every change is a new version, and every event in the history names the version it was made under.

This page is made from the code: `python -m memoryhub.policies.reference`.
"""  # noqa: E501  # a paragraph of a page is one line


def render_reference() -> str:
    parts = [_INTRODUCTION, "## Switches\n", *(_render_group(name) for name in GROUP_TITLES)]
    return "\n".join(
        [*parts, _render_purposes(), "## Presets\n", *map(_render_preset, PRESETS.values())]
    )


def _render_group(name: str) -> str:
    rows = "".join(
        f"| `{switch.name}` | {format_switch_value(switch.default)} | {switch.bounds} "
        f"| {switch.help} |\n"
        for switch in SWITCHES.values()
        if switch.group == name
    )
    head = "| Switch | Default | Allowed | |\n|---|---|---|---|\n"
    return f"### {GROUP_TITLES[name]}\n\n{head}{rows}"


def _render_purposes() -> str:
    names = ", ".join(f"`{purpose}`" for purpose in PURPOSES)
    return (
        f"`{MODEL}.<purpose>` names the model that is asked for a purpose, where it is not "
        f"to be the hub's, and `{PROMPT}.<purpose>` the operator's "
        "[own prompt](../how-to/use-your-own-prompts.md), where it is not to be the packaged one. "
        f"The purposes are {names}. `{MODEL}.{PROXY_PURPOSE}` names the model that "
        "[clients of OpenAI](../how-to/openai-clients.md) are given.\n"
    )


def _render_preset(preset: Preset) -> str:
    source = f" After {preset.paper}." if preset.paper else ""
    lines = [
        f"- `{name}`: {format_switch_value(value)}\n"
        for name, value in preset.overrides.items()
        if value != SWITCHES[name].default
    ]
    changes = "".join(lines) or "Every switch has its default.\n"
    return f"### {preset.name}\n\n{preset.summary}{source}\n\n{changes}"


def format_switch_value(value: Any) -> str:
    """A value in words: nothing for none, a list with commas."""
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, list):
        return ", ".join(value)
    if isinstance(value, float):
        return f"{value:.12g}"
    return value if isinstance(value, str) else json.dumps(value)


if __name__ == "__main__":
    print(render_reference(), end="")  # its output is the page
