"""Wishes to forget however they are put, and what only sounds like one (spec E20, AA7)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from memoryhub.engines.local.attribution.passed_on import mask_passed_on
from memoryhub.engines.local.grammar import speech
from memoryhub.engines.local.grammar.speech import (
    extract_wish,
    extract_wish_words,
    find_forget_wish,
    may_ask_to_forget,
)
from tests.engines.local import wishes_to_forget as said
from tests.engines.local.test_local_statements import tell_texts


def count(texts: Sequence[str], asks: Callable[[str], object]) -> float:
    return sum(bool(asks(text)) for text in texts) / len(texts)


def may_ask(text: str) -> bool:
    """As where a model has found a wish in a person's own words."""
    return may_ask_to_forget(mask_passed_on(text))


@pytest.mark.parametrize("wishes", [said.ENGLISH_WISHES, said.CHINESE_WISHES])
def test_a_wish_that_a_model_found_is_heard_in_its_words(wishes: Sequence[str]) -> None:
    assert [text for text in wishes if not may_ask(text)] == []


@pytest.mark.parametrize("wishes", [said.ENGLISH_WISHES, said.CHINESE_WISHES])
def test_rules_alone_find_nearly_every_wish(wishes: Sequence[str]) -> None:
    assert count(wishes, find_forget_wish) >= 0.95


@pytest.mark.parametrize("others", [said.ENGLISH_OTHERS, said.CHINESE_OTHERS])
def test_talk_of_forgetting_and_deleting_is_no_wish(others: Sequence[str]) -> None:
    """The few that are left quote one, and wait for a person."""
    found = [text for text in others if find_forget_wish(text)]
    assert len(found) <= 2
    assert not any(may_ask(text) for text in found)


@pytest.mark.parametrize(
    "text",
    [
        "wipe the poker nights, my wife uses this tablet",
        "Strike my tribunal from your records, would you.",
        "lose the trouble with the neighbour's hedge please, he reads over my shoulder",
        "dont be keeping anything about my blood pressure",
        "Don't remember that.",
        "My overdraft is nobody's affair. Take that out please.",
        "我跟同事吵架那段抹了吧，怪丢人的",
        "贷款的事从你那儿清出去",
        "她住院那茬儿你给我划掉",
    ],
)
def test_a_wish_in_words_that_no_rule_knows_is_heard(text: str) -> None:
    assert find_forget_wish(text)


@pytest.mark.parametrize(
    "text",
    [
        "leave my age out of the advert and delete the second line",
        "I'm trying to get rid of the damp in my flat",
        "scrap the intro and start with the flood",
        "dont tell gf bout offer. pro con list",  # no word of it tells that it is English
        "这首诗最后两句扔了重来，不押韵",
        "支付宝的账单能删吗，我怕老婆看见",
        "我爷爷自己名字都忘了",
    ],
)
def test_what_is_done_to_texts_and_things_is_no_wish(text: str) -> None:
    assert not find_forget_wish(text)


def test_a_long_message_is_a_wish_by_its_sentence_alone() -> None:
    text = (
        "the landlord came round about the boiler on Monday. also please wipe the poker nights, my"
        " wife uses this tablet. rent goes up in June"
    )
    assert find_forget_wish(text).startswith("also please wipe the poker nights")


def test_a_wish_that_only_says_it_is_read_with_what_was_said_before() -> None:
    assert extract_wish("My debts are nobody's affair. Please forget that.").startswith("My debts")
    assert extract_wish("Rain again. Please forget what I said about my knee.").startswith("Please")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            "hmm actually scrub the number for my gate, shouldnt have typed it",
            "the number for my gate",
        ),
        ("listen, that cash business w my family, can u lose it", "that cash my family"),
        ("Take out what we owe for hay, it's paid.", "what we owe for hay"),
        ("I want the pills I took for the exam gone from here", "the pills I took for the exam"),
        ("how much I made should not be on file", "how much I made"),
        (
            "One more thing, what I owed next door was private. Please don't keep that.",
            "what I owed next door was . that",
        ),
        ("唉，缝针那茬你给我从脑子里删掉，就当没这回事", "缝针"),
        ("想了想，我官司上那点事情，你还是不要留底了，家里人会看手机", "我官司上"),
        ("哦对小满的事别记了，她知道就完了，我说脸红那个你就当没听过", "小满，脸红"),
        ("我想换单位，院长知道不得了，你这里先撤掉", "我想换单位"),
        ("老乡跟我借钱的事，一句也不要留", "老乡跟我借钱"),
        ("酒吧里那回，快帮我删掉", "酒吧里"),
        ("上次我心情那个事,吃药的那个,你还有记录吗?有就删掉", "吃药"),
        ("催债的那些平台 你给我甩脱 不要记到", "催债的平台"),
    ],
)
def test_what_a_wish_says_of_the_thing_is_found_among_its_words(text: str, words: str) -> None:
    assert extract_wish_words(text) == words


def test_a_long_message_is_not_weighed_sentence_by_sentence(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    weighed: list[str] = []

    def weigh(text: str, language: str) -> bool:
        weighed.append(text)
        return False

    monkeypatch.setattr(speech, "is_likely_wish", weigh)
    find_forget_wish(" ".join(f"Drop box {n} at the depot." for n in range(60)))
    assert 0 < len(weighed) <= 8
    weighed.clear()
    find_forget_wish(" ".join(f"Drop box {n} at the depot." for n in range(600)))
    assert weighed == []


def test_what_a_wish_names_before_it_and_what_is_to_stay_are_no_facts() -> None:
    told = tell_texts(
        "thing is, that money business with my brother, can you lose it, he'd be mortified."
        " the choir bit can stay. I start at Elm Road on Monday"
    )
    assert told == ["user-31 starts at Elm Road on Monday."]
