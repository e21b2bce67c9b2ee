"""How the Python client sends, repeats and reads, against a hub that is not there."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest

import memoryhub_client as client
from memoryhub_client import AsyncMemoryHub, MemoryHub, Retries
from memoryhub_client.events import EventReader
from memoryhub_client.flows import Request
from memoryhub_client.rows.models import Fact
from memoryhub_client.transport import KEY as KEY_NAME
from tests.clients.scripted_transport import (
    ScriptedTransport,
    make_client,
    make_list_answer,
    make_problem,
    make_search_answer,
    run_async_client,
)

BROKEN = httpx.ReadError("the connection broke")
DONE = httpx.Response(202, json={"turns": [], "job_id": None, "job": None})


def list_idempotency_keys(answers: ScriptedTransport) -> list[str | None]:
    return [request.headers.get("Idempotency-Key") for request in answers.sent]


def test_one_description_of_a_call_is_carried_out_by_both_clients() -> None:
    now_sent, later_sent = (
        ScriptedTransport(make_search_answer("Ana lives in Lisbon.")),
        ScriptedTransport(make_search_answer("The same.")),
    )
    first = make_client(now_sent).search("ana", "where", limit=None, kinds=["fact"])
    second = run_async_client(
        later_sent, lambda hub: hub.search("ana", "where", limit=None, kinds=["fact"])
    )
    assert (first.items[0].text, second.items[0].text) == ("Ana lives in Lisbon.", "The same.")
    (one,), (other,) = now_sent.sent, later_sent.sent
    assert (one.method, one.url, one.content) == (other.method, other.url, other.content)
    assert one.headers["Authorization"] == "Bearer mh_key"
    body = json.loads(one.content)
    assert (body["limit"], body["kinds"], "as_of" in body) == (None, ["fact"], False)


def test_a_write_is_repeated_with_one_key_until_it_is_answered() -> None:
    answers = ScriptedTransport(BROKEN, make_problem(503, "database_unreachable"), DONE)
    assert make_client(answers).add("ana", "I moved.").turns == []
    keys = list_idempotency_keys(answers)
    assert keys[0]
    assert keys == [keys[0]] * 3
    again = ScriptedTransport(BROKEN, DONE)
    run_async_client(again, lambda hub: hub.add("ana", "I moved.", key="mine"))
    assert list_idempotency_keys(again) == ["mine", "mine"]


def test_two_writes_have_two_keys() -> None:
    answers = ScriptedTransport(DONE)
    hub = make_client(answers)
    hub.add("ana", "One.")
    hub.add("ana", "One.")
    assert len(set(list_idempotency_keys(answers))) == 2


def test_an_earlier_try_that_is_still_worked_on_is_waited_for() -> None:
    answers = ScriptedTransport(make_problem(409, "request_under_way"), DONE)
    make_client(answers).add("ana", "I moved.")
    assert len(answers.sent) == 2


@pytest.mark.parametrize("code", ["already_undone", "version_conflict"])
def test_other_conflicts_are_told_at_once(code: str) -> None:
    answers = ScriptedTransport(make_problem(409, code))
    with pytest.raises(client.Conflict, match=code):
        make_client(answers).add("ana", "I moved.")
    assert len(answers.sent) == 1


def test_what_may_have_happened_and_has_no_key_is_not_repeated() -> None:
    answers = ScriptedTransport(BROKEN)
    with pytest.raises(client.ConnectionFailed):
        make_client(answers).keys.rotate("k")
    assert len(answers.sent) == 1
    unreached = ScriptedTransport(httpx.ConnectError("nobody there"))
    with pytest.raises(client.ConnectionFailed):
        make_client(unreached).keys.rotate("k")
    assert len(unreached.sent) == 4


@pytest.mark.parametrize(
    ("outcome", "tried", "expected"),
    [
        (httpx.Response(429, headers={"Retry-After": "7"}), 1, 7.0),
        (httpx.Response(503, headers={"Retry-After": "7"}), 3, 7.0),
        (httpx.Response(429, headers={"Retry-After": "7"}), 4, None),
        (httpx.Response(429, headers={"Retry-After": "61"}), 1, None),
        (httpx.Response(500), 1, None),
        (httpx.Response(422), 1, None),
        (httpx.Response(200), 1, None),
    ],
)
def test_the_hub_says_when_to_come_back(
    outcome: httpx.Response, tried: int, expected: float | None
) -> None:
    assert Retries().pause(Request("GET", "spaces"), outcome, tried) == expected


def test_pauses_double_and_are_never_all_alike() -> None:
    retries = Retries(times=20, first=1.0, longest=8.0)
    request, bad = Request("GET", "spaces"), httpx.Response(502)
    for tried, most in [(1, 1.0), (2, 2.0), (3, 4.0), (4, 8.0), (15, 8.0)]:
        pauses = {retries.pause(request, bad, tried) for _ in range(20)}
        assert len(pauses) > 1
        assert all(pause is not None and most / 2 <= pause <= most for pause in pauses)


def test_a_throttled_call_ends_in_the_error_with_what_the_hub_said() -> None:
    answers = ScriptedTransport(make_problem(429, "throttled", {"Retry-After": "0"}))
    with pytest.raises(client.Throttled) as told:
        make_client(answers).search("ana", "where")
    assert (len(answers.sent), told.value.retry_after) == (4, 0.0)


ERRORS = [
    (400, client.BadRequest),
    (401, client.NotAuthenticated),
    (403, client.NotAllowed),
    (404, client.NotFound),
    (409, client.Conflict),
    (410, client.Gone),
    (412, client.Outdated),
    (413, client.TooLarge),
    (415, client.BadRequest),
    (422, client.Invalid),
    (500, client.ServerError),
]


@pytest.mark.parametrize(("status", "kind"), ERRORS)
def test_every_status_is_an_error_of_its_kind(status: int, kind: type[client.ProblemError]) -> None:
    with pytest.raises(kind) as told:
        make_client(
            ScriptedTransport(make_problem(status, "some_code", version=4))
        ).spaces.list().page()
    assert type(told.value) is kind
    assert (told.value.status, told.value.code, told.value.request_id) == (
        status,
        "some_code",
        "r-1",
    )
    assert told.value.problem["version"] == 4


def test_an_invalid_field_is_named_with_its_limit() -> None:
    errors = [{"field": "limit", "message": "a whole number from 1 to 200"}]
    with pytest.raises(client.Invalid) as told:
        run_async_client(
            ScriptedTransport(make_problem(422, "invalid", errors=errors)),
            lambda hub: hub.space("a").get(),
        )
    assert told.value.field == "limit"
    assert told.value.errors == [client.FieldError("limit", "a whole number from 1 to 200")]
    assert told.value.detail == "No."


@pytest.mark.parametrize("body", [b"<html>", b"[]", b""])
def test_the_page_of_a_proxy_is_an_error_as_well(body: bytes) -> None:
    with pytest.raises(client.ServerError, match="http_500") as told:
        make_client(ScriptedTransport(httpx.Response(500, content=body))).usage()
    assert (told.value.code, told.value.field) == ("http_500", "")


def test_no_answer_in_time_is_told_apart() -> None:
    with pytest.raises(client.TimedOut) as told:
        make_client(
            ScriptedTransport(httpx.ReadTimeout("too slow")), retries=Retries(times=0)
        ).usage()
    assert isinstance(told.value, client.ConnectionFailed)


def test_timeouts_are_as_long_as_the_hub_may_take() -> None:
    answers = ScriptedTransport(DONE)
    hub = make_client(answers, timeout=5.0)
    hub.add("ana", "I moved.")
    hub.add("ana", "I moved.", wait=True)
    limits = [request.extensions["timeout"]["read"] for request in answers.sent]
    assert limits == [5.0, 40.0]


def test_lists_are_read_page_by_page_and_only_as_far_as_wanted() -> None:
    pages = [
        make_list_answer("1", "2", total=5, after="x"),
        make_list_answer("3", "4", after="y"),
        make_list_answer("5"),
    ]
    answers = ScriptedTransport(*pages)
    facts = make_client(answers).space("ana").facts.list(page_size=2, status="all")
    reading = iter(facts)
    assert [next(reading).id, next(reading).id] == ["1", "2"]
    assert len(answers.sent) == 1
    assert [fact.id for fact in reading] == ["3", "4", "5"]
    asked = [dict(request.url.params) for request in answers.sent]
    shared = {"limit": "2", "status": "all"}
    assert asked == [shared, {**shared, "cursor": "x"}, {**shared, "cursor": "y"}]


def test_a_filter_goes_into_a_body_page_by_page() -> None:
    """Where it may be longer than an address; what breaks off is asked again."""
    page, rest = make_list_answer("1", total=2, after="x"), make_list_answer("2")
    answers = ScriptedTransport(page, httpx.Response(502), rest)
    since = datetime(2026, 5, 1, tzinfo=UTC)
    wanted = {"owner": ["ana", "rui"], "asserted_at": {"gte": since}}
    facts = make_client(answers).space("ana").facts.list(filter=wanted, fields=["id"], reverse=True)
    assert [fact.id for fact in facts] == ["1", "2"]
    assert {(each.method, each.url.path) for each in answers.sent} == {
        ("POST", "/api/v1/spaces/ana/facts/query")
    }
    told = {"owner": ["ana", "rui"], "asserted_at": {"gte": since.isoformat()}}
    shared = {"filter": told, "fields": ["id"], "reverse": True}
    bodies = [json.loads(each.content) for each in answers.sent]
    assert bodies == [shared, *[{**shared, "cursor": "x"}] * 2]


def test_lists_are_read_page_by_page_on_an_event_loop() -> None:
    answers = ScriptedTransport(make_list_answer("1", total=2, after="x"), make_list_answer("2"))

    async def talk(hub: AsyncMemoryHub) -> Any:
        return [fact.id async for fact in hub.space("ana").facts.list()]

    assert run_async_client(answers, talk) == ["1", "2"]


def test_a_page_knows_the_total_and_the_next() -> None:
    page = (
        make_client(ScriptedTransport(make_list_answer("1", total=9, after="x")))
        .space("ana")
        .notes.list()
        .page()
    )
    assert ([row.id for row in page.items], page.total, page.next_cursor) == (["1"], 9, "x")


def test_a_subject_is_one_part_of_the_path_whatever_is_in_its_name() -> None:
    answers = ScriptedTransport(make_list_answer())
    make_client(answers).space("team/ana b?ü#").facts.list().page()
    assert answers.sent[0].url.raw_path == b"/api/v1/spaces/team/ana%20b%3F%C3%BC%23/facts"


def test_what_was_read_has_the_types_that_are_written_down() -> None:
    told = {"id": "f", "valid_from": "2026-05-12T09:00:00Z", "valid_to": None, "new": 1}
    fact = Fact.read({**told, "sources": [{"turn_id": "t", "span": [0, 3]}]})
    assert fact.valid_from == datetime(2026, 5, 12, 9, tzinfo=UTC)
    assert fact.valid_to is None
    assert fact.sources[0].span == [0, 3]
    assert fact.raw["new"] == 1
    assert "valid_to=None" in repr(fact)
    assert fact == Fact.read(dict(fact.raw))
    assert fact != Fact.read({"id": "f"})


def test_what_is_shown_of_answers_is_what_they_hold_and_never_the_key() -> None:
    answers = ScriptedTransport(make_search_answer("Ana lives in Lisbon."))
    hub = make_client(answers)
    assert repr(hub) == "MemoryHub('http://hub')"
    assert "text='Ana lives in Lisbon.'" in repr(hub.search("ana", "where").items[0])
    long = Fact.read({"id": "f", "text": "x" * 5000, "keywords": []})
    assert len(repr(long)) < 200
    assert "keywords" not in repr(long)
    ana = hub.space("ana")
    assert repr(ana) == "<space 'ana' of http://hub>"
    assert repr(ana.facts) == "<Facts at spaces/ana/facts of http://hub>"
    assert repr(ana.facts.list()) == "<Pages of spaces/ana/facts>"
    page = client.Page([Fact.read({"id": "f"})], 17, "next")
    assert repr(page) == "<Page with 1 of 17 rows, next_cursor='next': [Fact(id='f')]>"
    written = client.Written(Fact.read({"id": "f"}), "e", replayed=True)
    assert repr(written) == "Written(Fact(id='f'), event_id='e', replayed=True)"


@pytest.mark.parametrize("verb", ["end", "retract", "forget", "restore", "pin"])
def test_one_fact_has_its_verbs_by_its_id_or_as_it_was_found(verb: str) -> None:
    done = httpx.Response(200, json={"event_id": "e", "fact": {"id": "f", "text": "x"}})
    now, later = ScriptedTransport(done), ScriptedTransport(done)
    ana = make_client(now).space("ana")
    assert getattr(ana.fact("f"), verb)(reason="so").event_id == "e"

    async def talk(hub: AsyncMemoryHub) -> Any:
        return await getattr(hub.space("ana").fact(Fact.read({"id": "f"})), verb)(reason="so")

    assert run_async_client(later, talk).row.id == "f"
    for answers in (now, later):
        assert answers.sent[0].url.path == f"/api/v1/spaces/ana/facts/f/{verb}"
        assert json.loads(answers.sent[0].content)["reason"] == "so"


def test_a_column_that_was_not_asked_for_is_missing_and_not_empty() -> None:
    fact = Fact.read({"id": "f"})
    with pytest.raises(AttributeError):
        _ = fact.text


def test_a_written_row_is_read_from_under_its_name_with_its_event() -> None:
    body = {"event_id": "e", "fact": {"id": "f", "text": "Better.", "version": 2}}
    answers = ScriptedTransport(
        httpx.Response(200, json=body, headers={"Idempotent-Replayed": "true"})
    )
    done = make_client(answers).space("ana").facts.correct("f", "Better.", reason="typo", version=1)
    assert (done.row.text, done.event_id, done.replayed) == ("Better.", "e", True)
    (sent,) = answers.sent
    assert sent.headers["If-Match"] == '"1"'
    assert json.loads(sent.content) == {"text": "Better.", "reason": "typo"}


def make_job_answer(state: str, error: str = "") -> httpx.Response:
    return httpx.Response(200, json={"id": "j", "state": state, "error": error, "decisions": []})


def test_a_job_is_waited_for_until_it_is_done() -> None:
    answers = ScriptedTransport(
        make_job_answer("queued"), make_job_answer("running"), make_job_answer("done")
    )
    assert make_client(answers).jobs.wait("j", every=0).state == "done"
    assert len(answers.sent) == 3


def test_a_job_that_failed_or_takes_too_long_is_an_error() -> None:
    with pytest.raises(client.JobFailed, match="no model") as told:
        make_client(ScriptedTransport(make_job_answer("dead", "no model"))).jobs.wait("j")
    assert (told.value.state, told.value.error) == ("dead", "no model")
    with pytest.raises(client.StillRunning, match="queued"):
        run_async_client(
            ScriptedTransport(make_job_answer("queued")),
            lambda hub: hub.jobs.wait("j", timeout=0, every=0.1),
        )


TOLD = """: hello

event: progress
data: {"id": "j", "state": "running", "unread": 2}

event: timeout
data: {"state": "running"}

"""
ENDED = 'event: end\ndata: {"id": "j",\ndata: "state": "done"}\n\n'


def make_stream_answer(text: str) -> httpx.Response:
    return httpx.Response(200, text=text, headers={"content-type": "text/event-stream"})


def test_progress_goes_on_after_the_hub_let_go() -> None:
    answers = ScriptedTransport(make_stream_answer(TOLD), make_stream_answer(ENDED))
    told = list(make_client(answers).jobs.progress("j"))
    assert [(each.state, each.ended) for each in told] == [("running", False), ("done", True)]
    assert told[0].unread == 2
    assert len(answers.sent) == 2


def test_progress_on_an_event_loop() -> None:
    async def talk(hub: AsyncMemoryHub) -> Any:
        return [each.state async for each in hub.jobs.progress("j")]

    assert run_async_client(ScriptedTransport(make_stream_answer(ENDED)), talk) == ["done"]


def test_events_are_put_together_wherever_the_pieces_end() -> None:
    words = "One.\u2028Two."
    sent = f'event: end\r\ndata: {{"state": "{words}"}}\r\n\r\n'.encode()
    for size in (1, 3, len(sent)):
        events = EventReader(lambda name, data: (name, json.loads(data)["state"]), ends="timeout")
        pieces = [sent[at : at + size] for at in range(0, len(sent), size)]
        assert [told for piece in pieces for told in events.read_piece(piece)] == [("end", words)]


def test_a_file_comes_as_it_was_sent() -> None:
    lines = '{"text": "One.\u2028Two."}\r\n{}'.encode()
    answers = ScriptedTransport(httpx.Response(200, content=lines))
    assert b"".join(make_client(answers).export(embeddings=True)) == lines
    assert str(answers.sent[0].url) == "http://hub/api/v1/export?embeddings=true"

    async def talk(hub: AsyncMemoryHub) -> bytes:
        return b"".join([piece async for piece in hub.space("ana").export()])

    assert run_async_client(ScriptedTransport(httpx.Response(200, content=lines)), talk) == lines


def test_a_file_is_taken_in_once_however_often_it_is_sent() -> None:
    report = httpx.Response(200, json={"dry_run": False, "spaces": []})
    answers = ScriptedTransport(BROKEN, report)
    assert make_client(answers).import_spaces(b"{}\n", subject="eva").spaces == []
    assert [request.content for request in answers.sent] == [b"{}\n"] * 2
    assert list_idempotency_keys(answers) == [list_idempotency_keys(answers)[0]] * 2
    assert answers.sent[0].url.query == b"subject=eva"


@pytest.mark.parametrize(
    "bring", [lambda hub: hub.imports.new("jsonl", "{}"), lambda hub: hub.imports.take("i")]
)
def test_what_another_system_kept_comes_in_once_however_often_it_is_sent(bring: Any) -> None:
    answers = ScriptedTransport(BROKEN, httpx.Response(200, json={"id": "i", "state": "done"}))
    assert bring(make_client(answers)).state == "done"
    assert list_idempotency_keys(answers) == [list_idempotency_keys(answers)[0]] * 2
    assert list_idempotency_keys(answers)[0]


@pytest.mark.parametrize(
    "make",
    [
        lambda hub: hub.keys.new("bot", ["read"]),
        lambda hub: hub.keys.rotate("k"),
        lambda hub: hub.members.new("ida", "viewer"),
        lambda hub: hub.webhooks.new("CRM", "https://crm.example.org", ["fact.added"]),
        lambda hub: hub.webhooks.rotate("w"),
    ],
)
def test_what_is_told_once_is_not_asked_for_twice(make: Any) -> None:
    answers = ScriptedTransport(BROKEN)
    with pytest.raises(client.ConnectionFailed):
        make(make_client(answers))
    assert list_idempotency_keys(answers) == [None]


@pytest.mark.parametrize("reply", [make_problem(404, "not_found")])
def test_progress_of_nothing_is_an_error(reply: Any) -> None:
    with pytest.raises(client.NotFound):
        list(make_client(ScriptedTransport(reply)).jobs.progress("j"))

    async def talk(hub: AsyncMemoryHub) -> Any:
        return [each async for each in hub.jobs.progress("j")]

    with pytest.raises(client.NotFound):
        run_async_client(ScriptedTransport(make_problem(404, "not_found")), talk)


def test_a_stream_that_breaks_is_an_error() -> None:
    with pytest.raises(client.ConnectionFailed):
        list(make_client(ScriptedTransport(BROKEN)).jobs.progress("j"))


def test_the_key_and_the_place_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(KEY_NAME, raising=False)
    with pytest.raises(client.MemoryHubError, match=KEY_NAME):
        MemoryHub()
    monkeypatch.setenv(KEY_NAME, "mh_env")
    monkeypatch.setenv("MEMORYHUB_URL", "http://somewhere:81/")
    answers = ScriptedTransport(make_list_answer())
    with httpx.Client(transport=httpx.MockTransport(answers)) as http, MemoryHub(http=http) as hub:
        hub.spaces.list().page()
    assert str(answers.sent[0].url) == "http://somewhere:81/api/v1/spaces"
    assert answers.sent[0].headers["Authorization"] == "Bearer mh_env"


def test_methods_keep_the_words_of_their_descriptions() -> None:
    assert "best first" in str(make_client(ScriptedTransport(make_search_answer())).search.__doc__)
    assert MemoryHub.search.__doc__ == AsyncMemoryHub.search.__doc__
