"""MemGPT over the API alone: a long session is warned of, flushed, and summed up by its agent."""

from __future__ import annotations

from typing import Any

from memoryhub.tenants.scope import tenant_scope
from personas.models import Window
from personas.window import SUMMARY_PREFIX, WARNING_TEXT
from tests.agents.conftest import RestAgent

EXCHANGES = 30


def fold_in_own_words(data: dict[str, Any]) -> dict[str, Any]:
    """As a model does what it is told: of a window in the first person of its agent."""
    subjects = [m["text"].split()[0] for m in data["messages"] if m.get("role") == "user"]
    if "agent" not in data:
        return {"text": "They talked."}
    before = data["summary"].removesuffix(".") or f"I am {data['agent']} and heard of"
    return {"text": " ".join([before, *subjects]) + "."}


def make_exchange(number: int) -> list[dict[str, Any]]:
    said = f"topic{number} " + " ".join([f"word{number}"] * 29)
    return [
        {"role": "user", "content": said},
        {"role": "assistant", "content": f"answer{number} " + " ".join(["well"] * 29)},
    ]


def list_texts(shown: dict[str, Any]) -> list[str]:
    return [message["content"] for message in shown["messages"]]


def test_thirty_long_exchanges_give_a_warning_a_flush_and_a_summary_in_the_first_person(
    rest: RestAgent,
) -> None:
    rest.hub.set_policy("memgpt", window__context_limit=1000)
    rest.hub.model.allow(fold_summary=fold_in_own_words)
    assert rest.open()["context_limit"] == 1000
    seen = []
    for number in range(EXCHANGES):
        appended = rest.append(*make_exchange(number))
        assert len(appended["turns"]) == 2
        rest.run_due_jobs()
        seen.append(rest.read())
    # Nothing at first; then it is told once, until what is oldest has left.
    warned = [WARNING_TEXT in list_texts(shown) for shown in seen]
    flushed = [shown["head_seq"] > 0 for shown in seen]
    assert (warned[0], flushed[0]) == (False, False)
    assert warned.index(True) < flushed.index(True)
    assert all(list_texts(shown).count(WARNING_TEXT) <= 2 for shown in seen)
    assert all(shown["tokens"] <= 1000 for shown in seen)
    # What left is told by the agent itself, in order and without a gap.
    last = seen[-1]
    assert last["summary"].startswith("I am tutor and heard of topic0 topic1 topic2")
    told = last["summary"].removesuffix(".").split()[6:]
    shown = [text.split()[0] for text in list_texts(last) if text.startswith("topic")]
    assert told + shown == [f"topic{number}" for number in range(EXCHANGES)]
    assert f"{SUMMARY_PREFIX}{last['summary']}" in list_texts(last)
    assert len(told) > EXCHANGES / 2
    with tenant_scope(rest.hub.tenant.id):
        window = Window.objects.get()
        assert window.hidden == 0
        assert window.rolling is not None
        assert window.rolling.text == last["summary"]
    # And nothing is lost: recall has every word of it.
    found = rest.client.post(
        f"/api/v1/spaces/{rest.hub.subject}/tools",
        {"tool": "recall_search", "arguments": {"query": "topic0"}},
        format="json",
    ).json()
    assert "1 of 1, page 1 of 1" in found["result"]


def test_every_way_in_fills_the_same_window(rest: RestAgent) -> None:
    """What is added as memories is warned of and flushed as what is appended."""
    rest.hub.set_policy("memgpt", window__context_limit=1000)
    rest.hub.model.allow(fold_summary=fold_in_own_words)
    for number in range(20):
        body = {"subject": "Ana", "session": "plain", "messages": make_exchange(number)}
        added = rest.client.post("/api/v1/memories", body, format="json")
        assert added.status_code == 202, added.content
        rest.run_due_jobs()
    (row,) = rest.client.get(rest.path).json()["items"]
    assert row["session"] == "plain"
    rest.window_id = row["id"]
    shown = rest.read()
    assert shown["summary"].startswith("I am MemoryHub and heard of topic0")
    asked = {"subject": "Ana", "query": "topic19", "session": "plain"}
    context = rest.client.post("/api/v1/context", asked, format="json").json()
    assert shown["summary"] in context["text"]
    assert "topic0 word0" not in context["text"]
    assert "topic19 word19" in context["text"]


def test_on_demand_a_session_has_a_window_once_somebody_opens_it(rest: RestAgent) -> None:
    rest.hub.set_policy("memgpt", window__mode="on_demand")
    body = {"subject": "Ana", "session": "talk", "messages": make_exchange(0)}
    rest.client.post("/api/v1/memories", body, format="json")
    assert rest.client.get(rest.path).json()["total"] == 0
    rest.open()
    assert "topic0" in " ".join(list_texts(rest.read()))
    rest.client.post("/api/v1/memories", body | {"session": "other"}, format="json")
    assert rest.client.get(rest.path).json()["total"] == 1
    rest.hub.set_policy("memgpt", window__mode="on")
    rest.client.post("/api/v1/memories", body | {"session": "third"}, format="json")
    assert rest.client.get(rest.path).json()["total"] == 2


def test_where_the_policy_keeps_no_windows_none_is_opened(rest: RestAgent) -> None:
    rest.hub.set_policy("memgpt", window__mode="off")
    refused = rest.post("open", 409, session="talk")
    assert refused["code"] == "windows_off"


def test_what_can_not_be_read_is_refused_by_name(rest: RestAgent) -> None:
    rest.open()
    cases: list[tuple[dict[str, Any], str]] = [
        ({"content": " "}, "messages[0].content"),
        ({"content": "x", "tool_calls": [{"id": "1", "name": "look"}]}, "messages[0].tool_calls"),
        ({"content": "x", "tool_call_id": "1"}, "messages[0].tool_call_id"),
        ({"content": "x", "role": "king"}, "messages[0].role"),
    ]
    for message, field in cases:
        refused = rest.post(f"{rest.window_id}/append", 422, messages=[message])
        assert [each["field"] for each in refused["errors"]] == [field]
    refused = rest.post("open", 422, session=" ")
    assert refused["errors"][0]["field"] == "session"
    assert rest.post(f"{rest.hub.tenant.id}/append", 404, messages=[{"content": "x"}])
