"""What an editor hides is found by no question, and neither are the words that told it."""

from __future__ import annotations

from typing import Any

import pytest
from rest_framework.test import APIClient

SUBJECT = "hidden-words"
URL = f"/api/v1/spaces/{SUBJECT}"


def post(client: APIClient, path: str, body: dict[str, Any]) -> dict[str, Any]:
    answer = client.post(f"/api/v1/{path}", body, format="json")
    assert answer.status_code in (200, 201), answer.content
    return dict(answer.json())


def ask(client: APIClient, question: str) -> dict[str, Any]:
    return post(client, "answer", {"subject": SUBJECT, "question": question})


def search(client: APIClient, query: str) -> list[str]:
    found = post(client, "search", {"subject": SUBJECT, "query": query})["items"]
    return [source["text"] for item in found for source in item["sources"]] + [
        item["text"] for item in found
    ]


def hide(client: APIClient, words: str) -> str:
    """The change that hid all facts with these words, or the last of them."""
    facts = client.get(f"{URL}/facts").json()["items"]
    named = [fact["id"] for fact in facts if words in fact["text"]]
    assert named
    changes = [post(client, f"spaces/{SUBJECT}/facts/{at}/forget", {}) for at in named]
    return str(changes[-1]["event_id"])


def test_a_hidden_statement_is_no_answer_and_not_found(api: APIClient) -> None:
    post(api, "facts", {"subject": SUBJECT, "text": "Her password hint is the red boat"})
    assert "red boat" in ask(api, "What is the password hint?")["text"]
    change = hide(api, "red boat")
    assert ask(api, "What is the password hint?")["abstained"]
    assert not any("red boat" in text for text in search(api, "password hint"))
    post(api, f"spaces/{SUBJECT}/events/{change}/undo", {})
    assert "red boat" in ask(api, "What is the password hint?")["text"]


def test_of_a_message_only_the_hidden_words_are_covered(api: APIClient) -> None:
    told = "My locker code is 4417. My dentist is Dr Roux."
    message = {"content": told}
    post(api, "memories", {"subject": SUBJECT, "messages": [message], "wait": True})
    hide(api, "4417")
    assert not any("4417" in text for text in search(api, "locker code"))
    assert any("My dentist is Dr Roux." in text for text in search(api, "dentist"))
    assert "Roux" in ask(api, "who is my dentist")["text"]
    context = post(api, "context", {"subject": SUBJECT, "query": "what is my locker code"})
    assert "4417" not in context["text"]
    assert "Roux" in context["text"]


@pytest.mark.parametrize("since", ["2027-01-01", "2040-05-01"])
def test_what_is_stored_for_a_later_day_is_no_answer_yet(api: APIClient, since: str) -> None:
    told = {"subject": SUBJECT, "text": "The wifi password is tulip", "valid_from": since}
    post(api, "facts", told)
    assert ask(api, "What is the wifi password?")["abstained"]
