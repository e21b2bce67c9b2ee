"""A hub of the version before is opened by this code: nothing is lost, and everything goes on."""

from __future__ import annotations

import json
import lzma
from typing import Any

import pytest
from django.core.management import call_command
from rest_framework.test import APIClient

from memoryhub.recall import rerank
from memoryhub.recall.candidates.channels import at_hand
from memoryhub.recall.ranking import fusion, rank, score, select
from memoryhub.recall.ranking.weights import get_shipped_weights
from tests.upgrade.making import FILE, KINDS, QUESTIONS, SINCE, counted

SLOTS = {"s": "subject", "v": "verb", "o": "object", "o2": "indirect_object", "c": "complement"}
# What the rounding of another processor may change of a score (.05), and that vectors are rounded
# token by token since then.
NEAR = 0.1


def get(client: APIClient, path: str, **query: Any) -> Any:
    answer = client.get(f"/api/v1{path}", query)
    assert answer.status_code == 200, answer.content
    return answer.json()


def post(client: APIClient, path: str, **body: Any) -> Any:
    answer = client.post(f"/api/v1{path}", body, format="json")
    assert answer.status_code in (200, 201, 202), answer.content
    return answer.json()


def exported(client: APIClient, query: str = "") -> bytes:
    answer = client.get(f"/api/v1/spaces/ana/export{query}")
    assert answer.status_code == 200
    return b"".join(answer)


@pytest.mark.django_db(databases=["default", "owner"])
def test_every_migration_is_applied_and_none_is_missing(upgraded: None) -> None:
    call_command("migrate", database="owner", check=True, verbosity=0)
    call_command("makemigrations", check=True, dry_run=True, verbosity=0)


@pytest.fixture
def weighed_as_then(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is held is compared, not what has been learned of ranking since."""
    then = get_shipped_weights()
    shipped = then.model_copy(update={"assisted": then.weights})
    monkeypatch.setattr(score, "get_shipped_weights", lambda: shipped)
    for name, value in {"ENOUGH": 0.38, "FLOOR": 0.15}.items():
        monkeypatch.setattr(select, name, value)
    monkeypatch.setattr(rank, "RULES_MARGIN", select.MODEL_MARGIN)
    monkeypatch.setattr(fusion, "ENOUGH", 0.38)
    # Who somebody is, and what tells a kind of thing that is asked for, come first since then.
    monkeypatch.setattr(at_hand, "find_identity", lambda *_: [])
    monkeypatch.setattr(at_hand, "find_asked_kind_facts", lambda *_: [])
    # Nor was what is found read once more.
    monkeypatch.setattr(rerank, "is_reranked", lambda ask: False)


@pytest.mark.parametrize("number", range(len(QUESTIONS)))
@pytest.mark.usefixtures("weighed_as_then")
def test_a_question_finds_what_it_found(
    old: APIClient, answers: dict[str, Any], number: int
) -> None:
    told = answers["searches"][number]
    # Ten, as they all were asked: since then a policy that routes questions has its own number.
    found = post(old, "/search", **{"limit": 10} | told["question"])
    assert found["insufficient"] == told["insufficient"]
    assert found["degraded"] == []
    # What is only near is given since then, and says so.
    before, now = (
        {each["id"]: each for each in side["items"] if each.get("relevant", True)}
        for side in (told, found)
    )
    assert list(now)[:1] == list(before)[:1]
    assert now.keys() == before.keys()
    assert {at: each["text"] for at, each in now.items()} == {
        at: each["text"] for at, each in before.items()
    }
    scores = {at: each["score"] for at, each in before.items()}
    assert {at: each["score"] for at, each in now.items()} == pytest.approx(scores, abs=NEAR)


@pytest.mark.parametrize("subject", ["ana", "lin", "tomas"])
def test_every_row_and_every_change_is_there(
    old: APIClient, answers: dict[str, Any], subject: str
) -> None:
    space = f"/spaces/{subject}"
    totals = {kind: get(old, f"{space}/{kind}", **counted(kind))["total"] for kind in KINDS}
    assert totals == answers["totals"][subject]
    held = get(old, f"{space}/facts", limit=200, as_of=SINCE)["items"]
    told = sorted([each["text"], each["valid_from"], each["valid_to"]] for each in held)
    assert told == answers["facts"][subject]
    events = get(old, f"{space}/events", limit=200)["items"]
    listed = [[each["id"], each["kind"], each["actor"]] for each in events]
    assert listed == answers["events"][subject]


def test_the_history_still_tells_what_a_correction_changed(
    old: APIClient, answers: dict[str, Any]
) -> None:
    event = get(old, f"/spaces/ana/events/{answers['known']['corrected']}")
    wordings = [each["after"]["text"] for each in event["changes"] if each["row_type"] == "fact"]
    assert "Lucía plays the double bass in a trio." in wordings
    undone = get(old, f"/spaces/ana/events/{answers['known']['taken_back']}")
    assert undone["undone_by"] == answers["known"]["taking_back"]


@pytest.mark.parametrize("name", ["corrected", "ended", "retracted", "block_event"])
def test_an_old_change_is_undone_and_redone(
    old: APIClient, answers: dict[str, Any], name: str
) -> None:
    def state() -> list[list[Any]]:
        facts = get(old, "/spaces/ana/facts", limit=200)["items"]
        blocks = get(old, "/spaces/ana/blocks", limit=200)["items"]
        told = [[each["text"], each["valid_to"]] for each in facts]
        return sorted(told + [[each["label"], each["value"]] for each in blocks])

    before = state()
    undone = post(old, f"/spaces/ana/events/{answers['known'][name]}/undo", cascade=True)
    assert state() != before
    made = get(old, "/spaces/ana/events", limit=len(undone["undone"]))["items"]
    for event in made:  # the latest first
        post(old, f"/spaces/ana/events/{event['id']}/undo")
    assert state() == before


def test_what_a_person_took_back_can_be_done_again(old: APIClient, answers: dict[str, Any]) -> None:
    post(old, f"/spaces/ana/events/{answers['known']['taking_back']}/undo")
    facts = get(old, "/spaces/ana/facts", limit=200)["items"]
    assert "Ana Ferreira rents a house in Carabanchel." in {each["text"] for each in facts}


def test_it_can_be_looked_back_to_before_what_was_done_last(
    old: APIClient, answers: dict[str, Any]
) -> None:
    event = get(old, f"/spaces/ana/events/{answers['known']['corrected']}")
    made = event["created_at"]
    then = get(old, "/spaces/ana/as-of", at=made, kind="fact", limit=200)["items"]
    assert "Ana Ferreira moved to Valencia yesterday." not in {e["values"]["text"] for e in then}
    changes = get(old, "/spaces/ana/changes", since=made, kind="fact", limit=200)["items"]
    added = {each["values"].get("text") for each in changes if each["how"] == "added"}
    assert "Ana Ferreira moved to Valencia yesterday." in added


def test_an_export_says_what_the_old_hub_said_in_its_own(old: APIClient) -> None:
    before, now = rows(lzma.decompress(FILE.read_bytes())), rows(exported(old))
    assert before.keys() <= now.keys()
    for at, row in before.items():
        assert {name: now[at].get(name) for name in row} == row


def rows(file: bytes) -> dict[tuple[str, str], dict[str, Any]]:
    """By kind and id, under the columns' present names. The header and the end have no id."""
    lines: list[dict[str, Any]] = [json.loads(line) for line in file.splitlines()]
    return {(each["row"], each["id"]): renamed(each) for each in lines if "id" in each}


def renamed(row: dict[str, Any]) -> dict[str, Any]:
    """A fact's columns were called by a letter; the values that revisions keep, too."""
    claims = row["row"] == "fact" or row.get("row_type") == "fact"
    for values in filter(None, (row, row.get("before"), row.get("after"))):
        for letter in sorted(SLOTS.keys() & values.keys()) if claims else ():
            values[SLOTS[letter]] = values.pop(letter)
    return row


def test_what_is_exported_comes_in_whole_elsewhere(old: APIClient, fresh: APIClient) -> None:
    raw: Any = exported(old, "?embeddings=true")  # its stubs know of text alone
    sent = fresh.generic("POST", "/api/v1/import?subject=eva", raw, "application/x-ndjson")
    assert sent.status_code == 200, sent.content
    report = sent.json()
    assert report["ignored"] == {}
    assert report["vectors"]["to_make"] == 0
    for kind in ("facts", "notes", "events", "episodes", "blocks"):
        mine = get(old, f"/spaces/ana/{kind}", limit=1)["total"]
        theirs = get(fresh, f"/spaces/eva/{kind}", limit=1)["total"]
        assert theirs == mine + (kind == "events")  # one says that it came in
    question = {"query": "Where does Ana live?", "limit": 1, "kinds": ["fact"]}
    (found,) = post(fresh, "/search", subject="eva", **question)["items"]
    assert found["text"] == "Ana Ferreira moved to Valencia yesterday."


def test_a_message_is_erased_with_what_came_of_it(old: APIClient, answers: dict[str, Any]) -> None:
    moved = answers["known"]["moved"]
    post(old, "/spaces/ana/erase", target="turns", ids=[moved])
    facts = {each["text"] for each in get(old, "/spaces/ana/facts", limit=200)["items"]}
    assert "Ana Ferreira moved to Valencia yesterday." not in facts
    assert "Ana Ferreira moved to Madrid last Saturday." in facts
    assert "moved to Valencia" not in exported(old).decode()


def test_what_was_erased_before_stays_erased(old: APIClient, answers: dict[str, Any]) -> None:
    receipts = get(old, "/receipts", limit=200)["items"]
    assert answers["known"]["receipt"] in {each["id"] for each in receipts}
    assert {each["target"] for each in receipts} >= {"turns", "subject"}
    assert old.get("/api/v1/spaces/marcus").status_code == 404


def test_what_was_set_is_still_in_force(old: APIClient) -> None:
    policy = get(old, "/spaces/ana/policy")
    assert policy["overrides"] == {"stm.pages": 9}
    (hook,) = get(old, "/webhooks")["items"]
    assert (hook["name"], hook["events"]) == ("Bakery", ["fact.added"])
    assert {each["name"] for each in get(old, "/keys")["items"]} >= {"operations"}
    (golden,) = get(old, "/spaces/ana/golden")["items"]
    assert golden["text"] == "Where does Ana live?"
    (item,) = get(old, "/spaces/ana/items")["items"]
    assert item["value"] == {"name": "celadon"}
    (block,) = get(old, "/spaces/ana/blocks")["items"]
    assert block["value"] == "Ana teaches pottery.\nShe likes celadon."
    assert get(old, "/imports")["items"][0]["report"]["taken"]["fact"] == 2


def test_what_is_said_now_is_read_beside_what_was_held(old: APIClient) -> None:
    said = {"content": "I moved to Faro yesterday.", "timestamp": "2026-11-20T09:00:00Z"}
    post(old, "/memories", subject="ana", session="ana-14", messages=[said], wait=True)
    facts = get(old, "/spaces/ana/facts", limit=200)["items"]
    homes = [each["text"] for each in facts if each["predicate"] == "lives_in"]
    assert "Ana Ferreira moved to Faro yesterday." in homes
    assert "Ana Ferreira moved to Valencia yesterday." not in homes
