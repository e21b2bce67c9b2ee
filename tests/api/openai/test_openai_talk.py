"""What of a conversation is asked, what is news, and where memory is put."""

from __future__ import annotations

from typing import Any

import pytest

from api.openai.messages import (
    extract_text,
    find_question,
    has_earlier_answer,
    insert_memory,
    read_messages,
    select_new_messages,
)
from api.openai.options import (
    AGENT,
    BUDGET,
    LEARN,
    RECALL,
    SESSION,
    SPACE,
    read_options,
    remove_options,
)
from memoryhub.engines.llm.client.stream import AccumulatedAnswer, is_last_chunk
from memoryhub.errors import InvalidInput


def make_user_message(text: Any) -> dict[str, Any]:
    return {"role": "user", "content": text}


SYSTEM = {"role": "system", "content": "Be brief."}
ANSWER = {"role": "assistant", "content": "Hello."}
CALLS = {"role": "assistant", "content": None, "tool_calls": [{"id": "1"}]}
RESULT = {"role": "tool", "tool_call_id": "1", "content": "17 degrees"}
PICTURE = {"type": "image_url", "image_url": {"url": "data:,"}}


def list_new_texts(*messages: dict[str, Any]) -> list[str]:
    return [extract_text(message) for message in select_new_messages(messages)]


def test_news_is_what_the_user_said_since_the_last_answer() -> None:
    assert list_new_texts(
        SYSTEM,
        make_user_message("Hi."),
        ANSWER,
        make_user_message("One."),
        make_user_message("Two."),
    ) == ["One.", "Two."]


def test_results_of_tools_are_no_news_and_the_question_stays() -> None:
    talk = [make_user_message("How warm is it?"), CALLS, RESULT]
    assert list_new_texts(*talk) == []
    assert find_question(talk) == "How warm is it?"


def test_an_answer_that_the_client_began_is_none_yet() -> None:
    assert list_new_texts(
        make_user_message("Go on."), {"role": "assistant", "content": "Once upon"}
    ) == ["Go on."]


def test_a_system_message_in_between_hides_no_news() -> None:
    assert list_new_texts(
        ANSWER, make_user_message("One."), SYSTEM, make_user_message("Two."), SYSTEM
    ) == ["One.", "Two."]


@pytest.mark.parametrize("nothing", ["", " ", "\0", "\0 \ud800", None, [PICTURE], 17])
def test_a_question_without_words_is_none(nothing: Any) -> None:
    assert (
        find_question([make_user_message("Where?"), ANSWER, make_user_message(nothing)]) == "Where?"
    )
    assert find_question([make_user_message(nothing)]) == ""


def test_pictures_are_no_words() -> None:
    assert list_new_texts(make_user_message([PICTURE])) == []
    assert list_new_texts(make_user_message([{"type": "text", "text": "Look."}, PICTURE])) == [
        "Look."
    ]


def test_memory_stands_before_the_last_words_of_the_user_and_nothing_else_changes() -> None:
    talk = [SYSTEM, make_user_message("Hi."), ANSWER, make_user_message("Where?"), CALLS, RESULT]
    told = insert_memory(talk, "<memory>")
    assert told[3] == make_user_message("<memory>\n\nWhere?")
    assert [*told[:3], *told[4:]] == [*talk[:3], *talk[4:]]
    assert talk[3] == make_user_message("Where?")


def test_memory_is_a_part_of_its_own_beside_pictures() -> None:
    (told,) = insert_memory([make_user_message([PICTURE])], "<memory>")
    assert told["content"] == [{"type": "text", "text": "<memory>"}, PICTURE]


@pytest.mark.parametrize("talk", [[], [SYSTEM]])
def test_without_a_user_there_is_nowhere_to_put_it(talk: list[dict[str, Any]]) -> None:
    assert insert_memory(talk, "<memory>") == talk
    assert find_question(talk) == ""


def test_a_conversation_is_under_way_once_it_was_answered() -> None:
    assert [
        has_earlier_answer(talk)
        for talk in ([make_user_message("Hi.")], [make_user_message("Hi."), ANSWER])
    ] == [False, True]


@pytest.mark.parametrize("given", [None, [], "Hi.", ["Hi."], [{"content": "Hi."}], [{"role": 7}]])
def test_messages_that_are_none_are_refused_by_their_place(given: Any) -> None:
    with pytest.raises(InvalidInput) as refused:
        read_messages({"messages": given})
    assert (refused.value.field or "").startswith("messages")


def test_headers_say_whose_memory_before_the_body_does() -> None:
    body = {"user": "rui", "metadata": {"session": "s2", "agent": "b"}}
    headers = {SPACE: "ana%2Fcoach", SESSION: "s1", AGENT: "a", BUDGET: "500", RECALL: "off"}
    found = read_options(headers | {LEARN: "on"}, body)
    assert (found.subject, found.session, found.agent) == ("ana/coach", "s1", "a")
    assert (found.budget, found.recalls, found.learns) == (500, False, True)
    found = read_options({}, body)
    assert (found.subject, found.session, found.agent) == ("rui", "s2", "b")
    assert (found.budget, found.recalls, found.learns) == (2000, True, None)


def test_names_in_any_script_come_through_headers() -> None:
    assert read_options({SPACE: "%E6%9D%8E"}, {}).subject == "李"
    assert read_options({SPACE: "李".encode().decode("latin-1")}, {}).subject == "李"


@pytest.mark.parametrize(
    ("headers", "body", "field"),
    [
        ({BUDGET: "99"}, {}, BUDGET),
        ({BUDGET: "many"}, {}, BUDGET),
        ({BUDGET: "1000001"}, {}, BUDGET),
        ({RECALL: "perhaps"}, {}, RECALL),
        ({LEARN: "2"}, {}, LEARN),
        ({SPACE: "x" * 201}, {}, SPACE),
        ({SPACE: "a%0Ana"}, {}, SPACE),
        ({}, {"user": "a\0na"}, "user"),
        ({}, {"user": "x" * 201}, "user"),
        ({}, {"user": 17}, "user"),
        ({}, {"user": "\ud800"}, "user"),
        ({}, {"metadata": {"session": ["s"]}}, "metadata.session"),
        ({}, {"metadata": {"agent": "x" * 121}}, "metadata.agent"),
    ],
)
def test_wishes_that_cannot_be_met_name_what_is_wrong(
    headers: dict[str, str], body: dict[str, Any], field: str
) -> None:
    with pytest.raises(InvalidInput) as refused:
        read_options(headers, body)
    assert refused.value.field == field


def test_the_endpoint_sees_only_metadata_that_is_not_the_hubs() -> None:
    assert remove_options({"metadata": {"session": "s"}, "n": 1}) == {"n": 1}
    assert remove_options({"metadata": {"session": "s", "k": "v"}}) == {"metadata": {"k": "v"}}
    assert remove_options({"metadata": None}) == {"metadata": None}


def test_only_the_first_choice_is_what_was_said() -> None:
    said = AccumulatedAnswer()
    for index, text in ((0, "Por"), (1, "Ro"), (0, "to"), (1, "me")):
        said.add_chunk({"choices": [{"index": index, "delta": {"content": text}}]})
    assert (said.text, said.finished) == ("Porto", False)


@pytest.mark.parametrize(
    "strange",
    [
        {},
        {"choices": None},
        {"choices": ["x"]},
        {"choices": [{"delta": "x"}]},
        {"choices": [{"delta": {"content": ["x"]}}]},
        {"choices": [], "usage": {"prompt_tokens": "many"}},
        {"usage": 17},
    ],
)
def test_what_is_not_as_the_protocol_has_it_says_nothing(strange: dict[str, Any]) -> None:
    said = AccumulatedAnswer()
    said.add_chunk(strange)
    assert (said.text, said.usage, said.finished) == ("", None, False)


def test_the_last_chunk_is_the_one_behind_which_only_the_account_comes() -> None:
    over = {"index": 0, "finish_reason": "stop"}
    assert is_last_chunk({"choices": [over]})
    assert is_last_chunk({"choices": []})
    assert not is_last_chunk({"choices": [over, {"index": 1, "finish_reason": None}]})
