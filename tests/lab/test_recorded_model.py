"""What the hub makes of right answers: dialogues read by a careful model, recorded.

The replies are keyed by purpose and message; prompts, handles, the JSON ladder and every guard are
the real ones, and so are the vectors that find what is known.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from memoryhub.engines import registry
from memoryhub.lab.truth.dialogues import TruthChange, TruthDialogue, load_dialogues
from memoryhub.lab.truth.measure import TruthScore, measure_dialogue
from memoryhub.lab.truth.recorded import RecordedModel
from memoryhub.lab.truth.run import tell_dialogue
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope
from notes.models import Proposal
from tests.support.hub import EMPTY_REPLIES, ScriptedHub

DIALOGUES = Path(__file__).parents[2] / "benchmarks" / "truth"
AUTHORS = {"en": ("en-a", "en-b"), "zh": ("zh-c", "zh-d")}
# At least so much of what was asked, whichever author and whatever the trust; what is not 1.00 is
# told on the page (docs/reference/truth.md).
BARS = {
    **dict.fromkeys(("settled", "kept", "current", "asserted"), 1.0),
    **dict.fromkeys(("forgotten", "erased", "spared", "as_of"), 1.0),
    "closed": 0.95,
}
# Where facts are asked for without what is known, and judged by a call of their own: a claim that
# is put together of what nobody has said yet is not believed, and so not held.
BARS_APART = {
    **BARS,
    "current": 0.97,
    "as_of": 0.95,
}
# Of an author nobody has read more waits for a person, and three of 137 came near nothing.
BARS_APART_UNREAD = BARS_APART | {"settled": 0.97, "closed": 0.9, "as_of": 0.9, "erased": 0.8}
GET_EMBEDDER = registry.get_embedder


@pytest.fixture
def recorded(hub: ScriptedHub, monkeypatch: pytest.MonkeyPatch) -> ScriptedHub:
    monkeypatch.setattr(registry, "get_embedder", GET_EMBEDDER)
    return hub


def allow_recorded(hub: ScriptedHub, dialogues: Iterable[TruthDialogue]) -> None:
    model = RecordedModel(dialogues)

    def answer(purpose: str) -> Callable[[dict[str, Any]], Any]:
        return lambda data: model.reply(purpose, data)

    hub.model.allow(
        **{purpose: answer(purpose) for purpose in ("construct", "extract_facts", "resolve")}
    )
    hub.model.allow(*EMPTY_REPLIES.keys() - {"resolve"})


def tell_recorded(hub: ScriptedHub, author: str, preset: str, trust: str) -> TruthScore:
    """All dialogues of an author told and measured. What is read and decided; nothing that is made
    of it later, and no notes of exchanges, of which nothing is asked."""
    dialogues = load_dialogues(DIALOGUES / author)
    allow_recorded(hub, dialogues)
    hub.set_policy(
        preset,
        judge__trust=trust,
        notes__enabled=False,
        segments__enabled=False,
        chain__enabled=False,
        episodes__topic=False,
        episodes__day=False,
        episodes__rolling=False,
        traits__enabled=False,
    )
    score = TruthScore()
    for dialogue in dialogues:
        space, now = tell_dialogue(hub.tenant, dialogue)
        found = measure_dialogue(space, dialogue, now)
        score.add(found)
        assert found.rate("forgotten") == 1 or is_wish_before_person(space), dialogue.id
    return score


def is_wish_before_person(space: Space) -> bool:
    with tenant_scope(space.tenant_id):
        waiting = Proposal.objects.filter(space=space, kind="erase", state=Proposal.State.OPEN)
        return waiting.exists()


def check_bars(score: TruthScore, bars: Mapping[str, float], name: str) -> None:
    rates = {check: f"{score.rate(check):.3f} of {score.asked[check]}" for check in score.asked}
    print(name, rates)
    told = "\n".join([str(rates), *score.failures])
    for check, bar in bars.items():
        assert score.asked[check], check
        assert score.rate(check) >= bar, f"{check} {score.rate(check):.3f}\n{told}"


@pytest.mark.parametrize("author", ["en-a", "en-b", "zh-c", "zh-d"])
def test_what_a_careful_model_says_is_carried_out(recorded: ScriptedHub, author: str) -> None:
    score = tell_recorded(recorded, author, "balanced", "guarded")
    check_bars(score, BARS, f"balanced guarded {author}")


@pytest.mark.parametrize("author", ["en-b", "zh-d"])
def test_a_careful_model_that_is_trusted_is_believed_no_less(
    recorded: ScriptedHub, author: str
) -> None:
    score = tell_recorded(recorded, author, "balanced", "trusted")
    check_bars(score, BARS, f"balanced trusted {author}")


@pytest.mark.parametrize(
    ("preset", "author", "trust"),
    [
        ("mem0", "en-a", "guarded"),
        ("mem0", "en-b", "guarded"),
        ("mem0", "zh-c", "trusted"),
        ("mem0", "zh-d", "guarded"),
        ("ama", "en-a", "guarded"),
    ],
)
def test_what_a_careful_model_says_in_separate_calls_is_carried_out(
    recorded: ScriptedHub, preset: str, author: str, trust: str
) -> None:
    score = tell_recorded(recorded, author, preset, trust)
    bars = BARS_APART_UNREAD if author == "en-b" else BARS_APART
    check_bars(score, bars, f"{preset} {trust} {author}")


# What is told in them.


@pytest.mark.parametrize(("language", "count"), [("en", 40), ("zh", 20)])
def test_the_dialogues_are_there(language: str, count: int) -> None:
    found = load_recorded(language)
    assert len({dialogue.id for dialogue in found}) == len(found) == count
    assert {dialogue.language for dialogue in found} == {language}
    for dialogue in found:
        assert dialogue.current, dialogue.id
        assert dialogue.past, dialogue.id
        told = {turn.ref: turn.text for turn in dialogue.turns}
        assert all(change.quote in told[change.ref] for change in list_changes([dialogue]))


# In the Chinese ones whoever takes something back also says what is right.
@pytest.mark.parametrize(("language", "untold"), [("en", set()), ("zh", {"taken back"})])
def test_all_kinds_of_update_are_told(language: str, untold: set[str]) -> None:
    found = load_recorded(language)
    counted = Counter(kind for dialogue in found for kind in list_update_kinds(dialogue))
    assert set(counted) == set(UPDATE_KINDS) - untold
    unsaid = {said.kind for dialogue in found for said in dialogue.not_asserted}
    assert unsaid >= {
        *("joke", "quotation", "hypothetical", "wish", "plan", "other_person", "assistant")
    }


UPDATE_KINDS = (
    *("add", "same", "refine", "replace", "end", "wrong", "forget"),
    *("told as past", "told with its day", "plan", "plan changed", "plan over"),
    *("several at once", "over, and said how", "taken back, and put right", "taken back"),
    *("of somebody else", "said by another", "by who has no name"),
)


def load_recorded(language: str) -> list[TruthDialogue]:
    return [each for author in AUTHORS[language] for each in load_dialogues(DIALOGUES / author)]


def list_changes(dialogues: Iterable[TruthDialogue]) -> list[TruthChange]:
    return [each for found in dialogues for told in found.changes.values() for each in told]


def list_update_kinds(dialogue: TruthDialogue) -> Iterator[str]:
    """Once for every change that is of the kind."""
    claims, spoken = dialogue.claims, {turn.ref: turn.speaker for turn in dialogue.turns}
    first = next(turn.speaker for turn in dialogue.turns if turn.role == "user")
    for change in list_changes([dialogue]):
        planned = any(claims[target].state == "planned" for target in change.targets)
        is_of = {
            change.do: True,
            "told as past": change.state == "past",
            "told with its day": len(change.first) == len("2025-01-31"),
            "plan": change.state == "planned",
            "plan changed": planned and change.do == "replace" and change.state == "planned",
            "plan over": planned and change.do == "end",
            "several at once": len(change.targets) > 1,
            "over, and said how": change.do == "end" and bool(change.text),
            "taken back, and put right": change.do == "wrong" and bool(change.text),
            "taken back": change.do == "wrong" and not change.text,
            "of somebody else": bool(change.owner) and change.owner not in (first, dialogue.name),
            "said by another": spoken[change.ref] != first,
            "by who has no name": not dialogue.name,
        }
        yield from (kind for kind, is_it in is_of.items() if is_it)
