"""The page about policies says what the code does."""

from __future__ import annotations

from memoryhub.policies.presets import PRESETS
from memoryhub.policies.reference import render_reference
from memoryhub.policies.switches import GROUP_TITLES, SWITCHES
from tests.docs.pages import ROOT


def test_the_reference_is_the_code_s() -> None:
    page = (ROOT / "docs/reference/policies.md").read_text()
    assert page == render_reference(), (
        "run python -m memoryhub.policies.reference > docs/reference/..."
    )


def test_every_switch_says_what_it_does_and_has_a_group() -> None:
    assert [name for name, switch in SWITCHES.items() if len(switch.help) < 15] == []
    assert list(dict.fromkeys(switch.group for switch in SWITCHES.values())) == list(GROUP_TITLES)


def test_the_how_to_names_every_preset() -> None:
    page = (ROOT / "docs/how-to/choose-a-preset.md").read_text()
    assert [name for name in PRESETS if f"| `{name}` |" not in page] == []
