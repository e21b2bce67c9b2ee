"""Names: told in passing, and known from what is held."""

from __future__ import annotations

import pytest

from memoryhub.engines.local.attribution.own_names import find_introduced_name
from memoryhub.engines.types import Exchange, FactCandidate, Utterance
from tests.engines.local.dialogue import AT, ENGINE, make_utterances, read_fact_texts


def read_with_names(
    text: str, *names: str, speaker: str = "Ana", role: str = "user"
) -> tuple[FactCandidate, ...]:
    """The facts of what is said where these names are known."""
    said = make_utterances((speaker, text), role=role)  # type: ignore[arg-type]  # one of the roles
    exchange = Exchange(said, participants=(speaker,), subject=speaker, names=names)
    return ENGINE.extract_memories([exchange])[0].facts


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("My aunt Edda baked it.", "Edda is Ana's aunt."),
        ("lunch with my boss Mr Oduya", "Mr Oduya is Ana's boss."),
        ("Our dog Wuff again, sigh.", "Wuff is Ana's dog."),
        ("Met my old friend, Zora Hines, at the fair.", "Zora Hines is Ana's old friend."),
        ("Did I say that my cousin Anne-Lise called?", "Anne-Lise is Ana's cousin."),
        ("My dad Yusuf's shop closed.", "Yusuf is Ana's dad."),
    ],
)
def test_who_somebody_is_is_told_in_passing(text: str, told: str) -> None:
    found = {fact.text: fact for fact in read_with_names(text)}
    assert told in found
    name = told.partition(" is ")[0]
    span = found[told].sources[0]
    assert found[told].owner == name
    assert text[span.start : span.end].endswith(name)


@pytest.mark.parametrize(
    "text",
    [
        "I saw my doctor Tuesday.",
        "My sister, Monday or not, sleeps late.",
        "I love my kitchen Aid.",
        "My cousin lives in Rome.",
        "My partner and Zora met.",
    ],
)
def test_nobody_is_named_who_was_not(text: str) -> None:
    assert not [fact for fact in read_with_names(text) if fact.text.endswith("'s cousin.")]
    assert not [f for f in read_with_names(text) if " is Ana's " in f.text]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("Orla, my manager at the firm, signed it.", "Orla is Ana's manager."),
        ("Bram, my brother, came round.", "Bram is Ana's brother."),
        ("I was in town with Ingrid, my neighbour.", "Ingrid is Ana's neighbour."),
        ("my girlfriend Mhairi hates it", "Mhairi is Ana's girlfriend."),
    ],
)
def test_who_somebody_is_is_told_behind_the_name(text: str, told: str) -> None:
    found = {fact.text: fact for fact in read_with_names(text)}
    assert told in found
    name = told.partition(" is ")[0]
    span = found[told].sources[0]
    assert found[told].owner == name
    assert name in text[span.start : span.end]


@pytest.mark.parametrize(
    "text",
    [
        "I went with Bram, Ingrid, my boss and a dog.",
        "I left London, my brother in Leeds followed.",
        "On Monday, my manager, who is ill, rang.",
        "It rained, my neighbour said.",
    ],
)
def test_a_name_before_a_comma_need_not_be_whom_the_role_means(text: str) -> None:
    assert not [f for f in read_with_names(text) if " is Ana's " in f.text]


def test_an_assistants_word_introduces_nobody() -> None:
    assert read_with_names("Say hello to my colleague Vera!", role="assistant") == ()


def test_a_name_that_is_known_is_no_thing_of_the_speakers() -> None:
    (fact,) = read_with_names("Theo's at camp this week.", "Theo")
    assert (fact.owner, fact.text) == ("Theo", "Theo is at camp this week.")


def test_a_first_name_stands_for_the_name_that_is_known() -> None:
    (fact,) = read_with_names("Lucía plays the double bass.", "Lucía Ramos")
    assert fact.owner == "Lucía Ramos"


def test_a_chinese_name_that_is_known_is_no_thing_of_the_speakers() -> None:
    (fact,) = read_with_names("韩磊发了好多照片。", "韩磊", speaker="何苗")
    assert fact.owner == "韩磊"
    assert fact.text.startswith("韩磊发了")


def test_a_chinese_given_name_stands_for_the_whole() -> None:
    (fact,) = read_with_names("晓峰真的去杭州实习了。", "林晓峰", speaker="何苗")
    assert fact.owner == "林晓峰"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("我弟弟王强在读书。", "王强是何苗的弟弟。"),
        ("昨天和同事韩磊爬山去了。", "韩磊是何苗的同事。"),
        ("我养了一只橘猫，叫汤圆，今年三岁。", "汤圆是何苗的橘猫。"),
        ("家里有条金毛叫馍馍", "馍馍是何苗的金毛。"),
    ],
)
def test_who_somebody_is_is_told_in_passing_in_chinese(text: str, told: str) -> None:
    found = {fact.text: fact for fact in read_with_names(text, speaker="何苗")}
    assert told in found
    assert found[told].owner == told.partition("是")[0]


@pytest.mark.parametrize(
    "text", ["楼下有只狗叫了一晚上。", "我弟弟高兴坏了。", "老师说明天考试。", "养了只猫叫得很凶。"]
)
def test_nobody_is_named_in_chinese_who_was_not(text: str) -> None:
    assert not [f for f in read_with_names(text, speaker="何苗") if "是何苗的" in f.text]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("大家都叫我小林", "小林"),
        ("叫我小林就行", "小林"),
        ("医生喊我少吃稀饭，早饭吃啥子好", ""),
        ("我妈喊我明明，烦死了", ""),
        ("去看了个医生，说是胃炎，喊我莫吃辣。", ""),
        ("教练说了，叫我写日记，好烦", ""),
        ("我叫李伟帮忙，他没空", ""),
        ("大家好，叫我莫言吧", "莫言"),
    ],
)
def test_who_is_called_to_something_is_not_called_so(text: str, name: str) -> None:
    assert find_introduced_name(text) == name


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("I'm Ottilie, I teach pottery", "Ottilie"),
        ("hi all, I'm Ottilie and I teach pottery on Tuesdays", "Ottilie"),
        ("Ottilie here, back from Spain", "Ottilie"),
        ("this is Ottilie", "Ottilie"),
        ("Hey, it's Ottilie from the studio", "Ottilie"),
        ("I'm Priya Raman. I work at Barclays.", "Priya Raman"),
        ("I'm Anna Baker, I bake", "Anna Baker"),
        ("I'm Rose, I garden", "Rose"),
        ("I'm Brian and I live in Hull", "Brian"),
        ("im jess, i live in leeds", "Jess"),
        ("I'm Sam, Ellie's brother", "Sam"),
        ("my name isn't Ana, it's Anna", "Anna"),
        ("Everyone calls me Gus", "Gus"),
        ("我是小雨，在成都做护士", "小雨"),
        ("大家好，我是林晓，今年三十岁", "林晓"),
        ("这里是小雨，我手机坏了", "小雨"),
        ("你叫我老周就好", "老周"),
    ],
)
def test_who_introduces_themselves_in_passing_is_called_so(text: str, name: str) -> None:
    assert find_introduced_name(text) == name


@pytest.mark.parametrize(
    "text",
    [
        "I'm Irish, I grew up in Galway",
        "I'm Portuguese, I cook a lot of cod",
        "I'm Virgo, so I plan everything",
        "I'm Leo, I'm stubborn",
        "I'm Team Edward, always was",
        "I'm Chef at the Ivy, I start at 6",
        "I'm Type 1, I inject four times a day",
        "I'm Gen Z, I hate phone calls",
        "I'm Catholic, I go to mass on Sundays",
        "I'm Head of Sales, I travel a lot",
        "I'm Labour, my dad is Tory",
        "I'm ADHD, I lose my keys",
        "I'm Mum, I make the lunches",
        "I'm Keto, I don't eat rice",
        "I'm Peter's sister, I live in Ghent",
        "I'm Manchester United, my brother is City",
        "it's Ocado from now on",
        "It's Wednesday, I have choir",
        "This is Rex, my dog",
        "My friend said 'I'm Ottilie, I teach pottery'",
        "我是医生，在武汉上班",
        "我是小白，什么都不懂",
        "我是金牛座，喜欢存钱",
        "我是白羊，脾气急",
        "我是高三学生，明年高考",
        "我是老板，手下有五个人",
        "我是李娜的妹妹，住在苏州",
        "你叫我怎么办",
        "他说：“我是小雨，叫我小雨就行”",
    ],
)
def test_what_somebody_is_besides_is_no_name(text: str) -> None:
    assert find_introduced_name(text) == ""


def test_what_stands_before_a_colon_and_an_example_are_no_claims() -> None:
    (fact,) = read_with_names("报告：我现在喜欢吃辣了。", speaker="何苗")
    assert fact.text == "何苗现在喜欢吃辣了。"
    assert not read_with_names("比如成都，不过只是想想。", speaker="何苗")


def test_that_somebody_is_called_as_they_are_is_no_fact() -> None:
    told = Utterance("t1", "Ana Ferreira", "user", "I'm Ana, and I work at Lidl.", AT)
    reply = Utterance("t2", "Hub", "assistant", "Nice to meet you, Ana.", AT)
    exchange = Exchange([told, reply], subject="ana", participants=("Ana Ferreira", "Hub"))
    (read,) = ENGINE.extract_memories([exchange])
    assert [fact.text for fact in read.facts] == ["Ana Ferreira works at Lidl."]


def test_mine_and_ours_are_what_was_spoken_of() -> None:
    told = [fact.text for fact in read_with_names("The dog next door barks. Ours is named Fern.")]
    assert told[-1] == "Ana's dog is named Fern."
    assert not [f for f in read_with_names("Theirs is called Bo.") if " is called " in f.verb]


def test_whoever_sees_him_sees_somebody_else() -> None:
    text = "My brother Rui came. My dad saw him at the station."
    assert "Ana's dad saw Rui at the station." in [fact.text for fact in read_with_names(text)]


@pytest.mark.parametrize("greeting", ["Hiya", "Howdy", "Yikes"])
def test_a_greeting_is_nobody_of_whom_something_is_told(greeting: str) -> None:
    """Also in talk with an assistant, where of nobody else anything is told before."""
    text = f"{greeting}, need a card for my sister Ada, she's 40 on the 12th of March."
    said = Utterance("m0", "the user", "user", text, AT)
    heard = Utterance("m1", "assistant", "assistant", "Lovely!", AT)
    (read,) = ENGINE.extract_memories([Exchange([said, heard], [], (), "u-303")])
    told = [*(fact.text for fact in read.facts), *read_fact_texts(text)]
    assert "Ada is the user's sister." in told
    assert "Ada is Ana's sister." in told
    assert not [each for each in told if each.startswith(greeting)]
    assert greeting not in {fact.owner for fact in read.facts}
