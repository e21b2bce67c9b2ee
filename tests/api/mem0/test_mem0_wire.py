"""What mem0's clients send and are told, over the hub's own memories."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from typing import Any
from urllib.parse import quote

import pytest
from rest_framework.test import APIClient

from memoryhub.dialogues.models import Turn
from memoryhub.pipeline.corrections import undo_event
from memoryhub.pipeline.erasure import erase_targets
from memoryhub.tenants.models import Space, Tenant
from memoryhub.tenants.scope import tenant_scope
from memoryhub.tenants.services import ensure_space
from notes.models import EvolutionEvent, Fact, Feedback, Receipt
from tests.api.mem0.conftest import Add
from tests.support.factories import make_fact

Texts = Callable[..., list[str]]
LISBON = {"role": "user", "content": "I live in Lisbon."}


def search_memories(mem0: APIClient, query: str, **body: Any) -> list[dict[str, Any]]:
    wanted = {"query": query, "filters": {"user_id": "ana"}} | body
    answer = mem0.post("/v3/memories/search/", wanted, format="json")
    assert answer.status_code == 200, answer.content
    return list(answer.json()["results"])


def test_ping_says_whose_key_it_is(mem0: APIClient, tenant: Tenant) -> None:
    told = mem0.get("/v1/ping/").json()
    assert (told["status"], told["org_id"], told["project_id"]) == (
        "ok",
        str(tenant.id),
        str(tenant.id),
    )


def test_an_add_is_queued_and_its_event_says_what_became_of_it(
    mem0: APIClient, tenant: Tenant
) -> None:
    from memoryhub.pipeline.jobs.runner import run_space

    body = {"messages": [LISBON], "user_id": "ana", "agent_id": "bot", "metadata": {"k": 1}}
    told = mem0.post("/v3/memories/add/", body, format="json").json()
    assert told["status"] == "PENDING"
    path = f"/v1/event/{told['event_id']}/"
    assert mem0.get(path).json()["status"] == "PENDING"
    with tenant_scope(tenant.id):
        space = Space.objects.get(subject="ana")
    run_space(tenant.id, space.id)
    done = mem0.get(path).json()
    assert (done["status"], done["error"]) == ("SUCCEEDED", None)
    (result,) = done["results"]
    assert (result["event"], "Lisbon" in result["data"]["memory"]) == ("ADD", True)
    memory = mem0.get(f"/v1/memories/{result['id']}/").json()
    assert (memory["user_id"], memory["agent_id"], memory["run_id"]) == ("ana", "bot", None)
    assert (memory["metadata"], memory["categories"]) == ({"k": 1}, ["personal_details"])
    assert mem0.get("/v1/events/").json()["count"] == 1


def test_an_older_client_that_does_not_wait_is_told_at_once_if_it_asks_to(
    mem0: APIClient,
) -> None:
    body = {"messages": [LISBON], "user_id": "ana", "async_mode": False}
    told = mem0.post("/v1/memories/", body, format="json").json()
    assert (told["status"], told["results"][0]["event"]) == ("SUCCEEDED", "ADD")
    (bare,) = mem0.post("/v1/memories/", body | {"output_format": "v1.0"}, format="json").json()
    assert bare["event"] == "NONE"
    moved = [{"role": "user", "content": "I moved to Rome."}]
    told = mem0.post("/v1/memories/", body | {"messages": moved}, format="json").json()
    (update,) = told["results"]
    assert (update["event"], "Lisbon" in update["old_memory"]) == ("UPDATE", True)
    assert update["id"] == bare["id"]


def test_what_cannot_be_followed_is_named(mem0: APIClient) -> None:
    body = {"messages": "Hi.", "user_id": "ana", "includes": "x", "custom_instructions": "y"}
    told = mem0.post("/v3/memories/add/", body, format="json").json()
    assert told["ignored"] == ["custom_instructions", "includes"]


def test_messages_that_say_nothing_here_are_passed_over_by_name(
    mem0: APIClient, texts: Texts
) -> None:
    """As a program that talks to a model has them: with what is said to and by its tools."""
    picture = {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}
    call = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    messages: list[dict[str, Any]] = [
        {"role": "developer", "content": "Answer in verse."},
        {"role": "user", "content": "The shed is blue."},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "assistant", "content": " \n"},
        {"role": "user", "content": [{"type": "text", "text": ""}, picture]},
        {"role": "user", "content": []},
        {"role": "user", "content": [{"type": "text", "text": "The gate is green."}, picture]},
    ]
    body = {"messages": messages, "user_id": "ana", "infer": False}
    told = mem0.post("/v3/memories/add/", body, format="json").json()
    assert told["ignored"] == [
        "messages[0].role",
        "messages[2].tool_calls",
        "messages[2].content",
        "messages[3].content",
        "messages[4].content",
        "messages[5].content",
        "messages[6].content[1]",
    ]
    assert texts({"user_id": "ana"}) == ["The gate is green.", "The shed is blue."]


@pytest.mark.parametrize(
    ("message", "field"),
    [
        ({"role": "user", "content": 5}, "messages[1].content"),
        ({"role": 5, "content": "Hi."}, "messages[1].role"),
        ({"content": "x" * 1_048_577}, "messages[1].content"),
        (5, "messages[1]"),
    ],
)
def test_a_fault_is_told_by_the_place_where_it_was_sent(
    mem0: APIClient, message: Any, field: str
) -> None:
    messages = [{"role": "assistant", "content": None}, message, {"content": "Hi."}]
    body = {"messages": messages, "user_id": "ana"}
    answer = mem0.post("/v3/memories/add/", body, format="json")
    assert answer.status_code in (400, 413)
    assert [each["field"] for each in answer.json()["errors"]] == [field]


def test_the_four_ids_are_kept_and_filtered_by(keep: Add, texts: Texts) -> None:
    keep("One.", agent_id="bot", run_id="r1", user_id="ana")
    keep("Two.", user_id="ana", app_id="shop")
    keep("Three.", agent_id="bot")
    keep("Four.", run_id="r1")
    keep("Five.", app_id="shop", user_id="rui")
    assert texts({"user_id": "ana"}) == ["One.", "Two."]
    assert texts({"agent_id": "bot"}) == ["One.", "Three."]
    assert texts({"run_id": "r1"}) == ["Four.", "One."]
    assert texts({"app_id": "shop"}) == ["Five.", "Two."]
    assert texts({"user_id": "*"}) == ["Five.", "One.", "Two."]
    assert texts({"user_id": "agent:bot"}) == []
    assert texts({"OR": [{"user_id": "rui"}, {"agent_id": "bot"}]}) == ["Five.", "One.", "Three."]
    assert texts({"AND": [{"agent_id": "bot"}, {"NOT": {"user_id": "ana"}}]}) == ["Three."]
    assert texts({"AND": [{"user_id": {"in": ["ana", "rui"]}}, {"run_id": "*"}]}) == ["One."]
    assert texts({"user_id": "nobody"}) == []


@pytest.mark.parametrize("kind", ["user", "agent", "app", "run"])
@pytest.mark.parametrize("sent", [" ana b ", "cafe\u0301"])
def test_an_id_means_the_same_wherever_it_is_sent(
    mem0: APIClient, keep: Add, texts: Texts, kind: str, sent: str
) -> None:
    name = f"{kind}_id"
    memory_id = keep("One.", **{name: sent})
    kept = mem0.get(f"/v1/memories/{memory_id}/").json()[name]
    assert kept == unicodedata.normalize("NFC", sent).strip()
    for value in (sent, {"in": [sent]}, {"contains": sent.strip()}):
        assert texts({name: value}) == ["One."]
    assert len(search_memories(mem0, "one", filters={name: sent})) == 1
    assert len(mem0.get("/v1/memories/", {name: sent}).json()) == 1
    if kind == "user":
        assert mem0.get(f"/v2/entities/user/{quote(sent)}/profile/").status_code == 200
        job = {"operation": "trigger", "entity_id": sent}
        assert mem0.post("/v2/profiles/jobs/", job, format="json").status_code == 200
    assert mem0.delete(f"/v1/memories/?{name}={quote(sent)}").json()["message"].startswith("1 ")
    assert texts({name: kept}) == []
    assert mem0.delete(f"/v2/entities/{kind}/{quote(sent)}/").json()["event_id"]


def test_a_user_is_the_subject_that_the_native_api_was_told_of(
    mem0: APIClient, keep: Add, texts: Texts
) -> None:
    """However its letters are put together (E3)."""
    said = {"subject": "Rene\u0301", "text": "René keeps bees."}
    answer = mem0.post("/api/v1/facts", said, format="json")
    assert answer.status_code == 200, answer.content
    keep("The gate is green.", user_id="Rene\u0301")
    for user in ("Rene\u0301", "René"):
        assert texts({"user_id": user}) == ["René keeps bees.", "The gate is green."]
        assert mem0.get(f"/api/v1/spaces/{quote(user)}/facts").json()["total"] == 2
        assert mem0.get("/api/v1/spaces", {"filter": '{"subject": "René"}'}).json()["total"] == 1
    whole = {"target": "subject", "confirm": "Rene\u0301"}
    erased = mem0.post("/api/v1/spaces/René/erase", whole, format="json")
    assert erased.status_code == 200, erased.content


def test_nobody_is_erased_by_a_blank_name(mem0: APIClient, keep: Add, texts: Texts) -> None:
    keep("One.")
    for kind in ("user", "agent", "app", "run"):
        mem0.delete(f"/v2/entities/{kind}/%20/")
    assert texts({"user_id": "ana"}) == ["One."]


def test_memories_are_filtered_by_what_was_sent_with_them(keep: Add, texts: Texts) -> None:
    keep("Old.", timestamp=1_700_000_000, metadata={"team": "red", "n": 3})
    keep("New.", metadata={"team": "blue"})
    mine = {"user_id": "ana"}
    assert texts(mine | {"metadata": {"team": "red"}}) == ["Old."]
    assert texts(mine | {"metadata": {"n": {"gte": 3}}}) == ["Old."]
    assert texts(mine | {"created_at": {"lt": "2024-01-01"}}) == ["Old."]
    assert texts(mine, start_date="2024-01-01") == ["New."]
    assert texts(mine, metadata={"team": "blue"}) == ["New."]
    assert texts(mine, keywords="OLD") == ["Old."]
    assert texts({"AND": [mine, {"NOT": [{"metadata": {"team": "red"}}]}]}) == ["New."]


def test_categories_that_were_brought_along_are_shown_and_filtered_by(
    mem0: APIClient, tenant: Tenant, texts: Texts
) -> None:
    with tenant_scope(tenant.id):
        space = ensure_space(tenant.id, "ana")
        brought = {"imported_from": {"source": "mem0", "categories": ["travel", "misc", 7]}}
        for text, values in (
            ("Ana likes Rome.", {"metadata": brought}),
            ("Ana lives in Porto.", {"metadata": brought, "predicate_key": "lives_in"}),
            ("Ana sings.", {"metadata": {"imported_from": {"source": "mem0"}}}),
        ):
            make_fact(space, text, **values)
    mine = {"user_id": "ana"}
    assert texts(mine, categories=["travel"]) == ["Ana likes Rome."]
    assert texts(mine | {"categories": {"contains": "misc"}}) == ["Ana likes Rome."]
    assert texts(mine | {"categories": "personal_details"}) == ["Ana lives in Porto."]
    assert texts(mine | {"NOT": [{"categories": "*"}]}) == ["Ana sings."]
    listed = mem0.post("/v3/memories/", {"filters": mine}, format="json").json()["results"]
    assert {item["memory"]: item["categories"] for item in listed} == {
        "Ana likes Rome.": ["travel", "misc"],
        "Ana lives in Porto.": ["personal_details"],
        "Ana sings.": [],
    }


def test_lists_have_pages(mem0: APIClient, keep: Add) -> None:
    for number in range(3):
        keep(f"Number {number}.", timestamp=1_700_000_000 + number)
    body = {"filters": {"user_id": "ana"}, "fields": ["memory"]}
    first = mem0.post("/v3/memories/?page=1&page_size=2", body, format="json").json()
    assert (first["count"], first["previous"]) == (3, None)
    assert [set(item) for item in first["results"]] == [{"id", "memory"}] * 2
    assert first["results"][0]["memory"] == "Number 2."
    last = mem0.post(first["next"], body, format="json").json()
    assert ([item["memory"] for item in last["results"]], last["next"]) == (["Number 0."], None)
    assert len(mem0.get("/v1/memories/?user_id=ana").json()) == 3
    assert mem0.get("/v1/memories/?user_id=ana&page=2&page_size=2").json()["count"] == 3


def test_pages_may_be_asked_for_in_the_body(mem0: APIClient, keep: Add) -> None:
    for number in range(3):
        keep(f"Number {number}.", timestamp=1_700_000_000 + number)
    asked: dict[str, Any] = {"filters": {"user_id": "ana"}, "page": 2, "page_size": 1}
    page = mem0.post("/v3/memories/", asked, format="json").json()
    assert [item["memory"] for item in page["results"]] == ["Number 1."]
    assert (page["count"], "ignored" in page) == (3, False)
    following = mem0.post(page["next"], asked, format="json").json()  # the address goes first
    assert [item["memory"] for item in following["results"]] == ["Number 0."]
    nulls = asked | {"page": None, "page_size": None}
    assert len(mem0.post("/v3/memories/", nulls, format="json").json()["results"]) == 3


def test_pages_lead_to_each_other_with_all_that_was_asked_for(mem0: APIClient, keep: Add) -> None:
    for number in range(3):
        keep(f"Number {number}.", user_id="ana & co", timestamp=1_700_000_000 + number)
    keep("Number 9.")
    asked: dict[str, Any] = {"user_id": "ana & co", "keywords": "number", "page": 1, "page_size": 2}
    first = mem0.get("/v1/memories/", asked).json()
    last = mem0.get(first["next"]).json()
    assert [item["memory"] for item in last["results"]] == ["Number 0."]
    assert mem0.get(last["previous"]).json()["results"] == first["results"]


def test_a_search_scores_filters_and_projects(mem0: APIClient, keep: Add) -> None:
    wanted = keep("Ana plays the violin in an orchestra.", metadata={"k": 1})
    keep("Ana bakes sourdough bread.", metadata={"k": 2})
    (best, *_) = search_memories(mem0, "which instrument does Ana play")
    assert (best["id"], best["user_id"]) == (wanted, "ana")
    assert 0 < best["score"] <= 1
    assert best["score_breakdown"]["semantic"] > 0
    narrowed = search_memories(
        mem0, "what does Ana bake", filters={"user_id": "ana", "metadata": {"k": 1}}
    )
    assert {item["id"] for item in narrowed} <= {wanted}
    assert search_memories(mem0, "does she make music")[0]["score"] < 1
    assert search_memories(mem0, "does she make music", threshold=1.0) == []
    (only,) = search_memories(mem0, "which instrument does Ana play", top_k=1, fields=["memory"])
    assert set(only) == {"id", "memory"}
    far = "quantum chromodynamics lattice"
    assert len(search_memories(mem0, far)) == 2
    assert search_memories(mem0, far, threshold=0.5) == []


def test_a_search_for_more_than_there_can_be_says_that_it_gives_less(
    mem0: APIClient, keep: Add
) -> None:
    keep("Ana sings.")
    asked: dict[str, Any] = {"query": "does Ana sing", "filters": {"user_id": "ana"}}

    def list_ignored(**most: int) -> list[str]:
        answer = mem0.post("/v3/memories/search/", asked | most, format="json")
        assert len(answer.json()["results"]) == 1
        return list(answer.json().get("ignored", []))

    assert list_ignored(top_k=100) == []
    assert list_ignored(top_k=101) == ["top_k"]
    assert list_ignored(limit=500, rerank=1) == ["limit", "rerank"]


PARAPHRASES = [
    ("Ana plays the violin in an orchestra.", "what instrument is she good at"),
    ("Ana is allergic to shellfish.", "anything she can't eat?"),
    ("Ana's landlord is Mr. Okafor.", "who does she rent from"),
    ("Ana drives a grey Fiat Panda.", "what car has she got"),
    ("Ana swims on Tuesday mornings.", "when does she exercise"),
    ("Ana grew up in Trieste.", "where did she spend her childhood"),
    ("Ana works nights at a bakery.", "what does she do for a living"),
    ("Ana has twin daughters.", "how many kids are there"),
    ("Ana is saving for a trip to Iceland.", "what holiday is she putting money aside for"),
    ("Ana takes iron tablets.", "is she on any medication"),
    ("Ana's laptop is a ThinkPad.", "which computer does she use"),
    ("Ana votes in every council election.", "does she take part in elections"),
    ("Ana's sister lives in Lyon.", "does she have family in France"),
    ("Ana broke her wrist last winter.", "any injuries recently"),
    ("Ana reads crime novels in bed.", "which books does she like"),
    ("Ana pays 640 a month for her flat.", "how high is the rent"),
    ("Ana speaks Italian and Slovene.", "which languages does she know"),
    ("Ana cannot stand loud restaurants.", "places to avoid for dinner"),
    ("Ana's dog is called Miro.", "what is the name of her pet"),
    ("Ana wants to become a midwife.", "what is her dream career"),
]


def test_a_search_gives_the_nearest_whatever_words_are_used(mem0: APIClient, keep: Add) -> None:
    wanted = {question: keep(fact) for fact, question in PARAPHRASES}
    for question, memory in wanted.items():
        found = search_memories(mem0, question, top_k=5)
        assert len(found) == 5, question
        assert memory in [each["id"] for each in found], question


def test_a_search_among_several_users_puts_the_best_first(mem0: APIClient, keep: Add) -> None:
    keep("Rui repairs old bicycles.", user_id="rui")
    keep("Ana plays the violin in an orchestra.")
    both = {"OR": [{"user_id": "rui"}, {"user_id": "ana"}]}
    found = search_memories(mem0, "who plays the violin", filters=both)
    assert (found[0]["user_id"], found) == ("ana", sorted(found, key=lambda hit: -hit["score"]))


def test_a_search_of_too_many_users_is_refused(mem0: APIClient, tenant: Tenant) -> None:
    with tenant_scope(tenant.id):
        for number in range(21):
            ensure_space(tenant.id, f"user-{number}")
    names = [f"user-{number}" for number in range(21)]
    body = {"query": "x", "filters": {"user_id": {"in": names}}}
    answer = mem0.post("/v3/memories/search/", body, format="json")
    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (400, "filters")


def test_older_clients_search_with_ids_beside_the_query(mem0: APIClient, keep: Add) -> None:
    wanted = keep("Ana plays the violin in an orchestra.")
    body = {"query": "which instrument does Ana play", "user_id": "ana"}
    assert mem0.post("/v2/memories/search/", body, format="json").json()["results"][0]["id"] == (
        wanted
    )
    assert mem0.post("/v1/memories/search/", body, format="json").json()[0]["id"] == wanted


def test_an_update_keeps_the_id_and_is_told_in_the_history(
    mem0: APIClient, keep: Add, tenant: Tenant
) -> None:
    memory_id = keep("Ana lives in Porto.", metadata={"k": 1})
    path = f"/v1/memories/{memory_id}/"
    told = mem0.put(path, {"text": "Ana lives in Braga.", "metadata": {"k": 2}}, format="json")
    assert (told.json()["id"], told.json()["memory"]) == (memory_id, "Ana lives in Braga.")
    assert mem0.get(path).json()["metadata"] == {"k": 2}
    mem0.put(path, {"metadata": {"k": 3}}, format="json")
    mem0.delete(path)
    assert mem0.get(path).status_code == 404
    history = mem0.get(f"{path}history/").json()
    assert [(h["event"], h["old_memory"], h["new_memory"]) for h in history] == [
        ("ADD", None, "Ana lives in Porto."),
        ("UPDATE", "Ana lives in Porto.", "Ana lives in Braga."),
        ("UPDATE", "Ana lives in Braga.", "Ana lives in Braga."),
        ("DELETE", "Ana lives in Braga.", None),
    ]
    assert history[0]["input"] == [{"role": "user", "content": "Ana lives in Porto."}]
    assert {h["memory_id"] for h in history} == {memory_id}
    with tenant_scope(tenant.id):
        last = EvolutionEvent.objects.order_by("created_at").last()
        assert last is not None
        assert last.actor.startswith("key:")
    undo_event(last, "eva", last.created_at)
    assert mem0.get(path).json()["memory"] == "Ana lives in Braga."


def test_a_change_of_anything_that_clients_see_is_an_update(mem0: APIClient, keep: Add) -> None:
    """A repetition is none, and neither is a search."""
    path = f"/v1/memories/{keep('Ana keeps bees.', metadata={'k': 1})}/"
    kept = mem0.get(path).json()
    assert kept["updated_at"] == kept["created_at"]
    for change in ({"metadata": {"k": 2}}, {"expiration_date": "2090-01-31"}, {"text": "Bees."}):
        before = mem0.get(path).json()["updated_at"]
        told = mem0.put(path, change, format="json").json()
        assert told["updated_at"] > before
        assert told["updated_at"] == mem0.get(f"{path}history/").json()[-1]["updated_at"]
    assert told["created_at"] == kept["created_at"]
    mem0.put(path, {"text": "Bees."}, format="json")
    search_memories(mem0, "bees")
    assert mem0.get(path).json()["updated_at"] == told["updated_at"]
    for test, count in (("gte", 1), ("gt", 0)):
        mine = {"user_id": "ana", "updated_at": {test: told["updated_at"]}}
        listed = mem0.post("/v3/memories/", {"filters": mine}, format="json").json()
        assert listed["count"] == count


def test_what_was_deleted_may_be_added_again(mem0: APIClient) -> None:
    body = {"messages": [LISBON], "user_id": "ana", "async_mode": False}
    (made,) = mem0.post("/v1/memories/", body, format="json").json()["results"]
    mem0.delete(f"/v1/memories/{made['id']}/")
    (again,) = mem0.post("/v1/memories/", body, format="json").json()["results"]
    assert (again["event"], again["id"] != made["id"]) == ("ADD", True)


def test_what_is_immutable_is_not_updated_but_may_be_deleted(mem0: APIClient, keep: Add) -> None:
    path = f"/v1/memories/{keep('The code is 17.', immutable=True)}/"
    answer = mem0.put(path, {"text": "The code is 18."}, format="json")
    assert (answer.status_code, answer.json()["code"]) == (409, "protected")
    assert mem0.get(path).json()["immutable"] is True
    assert mem0.delete(path).status_code == 200
    assert mem0.get(path).status_code == 404


def test_what_is_said_again_is_held_once_if_it_is_read_and_kept_again_if_it_is_not(
    mem0: APIClient, keep: Add, texts: Texts
) -> None:
    body = {"messages": [LISBON], "user_id": "rui", "async_mode": False}
    for event in ("ADD", "NONE"):
        (told,) = mem0.post("/v1/memories/", body, format="json").json()["results"]
        assert told["event"] == event
    keep("One.")
    keep("One.")
    assert texts({"user_id": "ana"}) == ["One.", "One."]


def test_what_has_expired_is_seen_on_request(mem0: APIClient, keep: Add, texts: Texts) -> None:
    mine = {"user_id": "ana"}
    memory_id = keep("Ana is on leave.", timestamp=1_700_000_000, expiration_date="2023-12-24")
    assert texts(mine) == []
    assert texts(mine, show_expired=True) == ["Ana is on leave."]
    assert search_memories(mem0, "is Ana on leave") == []
    (hit,) = search_memories(mem0, "is Ana on leave", show_expired=True)
    assert hit["expiration_date"] == "2023-12-24"
    (then,) = search_memories(mem0, "is Ana on leave", reference_date="2023-12-24T12:00:00Z")
    assert then["id"] == memory_id
    mem0.put(f"/v1/memories/{memory_id}/", {"expiration_date": None}, format="json")
    assert texts(mine) == ["Ana is on leave."]


def test_what_would_be_over_before_it_was_said_is_refused(
    mem0: APIClient, keep: Add, texts: Texts
) -> None:
    over = {"expiration_date": "2023-11-13"}
    path = f"/v1/memories/{keep('One.', timestamp=1_700_000_000)}/"
    mine = {"user_id": "ana", "messages": "Two."}
    for answer in (
        mem0.post("/v3/memories/add/", mine | over, format="json"),
        mem0.post("/v3/memories/add/", mine | over | {"timestamp": 1_700_000_000}, format="json"),
        mem0.put(path, over, format="json"),
    ):
        assert answer.status_code == 400
        assert answer.json()["errors"][0]["field"] == "expiration_date"
    mem0.put(path, {"expiration_date": "2023-11-15"}, format="json")
    later = mem0.put(path, {"timestamp": 1_800_000_000}, format="json")
    assert (later.status_code, later.json()["errors"][0]["field"]) == (400, "timestamp")
    assert texts({"user_id": "ana"}, show_expired=True) == ["One."]


def test_deleting_one_takes_what_it_ended_along_only_if_asked(mem0: APIClient) -> None:
    body = {"user_id": "ana", "async_mode": False}
    for text in ("I drink coffee.", "I no longer drink coffee."):
        mem0.post("/v1/memories/", body | {"messages": text}, format="json")
    mine = {"filters": {"user_id": "ana"}}
    (denial,) = mem0.post("/v3/memories/", mine, format="json").json()["results"]
    told = mem0.delete(f"/v1/memories/{denial['id']}/?delete_linked=true").json()
    assert told["cascade_count"] == 1
    assert (
        mem0.post("/v3/memories/", mine | {"show_expired": True}, format="json").json()["count"]
        == 0
    )


def test_all_of_a_users_memories_are_deleted_in_one_undoable_event(
    mem0: APIClient, keep: Add, texts: Texts, tenant: Tenant
) -> None:
    for text in ("One.", "Two."):
        keep(text)
    keep("Three.", user_id="rui")
    told = mem0.delete("/v1/memories/?user_id=ana").json()
    assert texts({"user_id": "*"}) == ["Three."]
    assert mem0.get(f"/v1/event/{told['event_id']}/").json()["status"] == "SUCCEEDED"
    with tenant_scope(tenant.id):
        event = EvolutionEvent.objects.get(id=told["event_id"])
    undo_event(event, "eva", event.created_at)
    assert texts({"user_id": "ana"}) == ["One.", "Two."]
    assert mem0.delete("/v1/memories/").status_code == 400


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("user_id=ana&colour=red", "colour"),
        ("user_id=ana&run_id=", "run_id"),
        ("user_id=ana&run_id=%20", "run_id"),
        ("user_id=ana&run_id=r%00", "run_id"),
        ("user_id=ana&metadata=red", "metadata"),
        ("user_id=ana&filters=[1]", "filters"),
        ("user_id=ana&filters={'colour': 'red'}", "filters.colour"),
        ('metadata={"team": "red"}', "filters"),
        ("user_id=ana&user_id=", "user_id"),
    ],
)
def test_a_deletion_that_is_not_understood_deletes_nothing(
    mem0: APIClient, keep: Add, texts: Texts, query: str, field: str
) -> None:
    keep("One.", metadata={"team": "red"})
    answer = mem0.delete(f"/v1/memories/?{query}")
    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (400, field)
    assert texts({"user_id": "ana"}) == ["One."]


def test_a_deletion_in_another_project_deletes_nothing(
    mem0: APIClient, keep: Add, texts: Texts, tenant: Tenant
) -> None:
    keep("One.")
    assert mem0.delete("/v1/memories/?user_id=ana&org_id=acme").status_code == 404
    assert texts({"user_id": "ana"}) == ["One."]
    own = f"org_id={tenant.id}&project_id={tenant.id}"
    assert mem0.delete(f"/v1/memories/?user_id=ana&{own}").status_code == 200
    assert texts({"user_id": "ana"}) == []


def test_four_stars_delete_all_that_the_key_reaches(
    mem0: APIClient, keep: Add, texts: Texts, tenant: Tenant, client_of: Any
) -> None:
    keep("One.")
    keep("Two.", agent_id="bot")
    keep("Three.", user_id="rui")
    with tenant_scope(tenant.id):
        rui = Space.objects.get(subject="rui")
    stars = "user_id=*&agent_id=*&app_id=*&run_id=*"
    bound = client_of(tenant, "read", "write", space=rui)
    assert bound.delete(f"/v1/memories/?{stars}").json()["message"] == "1 memory deleted"
    assert texts({"OR": [{"user_id": "*"}, {"agent_id": "*"}]}) == ["One.", "Two."]
    mem0.delete(f"/v1/memories/?{stars}")
    assert texts({"OR": [{"user_id": "*"}, {"agent_id": "*"}]}) == []


def test_a_memory_is_active_until_its_day_has_come(mem0: APIClient, keep: Add) -> None:
    ahead = keep("Ana is on leave.", expiration_date="2090-12-24")
    over = keep("Ana was ill.", timestamp=1_700_000_000, expiration_date="2023-12-24")

    def get_state(memory_id: str) -> str:
        return str(mem0.get(f"/v1/memories/{memory_id}/").json()["lifecycle_state"])

    assert (get_state(ahead), get_state(over)) == ("active", "expired")
    mem0.put(f"/v1/memories/{over}/", {"expiration_date": "2090-12-24"}, format="json")
    assert get_state(over) == "active"


@pytest.mark.parametrize(
    "filters",
    [
        {"user_id": "ana", "metadata": {"k": 1}},
        {"OR": [{"user_id": "ana"}, {"user_id": "rui"}]},
        {"AND": [{"user_id": "ana"}, {"user_id": "rui"}]},
        ["ana"],
        {"AND": 1},
    ],
)
def test_an_add_takes_ids_and_nothing_else_from_filters(mem0: APIClient, filters: Any) -> None:
    body = {"messages": "One.", "infer": False, "filters": filters}
    assert mem0.post("/v3/memories/add/", body, format="json").status_code == 400
    both = {"messages": "One.", "user_id": "rui", "filters": {"user_id": "ana"}}
    assert mem0.post("/v3/memories/add/", both, format="json").status_code == 400


@pytest.mark.parametrize("infer", [True, False])
def test_an_add_that_is_refused_makes_nobody(mem0: APIClient, infer: bool, tenant: Tenant) -> None:
    body = {"messages": [], "infer": infer, "user_id": "nobody-yet"}
    assert mem0.post("/v1/memories/", body, format="json").status_code == 400
    with tenant_scope(tenant.id):
        assert not Space.objects.filter(subject__contains="nobody-yet").exists()


def test_a_batch_is_changed_whole_or_not_at_all(mem0: APIClient, keep: Add, texts: Texts) -> None:
    ids = [keep("One."), keep("Two."), keep("Three.", user_id="rui")]
    changes = [{"memory_id": each, "text": f"New {n}."} for n, each in enumerate(ids)]
    assert mem0.put("/v1/batch/", {"memories": changes}, format="json").status_code == 200
    assert texts({"user_id": "*"}) == ["New 0.", "New 1.", "New 2."]
    foreign = [*changes[:1], {"memory_id": str(Tenant().id), "text": "x"}]
    for call in (mem0.put, mem0.delete):
        refused = call("/v1/batch/", {"memories": foreign}, format="json")
        assert refused.status_code == 404
        assert refused.json()["errors"][0]["field"] == "memories[1].memory_id"
    for field, wrong in (
        ("text", " "),
        ("text", 5),
        ("metadata", [1]),
        ("timestamp", "now"),
        ("expiration_date", "1999-12-31"),
    ):
        several = [*changes[:1], changes[1] | {field: wrong}]
        refused = mem0.put("/v1/batch/", {"memories": several}, format="json")
        assert refused.status_code == 400
        assert refused.json()["errors"][0]["field"] == f"memories[1].{field}"
    kept = keep("Four.", user_id="zoe", immutable=True)
    changes = [{"memory_id": each, "text": "Newer."} for each in ids]
    refused = mem0.put(
        "/v1/batch/",
        {"memories": [*changes, {"memory_id": kept, "text": "Five."}]},
        format="json",
    )
    assert (refused.status_code, refused.json()["code"]) == (409, "protected")
    assert texts({"user_id": "*"}) == ["Four.", "New 0.", "New 1.", "New 2."]
    mem0.delete(f"/v1/memories/{kept}/")
    gone = [{"memory_id": each} for each in ids[:2]]
    assert mem0.delete("/v1/batch/", {"memories": gone}, format="json").status_code == 200
    assert texts({"user_id": "*"}) == ["New 2."]


def test_entities_are_listed_and_erased_for_good(
    mem0: APIClient, keep: Add, tenant: Tenant
) -> None:
    keep("One.", agent_id="bot", run_id="r1", user_id="ana")
    keep("Two.", app_id="shop", user_id="ana/b c")
    listed = mem0.get("/v1/entities/").json()
    assert {(each["type"], each["name"]) for each in listed["results"]} == {
        ("user", "ana"),
        ("user", "ana/b c"),
        ("agent", "bot"),
        ("app", "shop"),
        ("run", "r1"),
    }
    assert (listed["total_users"], listed["count"]) == (2, 5)
    for each in listed["results"]:  # as the client resets itself: in the order listed
        name = each["name"].replace("/", "%2F").replace(" ", "%20")
        answer = mem0.delete(f"/v2/entities/{each['type']}/{name}/")
        assert answer.status_code == 200, answer.content
    assert mem0.get("/v1/entities/").json()["count"] == 0
    with tenant_scope(tenant.id):
        assert not Fact.objects.exists()
        assert not Turn.objects.exclude(text="").exists()
        assert Receipt.objects.count() == 4  # the run had nothing left when its agent had gone
    assert mem0.delete("/v2/entities/user/ana/").status_code == 404
    assert mem0.delete("/v2/entities/planet/ana/").status_code == 404


def test_an_export_is_what_it_was_asked_for(mem0: APIClient, keep: Add) -> None:
    keep("One.")
    keep("Two.", user_id="rui")
    body = {"schema": "{}", "filters": {"user_id": "ana"}}
    more = {"export_instructions": "Be brief."}
    told = mem0.post("/v1/exports/", body | more, format="json").json()
    assert told["ignored"] == ["export_instructions"]
    for wanted in ({"memory_export_id": told["id"]}, {"filters": {"user_id": "ana"}}):
        export = mem0.post("/v1/exports/get/", wanted, format="json").json()
        assert [item["memory"] for item in export["memories"]] == ["One."]
    forged = {"memory_export_id": told["id"][:-2] + "xx"}
    assert mem0.post("/v1/exports/get/", forged, format="json").status_code == 404


def test_where_nothing_is_summed_up_the_latest_memories_stand_for_it(
    mem0: APIClient, keep: Add
) -> None:
    keep("One.")
    keep("Two.", user_id="ana", run_id="r")
    keep("Three.", user_id="rui")

    def sum_up(body: dict[str, Any]) -> list[dict[str, str]]:
        answer = mem0.post("/v1/summary/", body, format="json")
        return list(answer.json()["results"])

    assert sum_up({"filters": {"user_id": "ana"}}) == [{"user_id": "ana", "summary": "Two.\nOne."}]
    narrower = {"filters": {"AND": [{"user_id": "ana"}, {"run_id": "r"}]}}
    assert sum_up(narrower) == [{"user_id": "ana", "summary": "Two."}]
    assert [each["user_id"] for each in sum_up({})] == ["ana", "rui"]


NESTED: dict[str, Any] = {
    "$defs": {"Work": {"type": "object", "properties": {"jobTitle": {"type": "string"}}}},
    "type": "object",
    "properties": {
        "work": {"$ref": "#/$defs/Work"},
        "location": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        "age": {"type": ["integer", "null"]},
        "languages": {"type": "array", "items": {"type": "string"}},
        "facts": {
            "type": "array",
            "items": {"type": "object", "properties": {"content": {"type": "string"}}},
        },
        "shoe_size": {"type": "number"},
        "mood": {"enum": ["glad", "sad"]},
    },
}


def test_a_schema_is_filled_from_what_is_known_of_the_user(mem0: APIClient) -> None:
    said = "I live in Porto. I am 34 years old. I work as a baker. My sister Rita lives in Rome."
    body = {"messages": said, "user_id": "ana", "async_mode": False}
    mem0.post("/v1/memories/", body, format="json")
    asked = {"schema": NESTED, "filters": {"user_id": "ana"}}
    told = mem0.post("/v1/exports/", asked, format="json").json()
    export = mem0.post("/v1/exports/get/", {"memory_export_id": told["id"]}, format="json").json()
    assert export["work"] == {"jobTitle": "baker"}
    assert (export["location"], export["age"], export["shoe_size"]) == ("Porto", 34, None)
    assert (export["languages"], export["mood"]) == ([], None)
    assert any("Porto" in fact["content"] for fact in export["facts"])
    for wrong in ("[", [1], {"properties": {"x": {"description": "y" * 40_000}}}):
        answer = mem0.post("/v1/exports/", asked | {"schema": wrong}, format="json")
        assert answer.json()["errors"][0]["field"] == "schema"


def test_a_schema_is_filled_for_a_user_who_is_called_by_an_id(mem0: APIClient) -> None:
    body = {"messages": "I live in Porto.", "user_id": "u-4711", "async_mode": False}
    mem0.post("/v1/memories/", body, format="json")
    schema = {"type": "object", "properties": {"home_city": {"type": "string"}}}
    asked = {"schema": schema, "filters": {"user_id": "u-4711"}}
    export = mem0.post("/v1/exports/get/", asked, format="json").json()
    assert export == {"home_city": "Porto"}
    assert mem0.get("/v2/entities/user/u-4711/profile/").json()["status"] == "succeeded"


def test_all_memories_of_an_export_are_also_those_that_say_something_of_others(
    mem0: APIClient,
) -> None:
    said = "I live in Porto. My cat is called Bella. Bella is 3 years old."
    body = {"messages": said, "user_id": "u-4711", "async_mode": False}
    mem0.post("/v1/memories/", body, format="json")
    mine = {"filters": {"user_id": "u-4711"}}
    held = mem0.post("/v3/memories/", mine, format="json").json()["results"]
    content = {"type": "object", "properties": {"content": {"type": "string"}}}
    properties = {
        "memories": {"type": "array", "items": {"type": "string"}},
        "facts": {"type": "array", "items": content},
        "age": {"type": "integer"},
    }
    export = mem0.post(
        "/v1/exports/get/", mine | {"schema": {"properties": properties}}, format="json"
    ).json()
    assert export["memories"] == [each["memory"] for each in held]
    assert [each["content"] for each in export["facts"]] == export["memories"]
    assert len(held) == 3
    assert export["age"] is None  # the cat's is not the user's
    assert "age" not in mem0.get("/v2/entities/user/u-4711/profile/").json()["profile"]


@pytest.mark.parametrize("query", ["什么是钨的沸点", "boiling point of tungsten"])
def test_as_many_as_were_asked_for_where_no_meanings_and_words_can_be_compared(
    mem0: APIClient, query: str
) -> None:
    said = "我住在杭州。我养了两只兔子。我不喜欢香菜。"
    body = {"messages": said, "user_id": "u-4711", "async_mode": False}
    mem0.post("/v1/memories/", body, format="json")
    asked = {"query": query, "filters": {"user_id": "u-4711"}, "top_k": 2}
    found = mem0.post("/v3/memories/search/", asked, format="json").json()["results"]
    assert len(found) == 2


@pytest.mark.parametrize(("width", "status"), [(1, 200), (40, 400)])
def test_a_schema_that_refers_to_itself_ends(
    mem0: APIClient, keep: Add, width: int, status: int
) -> None:
    keep("One.")
    loop: dict[str, Any] = {
        "type": "object",
        "properties": {f"p{n}": {"$ref": "#"} for n in range(width)},
    }
    loop["properties"]["facts"] = {"type": "array", "items": {"$ref": "#"}}
    asked = {"schema": loop, "filters": {"user_id": "ana"}}
    assert mem0.post("/v1/exports/get/", asked, format="json").status_code == status


def test_a_profile_is_what_memories_give_its_schema(mem0: APIClient) -> None:
    body = {"messages": "I live in Porto.", "user_id": "ana", "async_mode": False}
    mem0.post("/v1/memories/", body, format="json")
    path, settings = "/v2/entities/user/ana/profile/", "/v2/profiles/settings/"
    assert mem0.get(path).json()["profile"] == {"lives_in": "Porto"}
    schema = {"type": "object", "properties": {"pets": {"type": "string", "description": "Pets"}}}
    changed = {"entities": {"user": {"schema": schema}}}
    assert (
        mem0.post(settings, changed, format="json").json()["entities"]["user"]["schema"] == schema
    )
    told = mem0.get(path).json()
    assert (told["profile"], told["status"]) == ({"pets": None}, "insufficient_data")
    mem0.post(settings, {"enabled": False}, format="json")
    assert mem0.get(path).json()["status"] == "not_enabled"
    cleared = mem0.post(settings, {"entities": {"user": {"schema": None}}}, format="json").json()
    assert (cleared["enabled"], cleared["entities"]["user"]["schema"]) == (False, None)
    of_agents = {"entities": {"agent": {"schema": schema}}}
    assert mem0.post(settings, of_agents, format="json").status_code == 400
    assert mem0.get("/v2/entities/user/nobody/profile/").status_code == 404
    assert mem0.get("/v2/profiles/jobs/x/").status_code == 404


def test_the_latest_feedback_of_a_key_is_kept_and_goes_with_the_memory(
    mem0: APIClient, keep: Add, tenant: Tenant
) -> None:
    memory_id = keep("One.")
    body = {"memory_id": memory_id, "feedback": "POSITIVE"}
    assert mem0.post("/v1/feedback/", body, format="json").json()["feedback"] == "POSITIVE"
    worse = body | {"feedback": "VERY_NEGATIVE", "feedback_reason": "It is two."}
    mem0.post("/v1/feedback/", worse, format="json")
    with tenant_scope(tenant.id):
        kept = Feedback.objects.get()
    assert (kept.verdict, kept.reason) == ("very_negative", "It is two.")
    for wrong in (
        {"feedback": "MEH"},
        {"feedback": "WRONG"},
        {"feedback": 1},
        {"feedback_reason": "x" * 2001},
    ):
        assert mem0.post("/v1/feedback/", body | wrong, format="json").status_code == 400
    mem0.post("/v1/feedback/", body | {"feedback": None}, format="json")
    with tenant_scope(tenant.id):
        assert not Feedback.objects.exists()
    mem0.post("/v1/feedback/", worse, format="json")
    with tenant_scope(tenant.id):
        turn = Turn.objects.select_related("space").get()
    target = erase_targets.ErasureTarget("turns", (turn.id,))
    erase_targets.execute_erasure(turn.space, target, "eva", turn.received_at)
    with tenant_scope(tenant.id):
        assert not Feedback.objects.exists()


def test_a_setting_of_the_project_that_steers_nothing_is_refused_by_name(
    mem0: APIClient, tenant: Tenant
) -> None:
    path = f"/api/v1/orgs/organizations/{tenant.id}/projects/{tenant.id}/"
    sent = {"name": "Mine", "description": "Of the garden", "multilingual": True, "decay": None}
    more = {"org_id": str(tenant.id)}
    assert mem0.patch(path, sent | more, format="json").status_code == 200
    shown = mem0.get(path).json()
    assert {name: shown[name] for name in sent} == sent
    assert mem0.get(f"{path}?fields=name").json() == {"name": "Mine"}
    steering = {"custom_instructions": "Only food.", "custom_categories": [{"a": "b"}], "name": "X"}
    answer = mem0.patch(path, steering, format="json")
    assert answer.status_code == 400
    assert "custom_categories, custom_instructions" in answer.json()["detail"]
    assert mem0.get(f"{path}?fields=name").json() == {"name": "Mine"}
    answer = mem0.patch(path, {"colour": 1}, format="json")
    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (400, "colour")
    assert mem0.get(path.replace(str(tenant.id), "org1", 1)).status_code == 404


@pytest.mark.parametrize(
    ("path", "body", "field"),
    [
        ("/v3/memories/add/", {}, "user_id"),
        ("/v3/memories/add/", {"user_id": "ana"}, "messages"),
        ("/v3/memories/add/", {"user_id": 1, "messages": "x"}, "user_id"),
        ("/v3/memories/add/", {"user_id": "agent:x", "messages": "x"}, "user_id"),
        ("/v3/memories/add/", {"user_id": "a" * 201, "messages": "x"}, "user_id"),
        ("/v3/memories/add/", {"user_id": "\0", "messages": "x"}, "user_id"),
        ("/v3/memories/add/", {"user_id": "a\nb", "messages": "x"}, "user_id"),
        ("/v3/memories/add/", {"agent_id": "a\tb", "messages": "x"}, "agent_id"),
        ("/v3/memories/add/", {"user_id": "a", "run_id": "a\0", "messages": "x"}, "run_id"),
        ("/v3/memories/add/", {"user_id": "a", "messages": []}, "messages"),
        ("/v3/memories/add/", {"user_id": "a", "messages": " \0"}, "messages[0].content"),
        ("/v3/memories/add/", {"user_id": "a", "messages": [1]}, "messages[0]"),
        (
            "/v3/memories/add/",
            {"user_id": "a", "messages": [{"role": "king", "content": "x"}]},
            "messages[0].role",
        ),
        (
            "/v3/memories/add/",
            {"user_id": "a", "messages": {"content": [{"type": "image_url"}]}},
            "messages[0].content",
        ),
        ("/v3/memories/add/", {"user_id": "a", "messages": "x", "metadata": [1]}, "metadata"),
        ("/v3/memories/add/", {"user_id": "a", "messages": "x", "timestamp": "now"}, "timestamp"),
        (
            "/v3/memories/add/",
            {"user_id": "a", "messages": "x", "expiration_date": "2026-13-40"},
            "expiration_date",
        ),
        ("/v3/memories/search/", {"query": "x"}, "filters"),
        ("/v3/memories/search/", {"query": "x", "filters": {"NOT": {"user_id": "a"}}}, "filters"),
        ("/v3/memories/search/", {"query": "x", "filters": {"colour": 1}}, "filters.colour"),
        ("/v3/memories/search/", {"query": " ", "filters": {"user_id": "a"}}, "query"),
        ("/v3/memories/search/", {"query": [], "filters": {"user_id": "a"}}, "query"),
        ("/v3/memories/search/", {"query": "x", "filters": {"user_id": "a"}, "top_k": 0}, "top_k"),
        ("/v3/memories/", {"filters": {"user_id": "a", "created_at": "?"}}, "filters.created_at"),
        ("/v3/memories/", {"filters": {"user_id": "a\0"}}, "filters.user_id"),
        ("/v2/memories/", {"user_id": "a\0"}, "user_id"),
        ("/v2/memories/", {"user_id": "a", "filters": {"run_id": 1}}, "filters.run_id"),
        ("/v3/memories/", {"filters": {"user_id": "a"}, "categories": "x"}, "categories"),
        ("/v3/memories/", {"filters": {"user_id": "a"}, "start_date": "?"}, "start_date"),
        ("/v3/memories/", {"filters": {"user_id": "a"}, "end_date": "?"}, "end_date"),
        ("/v3/memories/", {"filters": {"user_id": "a"}, "keywords": [1]}, "keywords"),
        ("/v3/memories/", {"filters": {"user_id": "a"}, "metadata": [1]}, "metadata"),
        ("/v3/memories/", {"filters": {"user_id": "a"}, "fields": 1}, "fields"),
        ("/v3/memories/?page=0", {"filters": {"user_id": "a"}}, "page"),
        ("/v3/memories/", {"filters": {"user_id": "a"}, "page": 0}, "page"),
        ("/v3/memories/", {"filters": {"user_id": "a"}, "page": True}, "page"),
        ("/v3/memories/", {"filters": {"user_id": "a"}, "page_size": "x"}, "page_size"),
        ("/v3/memories/", {"filters": {"user_id": "a"}, "page_size": [1]}, "page_size"),
        ("/v1/exports/", {}, "filters"),
    ],
)
def test_wrong_input_names_the_field_in_the_shape_the_clients_read(
    mem0: APIClient, path: str, body: dict[str, Any], field: str
) -> None:
    answer = mem0.post(path, body, format="json")
    assert answer.status_code == 400, answer.content
    assert answer["Content-Type"] == "application/json"
    assert answer.json()["errors"][0]["field"] == field
    assert answer.json()["detail"]


@pytest.mark.parametrize(
    "body",
    [{}, {"memories": []}, {"memories": [1]}, {"memories": [{"memory_id": 1}]}, {"memories": {}}],
)
def test_a_batch_of_nothing_is_refused(mem0: APIClient, body: dict[str, Any]) -> None:
    assert mem0.put("/v1/batch/", body, format="json").status_code == 400
    assert mem0.delete("/v1/batch/", body, format="json").status_code == 400


def test_a_repeated_request_with_a_key_adds_once(mem0: APIClient, tenant: Tenant) -> None:
    body = {"messages": [LISBON], "user_id": "ana"}
    first, second = (
        mem0.post("/v3/memories/add/", body, format="json", headers={"Idempotency-Key": "1"})
        for _ in range(2)
    )
    assert first.json() == second.json()
    with tenant_scope(tenant.id):
        assert Turn.objects.count() == 1
