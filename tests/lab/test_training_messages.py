"""What is learned of messages in whole: which claim held each most likely ends."""

from __future__ import annotations

import json
from collections.abc import Sequence
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from memoryhub.engines.local import LocalEngine
from memoryhub.engines.local.comparison import messages
from memoryhub.engines.local.comparison.messages import MessageDecider
from memoryhub.lab.training.changes import Life, LifeMessage
from memoryhub.lab.training.message_ends import train_message_decider
from tests.support.embedders import BagOfWords

PLACES = ("Ghent", "Hull", "Cork", "Lyon", "Turin", "Graz")
TRADES = ("bakery", "kennel", "library", "garage", "dairy", "brewery")


def tell(said: str, *claims: str, ends: Sequence[int] = ()) -> LifeMessage:
    return LifeMessage("", said, claims, frozenset(ends))


def make_life(name: str, at: int, language: str = "en") -> Life:
    old, new = TRADES[at % 6], TRADES[(at + 1) % 6]
    return Life(
        name,
        language,
        [
            tell(
                f"I work at a {old} and live in {PLACES[at % 6]}.",
                f"{name} works at a {old}.",
                f"{name} lives in {PLACES[at % 6]}.",
            ),
            tell("I have a whippet called Moss.", f"{name} has a whippet called Moss."),
            tell(
                f"I left the {old}, I work at a {new} now.", f"{name} works at a {new}.", ends=[0]
            ),
            tell("I like long walks.", f"{name} likes long walks."),
            tell("We buried Moss under the maple.", ends=[2]),
        ],
    )


def write_life(life: Life) -> str:
    told = [{**each._asdict(), "ends": sorted(each.ends)} for each in life.told]
    return json.dumps({"name": life.name, "language": life.language, "told": told})


@pytest.fixture(scope="module")
def decider() -> MessageDecider:
    lives = {
        author: [make_life(name, at) for at, name in enumerate(names)]
        for author, names in (("en-1", ("Noor", "Pim", "Ida")), ("en-2", ("Jo", "Lev", "Una")))
    }
    return train_message_decider(lives, LocalEngine(), BagOfWords())


def test_each_message_stands_beside_what_holds_then(decider: MessageDecider) -> None:
    # Of each life a job and a dog are over, and neither is held any more after that.
    assert 12 <= decider.scores["over"] <= 18  # of a job the trade is a claim too
    assert decider.scores["over"] < decider.scores["pairs"]
    assert set(decider.features) >= {"odds", "lead", "chance", "says_now"}
    assert 0 < decider.ask <= 1


def test_what_learned_tells_what_is_over_from_what_stays(decider: MessageDecider) -> None:
    plain = dict.fromkeys(decider.features, 0.0)
    over = plain | {"odds": 5.0, "lead": 8.0, "chance": 3.0, "chance_able": 3.0, "able": 1.0}
    stays = plain | {"odds": -5.0, "lead": -8.0, "chance": -4.0, "chance_able": -4.0}
    ends, holds = decider.judge_rows([over, stays])
    assert ends > holds


def test_the_command_writes_what_the_hub_reads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memoryhub.lab.management.commands.lab.get_current_embedder", BagOfWords)
    for author in ("en-1", "en-2"):
        (tmp_path / author).mkdir()
        told = "\n".join(write_life(make_life(name, n)) for n, name in enumerate(("Noor", "Pim")))
        (tmp_path / author / "01.jsonl").write_text(told, encoding="utf-8")
    out, target = StringIO(), tmp_path / "made.json"
    call_command(
        *("lab", "train-messages", tmp_path, "--only", "en-1,en-2", "--out", target), stdout=out
    )
    monkeypatch.setattr(messages, "DECIDERS_PATH", target)
    messages.get_message_deciders.cache_clear()
    try:
        assert set(messages.get_message_deciders()) == {"en"}
    finally:
        messages.get_message_deciders.cache_clear()
    assert "asked_worth" in out.getvalue()


def test_where_nothing_ends_nothing_is_learned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memoryhub.lab.management.commands.lab.get_current_embedder", BagOfWords)
    (tmp_path / "en-1").mkdir()
    quiet = Life("Noor", "en", [tell("I work at a dairy.", "Noor works at a dairy.")])
    (tmp_path / "en-1" / "01.jsonl").write_text(write_life(quiet), encoding="utf-8")
    with pytest.raises(CommandError, match="nothing there ends anything"):
        call_command("lab", "train-messages", tmp_path, "--only", "en-1", "--out", tmp_path / "x")
