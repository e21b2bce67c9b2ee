"""Words that tables of the program hold in English: gathered, and translated where shown."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings
from django.utils import translation

from memoryhub.console.frame.text.audit_words import (
    format_audit_detail,
    format_audit_subject,
    format_trigger,
)
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


# Where a reason stands among what a call is given, if it is not called so there.
REASON_PLACES = {
    "build_change_set": 1,
    "ChangeSet": 5,
    "write_episodes": 3,
    "BlockWriter": 5,
    "add_manual_change_set": 0,
}


def list_stored_reasons(file: Path) -> Iterator[str]:
    """The reasons that a module gives for its changes, written out there or under a name."""
    named: dict[str, list[ast.expr]] = defaultdict(list)
    given: list[ast.expr] = []
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Assign):
            for name, value in list_assignments(node):
                (given if name == "options['reason']" else named[name]).append(value)
        if isinstance(node, ast.Call):
            given += [word.value for word in node.keywords if word.arg == "reason"]
            place = REASON_PLACES.get(ast.unparse(node.func).rpartition(".")[2])
            if place is not None:
                given += node.args[place : place + 1]
    for value in given:
        yield from list_texts(value, named)


def list_assignments(node: ast.Assign) -> Iterator[tuple[str, ast.expr]]:
    for target in node.targets:
        if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
            yield from zip(map(ast.unparse, target.elts), node.value.elts, strict=True)
        else:
            yield ast.unparse(target), node.value


def list_texts(value: ast.expr, named: dict[str, list[ast.expr]]) -> Iterator[str]:
    """All that an expression may be, as far as it is written out."""
    if isinstance(value, ast.Constant) and isinstance(value.value, str):
        yield value.value
    if isinstance(value, ast.IfExp | ast.BoolOp):
        of = value.values if isinstance(value, ast.BoolOp) else [value.body, value.orelse]
        yield from (text for each in of for text in list_texts(each, named))
    if isinstance(value, ast.Name):
        # Taken out, so that a name that is made of itself ends.
        of = named.get(value.id, [])
        others = {name: values for name, values in named.items() if name != value.id}
        yield from (text for each in of for text in list_texts(each, others))
    if isinstance(value, ast.Call) and value.args:
        yield from list_texts(value.args[0], named)


def test_every_reason_of_a_change_is_said_in_the_readers_language() -> None:
    root = Path(settings.BASE_DIR)
    files = [f for part in ("memoryhub", "notes", "personas") for f in (root / part).rglob("*.py")]
    written = {reason for file in files for reason in list_stored_reasons(file) if reason}
    assert {"said in the dialogue", "golden question saved", "by hand"} <= written
    assert len(written) > 30
    with translation.override("zh-hans"):
        assert {reason for reason in written if translate_reason(reason) == reason} == set()


@pytest.mark.parametrize(
    ("kept", "said"),
    [
        ("Both speak of cat", "都提到cat"),
        (
            "linked with what it belongs to\n“Our cat”: Both speak of cat",
            "与相关内容建立了关联\n“Our cat”：都提到cat",
        ),
        ("took back: Manual (corrected)", "撤回：手动（更正）"),
        ("by a rule of ida: accepted", "按 ida 的规则：已接受"),
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
        (
            "may contradict what is held (91 % that its message ends it)",
            "可能与已有记录矛盾（91 % 确定整条消息结束了旧的）",
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


@pytest.mark.parametrize(
    ("kept", "said"),
    [
        ("read, write; all spaces", "读取、写入；所有空间"),
        ("as admin", "角色：管理员"),
        ("viewer before, now editor", "原为查看者，现为编辑者"),
        ("https://a.test, gpt, with a key", "https://a.test、gpt、带密钥"),
        ("corrected", "更正"),
        ("a typo", "a typo"),
        ("", ""),
    ],
)
def test_what_the_audit_tells_is_said_in_the_readers_language(kept: str, said: str) -> None:
    with translation.override("zh-hans"):
        assert format_audit_detail(kept) == said
    with translation.override("en"):
        assert format_audit_detail(kept) == kept


def test_what_sets_off_a_change_is_said_in_words() -> None:
    assert format_trigger("derive") == "Derive memories"
    assert format_trigger("policy: retention.max_age") == "by the policy: retention.max_age"
    assert format_trigger("of another version") == "of another version"
    with translation.override("zh-hans"):
        assert format_trigger("manual") == "手动"
        assert format_audit_subject("second factor") != "second factor"
        assert format_audit_subject("ida") == "ida"
