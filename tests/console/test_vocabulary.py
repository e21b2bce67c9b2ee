"""Words that tables of the program hold in English: gathered, and translated where shown."""

from __future__ import annotations

import pytest
from django.utils import translation

from memoryhub.console.frame.text.trait_levels import describe_level
from memoryhub.management.commands.messages import gather_messages
from memoryhub.policies.presets import PRESETS
from memoryhub.policies.switches import SWITCHES
from personas.dimensions import DIMENSIONS


def test_words_of_tables_are_gathered_for_translation() -> None:
    gathered = {(message.context, message.id) for message in gather_messages()}
    assert {(None, switch.help) for switch in SWITCHES.values()} <= gathered
    assert {(None, preset.summary) for preset in PRESETS.values()} <= gathered
    assert {("trait", dimension.label) for dimension in DIMENSIONS.values()} <= gathered


@pytest.mark.parametrize("level", ["high", "medium", "low"])
def test_a_trait_is_said_as_the_registry_has_it(level: str) -> None:
    for dimension in DIMENSIONS.values():
        assert describe_level(dimension, level) == dimension.describe_level(level)


def test_a_trait_is_said_in_the_readers_language() -> None:
    with translation.override("zh-hans"):
        assert describe_level(DIMENSIONS["extraversion"], "high") == "外向"
        assert describe_level(DIMENSIONS["extraversion"], "medium").startswith("介于")
