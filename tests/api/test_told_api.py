"""Statements told about the subject, what the subject is called, and texts that are only made:
over HTTP, as applications, agents and hosts send them."""

from __future__ import annotations

from typing import Any

import pytest
from rest_framework.test import APIClient

from memoryhub.tenants.models import Tenant
from memoryhub.tenants.scope import tenant_scope
from notes.models import Fact

ID = "46c8c0c1-1f2e-4b0a-9c55-0e2b1d7a9f01"
TOLD = (
    ("User prefers tea over coffee", "the user", "prefers tea over coffee"),
    ("The user is allergic to walnuts.", "the user", "allergic to walnuts"),
    ("Works as a data engineer at Contoso", "the user", "data engineer"),
    ("Lives in Utrecht with two cats.", "the user", "lives in Utrecht"),
    ("Project uses PostgreSQL 16", "the user", "PostgreSQL 16"),
    ("please remember that I hate cilantro", "the user", "hates cilantro"),
    ("Note that the user is colour blind.", "the user", "colour blind"),
    ("The user's sister lives in Graz.", "the user's sister", "Graz"),
    ("User no longer works at Contoso.", "the user", "no longer works at Contoso"),
    (f"{ID} prefers aisle seats.", "the user", "prefers aisle seats"),
    ("Speaks German and Dutch", "the user", "speaks German and Dutch"),
    ("User wants short answers", "the user", "wants short answers"),
    ("- Drives a red Skoda\n- Plays the cello", "the user", "red Skoda"),
    ("用户喜欢喝茶", "用户", "喜欢喝茶"),
    ("请记住我对花生过敏", "用户", "对花生过敏"),
    ("该用户在医院当护士", "用户", "护士"),
    ("用户的妹妹住在成都", "用户的妹妹", "成都"),
)


def add(client: APIClient, *messages: Any, subject: str = ID, **more: Any) -> dict[str, Any]:
    told = [m if isinstance(m, dict) else {"content": m} for m in messages]
    body = {"subject": subject, "messages": told, "wait": True, **more}
    answer = client.post("/api/v1/memories", body, format="json")
    assert answer.status_code == 200, answer.content
    return dict(answer.json())


def list_facts(client: APIClient, subject: str = ID) -> list[dict[str, Any]]:
    return list(client.get(f"/api/v1/spaces/{subject}/facts?status=all").json()["items"])


def list_texts(client: APIClient, subject: str = ID) -> list[str]:
    return [fact["text"] for fact in list_facts(client, subject)]


def load_sources(client: APIClient, fact_id: str) -> list[dict[str, Any]]:
    return list(client.get(f"/api/v1/spaces/{ID}/facts/{fact_id}").json()["sources"])


@pytest.mark.parametrize(("text", "owner", "says"), TOLD)
def test_what_is_told_about_the_subject_is_a_fact_about_them(
    api: APIClient, text: str, owner: str, says: str
) -> None:
    add(api, text)
    facts = list_facts(api)
    told = [fact for fact in facts if says in fact["text"]]
    assert told, facts
    assert told[0]["owner"] == owner
    assert not any(ID in fact["text"] for fact in facts)


def test_its_source_is_the_words_as_they_were_sent(api: APIClient) -> None:
    add(api, "Hello there. Please remember that the user has moved to Ghent. Thanks!")
    (fact,) = list_facts(api)
    (source,) = load_sources(api, fact["id"])
    start, end = source["span"]
    assert source["text"][start:end] == "the user has moved to Ghent"


def test_what_an_assistant_tells_of_the_subject_changes_nothing_people_said(
    api: APIClient,
) -> None:
    add(api, "I live in Porto.")
    add(api, {"role": "assistant", "content": "User lives in Lisbon."})
    facts = {fact["text"]: fact for fact in list_facts(api)}
    assert facts["The user lives in Porto."]["status"] == "active"
    assert facts["The user lives in Lisbon."]["confidence"] <= 0.5


@pytest.mark.parametrize(
    "text",
    [
        "Works fine now, thanks!",
        "Remember when we went to Oslo?",
        "Do you remember that the user lives in Oslo?",
        "User stories are due on Friday.",
    ],
)
def test_what_is_none_of_the_subject_is_not_theirs(api: APIClient, text: str) -> None:
    add(api, text)
    assert not [fact for fact in list_facts(api) if fact["predicate"]]


# What the subject is called


def test_no_id_stands_in_what_is_written(api: APIClient) -> None:
    add(api, "I live in Oslo.", "My sister visited me in May.", "我住在北京，喜欢爬山。")
    told = list_texts(api)
    assert "The user lives in Oslo." in told
    assert any("用户" in text for text in told)
    answer = api.post(
        "/api/v1/answer", {"subject": ID, "question": "Where do I live?"}, format="json"
    ).json()
    context = api.post(
        "/api/v1/context", {"subject": ID, "query": "Where do I live?"}, format="json"
    ).json()
    notes = api.get(f"/api/v1/spaces/{ID}/notes").json()["items"]
    for shown in (*told, answer["text"], context["text"], *(str(n["content"]) for n in notes)):
        assert ID not in shown


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Hi, my name is Priya and I live in Oslo.", "Priya"),
        ("The user's name is Priya Sharma.", "Priya Sharma"),
        ("你好，我叫李敏，住在上海。", "李敏"),
    ],
)
def test_a_name_is_learned_and_what_was_written_says_it(
    api: APIClient, text: str, name: str
) -> None:
    add(api, "I work as a nurse." if text.isascii() else "我是护士。")
    add(api, text)
    assert api.get(f"/api/v1/spaces/{ID}").json()["name"] == name
    facts = list_facts(api)
    assert {fact["owner"] for fact in facts} == {name}
    assert any(fact["text"].startswith(name) and "nurse" in fact["text"] for fact in facts) or any(
        "护士" in fact["text"] and name in fact["text"] for fact in facts
    )
    add(api, "I moved to Ghent." if text.isascii() else "我搬到成都了。")
    assert any(name in t and ("Ghent" in t or "成都" in t) for t in list_texts(api))


@pytest.mark.parametrize(
    ("text", "introduction", "said"),
    [
        ("My sister Rita lives in Porto.", "My name is Priya.", "Rita is Priya's sister."),
        ("我养了一只猫叫咪咪。", "我叫李敏。", "咪咪是李敏的猫。"),
    ],
)
def test_what_is_told_of_others_says_the_name_too(
    api: APIClient, text: str, introduction: str, said: str
) -> None:
    add(api, text)
    assert said not in list_texts(api)
    add(api, introduction)
    assert said in list_texts(api)


def test_a_name_that_was_learned_is_corrected_by_the_person(api: APIClient) -> None:
    add(api, "My name is Prija.")
    add(api, "Sorry, my name is Priya.")
    assert api.get(f"/api/v1/spaces/{ID}").json()["name"] == "Priya"


@pytest.mark.parametrize(
    "text",
    [
        "My sister's name is Priya.",
        'Can you write a letter that says "my name is Priya"?',
        "Pretend my name is Priya.",
        "If my name is Priya in your list, that's wrong.",
        "他叫李敏。",
    ],
)
def test_the_name_of_another_is_not_the_subjects(api: APIClient, text: str) -> None:
    add(api, text)
    assert api.get(f"/api/v1/spaces/{ID}").json()["name"] == ""


def test_the_application_sets_the_name_with_messages(api: APIClient, tenant: Tenant) -> None:
    add(api, "I live in Oslo. My dog is called Rex.")
    add(api, "I play chess.", subject_name="Priya")
    add(api, "My name is Bond.")
    assert api.get(f"/api/v1/spaces/{ID}").json()["name"] == "Priya"
    assert "Priya lives in Oslo." in list_texts(api)
    with tenant_scope(tenant.id):
        assert not Fact.objects.filter(text__icontains="the user", retired_at=None).exists()


def test_the_name_is_set_by_itself_and_taken_back(api: APIClient) -> None:
    add(api, "I live in Oslo.")
    path = f"/api/v1/spaces/{ID}/name"
    shown = api.post(path, {"subject_name": "Priya"}, format="json").json()["space"]
    assert shown["name"] == "Priya"
    assert list_texts(api) == ["Priya lives in Oslo."]
    api.post(path, {"subject_name": "Pri Sharma"}, format="json")
    assert list_texts(api) == ["Pri Sharma lives in Oslo."]
    api.post(path, {"subject_name": ""}, format="json")
    assert list_texts(api) == ["The user lives in Oslo."]


def test_a_fact_told_before_the_name_was_known_is_ended_after_it(api: APIClient) -> None:
    add(api, "I live in Oslo.")
    add(api, "My name is Priya.")
    add(api, "I live in Ghent now.")
    homes = {f["text"]: f["status"] for f in list_facts(api) if f["predicate"] == "lives_in"}
    assert homes["Priya lives in Oslo."] != "active"
    assert list(homes.values()).count("active") == 1


def test_a_subject_that_is_a_name_keeps_it(api: APIClient) -> None:
    add(api, "I live in Oslo.", subject="ana")
    assert list_texts(api, "ana") == ["Ana lives in Oslo."]


def test_who_alone_writes_under_another_id_is_the_subject(api: APIClient) -> None:
    add(api, {"content": "I live in Oslo. My boss is Lyle.", "speaker": "u-4711"})
    add(api, {"content": "My boss is Dana now.", "speaker": "u-4711"})
    facts = list_facts(api)
    assert {fact["owner"] for fact in facts} <= {"the user", "the user's boss"}
    assert not any("u-4711" in fact["text"] for fact in facts)
    told = api.post("/api/v1/answer", {"subject": ID, "question": "where do i live"}, format="json")
    assert told.json()["text"].startswith("Oslo")


def test_of_two_who_write_under_ids_none_is_taken_for_the_subject(api: APIClient) -> None:
    both = [{"content": "I live in Oslo.", "speaker": "u-1"}]
    add(api, *both, {"content": "I live in Ghent.", "speaker": "u-2"})
    add(api, {"content": "I play chess.", "speaker": "u-1"})
    assert {fact["owner"] for fact in list_facts(api)} == {"u-1", "u-2"}


def test_a_name_that_is_too_long_is_refused(api: APIClient) -> None:
    add(api, "I live in Oslo.")
    answer = api.post(f"/api/v1/spaces/{ID}/name", {"subject_name": "x" * 121}, format="json")
    assert answer.status_code == 422, answer.content


# What is only made


DRAFT = "Dear Mr Hale,\n\nI moved to Madrid in March and I have two cats.\n\nBest regards,\nAna"
MADE = (
    ("Can you draft a letter to my old landlord?", DRAFT),
    ("Translate into English: Vivo en Madrid.", "I live in Madrid and work as a nurse."),
    ("Write me a poem about the sea", "I am a sailor, I have a ship\nand I live in Hull."),
    ("Let's role-play. You are a barista.", "I work near Termini and I live in Trastevere."),
    ("How would a native introduce herself?", "I'm Marta, I live in Madrid, I have two kids."),
    ("Nothing new today.", f"Here's a letter you could send:\n\n{DRAFT}"),
    ("帮我翻译：我住在柏林，有两只猫。", "I live in Berlin and I have two cats."),
    ("Proofread this:\nI works at Siemens and my wife is a doctor.", "I work at Siemens."),
)


@pytest.mark.parametrize(("asked", "made"), MADE)
def test_what_the_assistant_makes_is_nobodys_claim(api: APIClient, asked: str, made: str) -> None:
    add(api, asked, {"role": "assistant", "content": made})
    assert list_texts(api) == []


def test_a_role_play_goes_on_until_it_ends(api: APIClient) -> None:
    says = {"role": "assistant", "content": "I have worked here for six years."}
    add(api, "Let's role-play. You are a barista.", says, session="s")
    add(
        api,
        "How long have you been here?",
        says | {"content": "I live above the bar."},
        session="s",
    )
    assert list_texts(api) == []
    told = {"role": "assistant", "content": "I speak twelve languages."}
    add(api, "Stop the role play. Which languages do you speak?", told, session="s")
    assert list_texts(api) == ["Assistant speaks twelve languages."]


def test_a_revision_of_what_was_made_is_made(api: APIClient) -> None:
    add(api, "Draft a bio for me", {"role": "assistant", "content": "I own a cat."}, session="s")
    more = {"role": "assistant", "content": "I own seventeen cats and live in a teapot."}
    add(api, "Make it funnier.", more, session="s")
    assert list_texts(api) == []


def test_what_the_user_tells_beside_a_request_is_theirs(api: APIClient) -> None:
    made = {"role": "assistant", "content": "I am a painter from Leeds and I have two dogs."}
    add(api, "I live in Leeds. Could you write a bio for me?", made)
    assert list_texts(api) == ["The user lives in Leeds."]


def test_an_assistant_speaks_of_itself(api: APIClient) -> None:
    add(api, "What can you do?", {"role": "assistant", "content": "I speak twelve languages."})
    assert list_texts(api) == ["Assistant speaks twelve languages."]


# A fact as it is given

GIVEN = {
    "subject": ID,
    "text": "Priya lives in Lisbon.",
    "predicate": "lives_in",
    "value": "Lisbon",
}


def remember(client: APIClient, **given: Any) -> dict[str, Any]:
    answer = client.post("/api/v1/facts", {**GIVEN, **given}, format="json")
    assert answer.status_code == 200, answer.content
    return dict(answer.json())


def test_a_fact_is_stored_as_it_is_given(api: APIClient) -> None:
    made = remember(api, valid_from="2026-05-01T00:00:00Z", subject_name="Priya", confidence=0.7)
    fact = made["fact"]
    assert (fact["text"], fact["owner"]) == ("Priya lives in Lisbon.", "Priya")
    assert (fact["predicate"], fact["value"]) == ("lives_in", "Lisbon")
    assert (fact["valid_from"], fact["confidence"]) == ("2026-05-01T00:00:00Z", 0.7)
    assert made["decision"]["op"] == "add"
    (source,) = load_sources(api, fact["id"])
    assert source["text"] == "Priya lives in Lisbon."
    assert [f["id"] for f in list_facts(api)] == [fact["id"]]


def test_it_is_found_at_once(api: APIClient) -> None:
    remember(api, text="The project uses PostgreSQL 16.", predicate="", value="")
    found = api.post(
        "/api/v1/search", {"subject": ID, "query": "which database?"}, format="json"
    ).json()
    assert "PostgreSQL" in found["items"][0]["text"]


def test_a_value_takes_the_place_of_the_one_before(api: APIClient) -> None:
    add(api, "I live in Oslo.")
    made = remember(api)
    assert made["decision"]["op"] == "supersede"
    assert made["decision"]["target"]["text"] == "The user lives in Oslo."
    held = api.get(f"/api/v1/spaces/{ID}/facts").json()["items"]
    assert [fact["text"] for fact in held] == ["Priya lives in Lisbon."]
    undone = api.post(f"/api/v1/spaces/{ID}/events/{made['event_id']}/undo", {}, format="json")
    assert undone.status_code == 200, undone.content
    assert "The user lives in Oslo." in list_texts(api)


def test_the_same_fact_gets_another_source(api: APIClient) -> None:
    first, again = remember(api), remember(api)
    assert again["decision"]["op"] == "same"
    assert again["fact"]["id"] == first["fact"]["id"]


def test_it_rests_on_the_turns_that_are_named(api: APIClient) -> None:
    turns = add(api, "I found a flat in Lisbon at last!")["turns"]
    made = remember(api, sources=[turns[0]["id"]])
    sources = load_sources(api, made["fact"]["id"])
    assert [source["turn_id"] for source in sources] == [turns[0]["id"]]
    assert api.get(f"/api/v1/spaces/{ID}/turns").json()["total"] == 1


def test_a_turn_of_another_is_no_source(api: APIClient) -> None:
    turns = add(api, "I live in Oslo.", subject="ana")["turns"]
    answer = api.post("/api/v1/facts", {**GIVEN, "sources": [turns[0]["id"]]}, format="json")
    assert answer.status_code == 404, answer.content


def test_what_was_so_once_is_past(api: APIClient) -> None:
    remember(api, valid_from="2019-01-01T00:00:00Z", valid_to="2021-01-01T00:00:00Z")
    assert api.get(f"/api/v1/spaces/{ID}/facts").json()["total"] == 0
    then = api.get(f"/api/v1/spaces/{ID}/facts?as_of=2020-01-01T00:00:00Z").json()
    assert then["total"] == 1


def test_an_assistants_fact_does_not_end_what_a_person_said(api: APIClient) -> None:
    add(api, "I live in Oslo.")
    made = remember(api, role="assistant")
    assert made["decision"]["op"] != "supersede"
    assert made["fact"]["confidence"] <= 0.5
    assert "The user lives in Oslo." in list_texts(api)


def test_what_a_tool_says_waits_for_a_person(api: APIClient) -> None:
    made = remember(api, role="tool")
    assert made["fact"] is None
    assert list_facts(api) == []
    assert api.get(f"/api/v1/spaces/{ID}/conflicts").json()["total"] == 1


@pytest.mark.parametrize(
    "wrong",
    [
        {"text": "  "},
        {"predicate": "Lives In"},
        {"confidence": 2},
        {"valid_from": "2026-05-01T00:00:00Z", "valid_to": "2025-05-01T00:00:00Z"},
    ],
)
def test_what_is_no_fact_is_refused(api: APIClient, wrong: dict[str, Any]) -> None:
    answer = api.post("/api/v1/facts", {**GIVEN, **wrong}, format="json")
    assert answer.status_code == 422, answer.content
    assert api.get("/api/v1/spaces").json()["total"] == 0  # not even its words are kept


def test_a_repetition_stores_nothing(api: APIClient) -> None:
    headers = {"Idempotency-Key": "one"}
    first = api.post("/api/v1/facts", GIVEN, format="json", headers=headers).json()
    again = api.post("/api/v1/facts", GIVEN, format="json", headers=headers).json()
    assert first["event_id"] == again["event_id"]


def test_who_erases_the_words_that_told_the_name_has_none_again(
    client_of: Any, tenant: Tenant
) -> None:
    client = client_of(tenant, "read", "write", "admin")
    add(client, "I live in Oslo.")
    turns = add(client, "My name is Priya.")["turns"]
    add(client, "I play chess.")
    path = f"/api/v1/spaces/{ID}/erase"
    wanted = {"target": "turns", "ids": [turns[0]["id"]]}
    answer = client.post(path, wanted, format="json")
    assert answer.status_code == 200, answer.content
    shown = client.get(f"/api/v1/spaces/{ID}").json()
    assert (shown["name"], shown["speakers"]) == ("", ["the user"])
    assert set(list_texts(client)) == {"The user lives in Oslo.", "The user plays chess."}
