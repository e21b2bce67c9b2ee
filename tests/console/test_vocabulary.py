"""Words that tables of the program hold in English: gathered, and translated where shown."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings
from django.utils import translation

from memoryhub.console.frame.text.reasons import REASONS, translate_reason
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


def list_written_reasons() -> Iterator[str]:
    """What the rules of claims give as a reason, where it is written out."""
    root = Path(settings.BASE_DIR)
    for file in (
        *sorted((root / "notes/facts").glob("*.py")),
        *sorted((root / "memoryhub/pipeline/steps/derive").glob("*.py")),
    ):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name)):
                continue
            if node.func.id == "ClaimDecision" and isinstance(node.args[1], ast.Constant):
                yield str(node.args[1].value)


def test_every_reason_of_a_decision_is_said_in_the_readers_language() -> None:
    written = set(list_written_reasons())
    assert len(written) > 25
    assert written - set(REASONS) == set()


@pytest.mark.parametrize(
    ("kept", "said"),
    [
        ("the speaker corrected it", "说话人作了更正"),
        ("of high risk: no longer so", "高风险：不再如此"),
        ("says more of the same (a model said so)", "对同一内容说得更多（a model said so）"),
        ("faded by the curve, mode sampled", "按曲线淡忘（sampled）"),
        (
            "may contradict what is held (93 % about the same, 91 % that it ends it; for it: now; "
            "against it: also)",
            "可能与已有记录矛盾（93 % 确定说的是同一件事，91 % 确定新的结束旧的；"
            "支持的话：“now”；反对的话：“also”）",
        ),
        ("100% of what Ana wrote", "100% of what Ana wrote"),
        ("", ""),
    ],
)
def test_a_reason_that_rows_keep_is_translated_where_it_is_the_programs(
    kept: str, said: str
) -> None:
    with translation.override("zh-hans"):
        assert translate_reason(kept) == said
    with translation.override("en"):
        assert translate_reason("of high risk: no longer so") == "high risk: no longer so"
