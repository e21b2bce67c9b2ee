"""The LangGraph store does what `BaseStore` promises, as LangGraph's own in-memory store does."""

from __future__ import annotations

from collections.abc import Coroutine, Iterator, Sequence
from typing import Any

import httpx
import pytest
from langgraph.store.base import (
    BaseStore,
    GetOp,
    InvalidNamespaceError,
    ListNamespacesOp,
    MatchCondition,
    PutOp,
    SearchOp,
)
from langgraph.store.memory import InMemoryStore

import memoryhub_client as client
from memoryhub.engines import registry
from memoryhub.tenants.models import Space, Tenant
from memoryhub.tenants.scope import tenant_scope
from memoryhub.tenants.services import create_key, create_tenant
from memoryhub_client import AsyncMemoryHub, MemoryHub
from memoryhub_client.langgraph import MemoryHubStore
from tests.clients.scripted_transport import ScriptedTransport, make_client
from tests.support.event_loop import run_coroutine
from tests.support.hub import TableEmbedder
from tests.support.in_process import serve_in_process

NS = ("memories", "ana")


@pytest.fixture
def tenant(db: None, monkeypatch: pytest.MonkeyPatch) -> Tenant:
    table: dict[str, Sequence[float]] = {"fish": [1.0, 0.0], "train": [0.0, 1.0], "eat": [0.9, 0.1]}
    monkeypatch.setattr(registry, "get_embedder", lambda settings: TableEmbedder(table=table))
    return create_tenant("One", "one")


@pytest.fixture
def hub(tenant: Tenant) -> Iterator[MemoryHub]:
    _, key = create_key(tenant, "store", ["read", "write"])
    with serve_in_process() as line, httpx.Client(transport=line) as http:
        yield MemoryHub("http://testserver", key, http=http)


@pytest.fixture
def ours(hub: MemoryHub) -> MemoryHubStore:
    return MemoryHubStore(hub)


@pytest.fixture(params=["hub", "memory"])
def store(request: pytest.FixtureRequest) -> BaseStore:
    """Both, so that what is expected of the one holds for the other."""
    if request.param == "memory":
        return InMemoryStore()
    found: MemoryHubStore = request.getfixturevalue("ours")
    return found


def collect_keys(found: list[Any]) -> set[str]:
    return {item.key for item in found}


def test_an_item_is_put_got_written_over_and_deleted(store: BaseStore) -> None:
    value = {"text": "likes fish", "n": 1.5, "deep": {"list": [1, None, True]}}
    store.put(NS, "k", value)
    item = store.get(NS, "k")
    assert item is not None
    assert (item.key, item.namespace, item.value) == ("k", NS, value)
    assert item.created_at.tzinfo
    store.put(NS, "k", {"text": "other"})
    again = store.get(NS, "k")
    assert again is not None
    assert again.value == {"text": "other"}
    assert again.updated_at >= item.updated_at
    store.delete(NS, "k")
    assert store.get(NS, "k") is None
    store.delete(NS, "k")


def test_the_same_key_in_two_namespaces_is_two_items(store: BaseStore) -> None:
    store.put(("a", "b"), "k", {"n": 1})
    store.put(("a",), "k", {"n": 2})
    first, second = store.get(("a", "b"), "k"), store.get(("a",), "k")
    assert first is not None
    assert second is not None
    assert (first.value, second.value) == ({"n": 1}, {"n": 2})


@pytest.mark.parametrize(
    ("namespace", "message"),
    [((), "empty"), (("langgraph",), "langgraph"), (("a.b",), "period"), (("",), "empty")],
)
def test_a_bad_namespace_is_refused(
    store: BaseStore, namespace: tuple[str, ...], message: str
) -> None:
    with pytest.raises(InvalidNamespaceError, match=message):
        store.put(namespace, "k", {})


FILTERS: list[tuple[dict[str, Any], set[str]]] = [
    ({"color": "red"}, {"a", "c"}),
    ({"score": {"$gt": 3}}, {"b", "c"}),
    ({"score": {"$gte": 3.5, "$lt": 5}}, {"b"}),
    ({"score": {"$lte": 1}}, {"a"}),
    ({"color": {"$ne": "red"}}, {"b"}),
    ({"color": {"$eq": "red"}, "score": 5}, {"c"}),
    ({"deep": {"x": 1}}, {"a"}),
    ({"missing": "no"}, set()),
]


@pytest.mark.parametrize(("wanted", "found"), FILTERS)
def test_items_are_searched_by_value(
    store: BaseStore, wanted: dict[str, Any], found: set[str]
) -> None:
    store.put(("docs",), "a", {"color": "red", "score": 1, "deep": {"x": 1, "y": 2}})
    store.put(("docs",), "b", {"color": "blue", "score": 3.5, "deep": {"x": 2}})
    store.put(("docs", "more"), "c", {"color": "red", "score": 5, "deep": {}})
    assert collect_keys(store.search(("docs",), filter=wanted)) == found


def test_a_search_is_of_a_prefix_and_goes_on_where_it_stopped(store: BaseStore) -> None:
    for number in range(5):
        store.put(("docs", str(number % 2)), str(number), {"n": number})
    store.put(("other",), "x", {"n": 9})
    assert collect_keys(store.search(("docs",))) == set("01234")
    assert collect_keys(store.search(("docs", "0"))) == set("024")
    assert collect_keys(store.search(())) == set("01234x")
    pages = [store.search(("docs",), limit=2, offset=at) for at in (0, 2, 4, 6)]
    assert [len(page) for page in pages] == [2, 2, 1, 0]
    assert collect_keys([item for page in pages for item in page]) == set("01234")
    assert store.search(("docs",), limit=0) == []


NAMESPACES = [("a", "b", "c"), ("a", "b", "d", "e"), ("a", "b", "d", "i"), ("a", "b", "f"), ("x",)]


@pytest.mark.parametrize(
    "asked",
    [
        {},
        {"prefix": ("a", "b")},
        {"prefix": ("a", "*", "d")},
        {"suffix": ("f",)},
        {"suffix": ("d", "*")},
        {"prefix": ("a", "b"), "max_depth": 3},
        {"max_depth": 1},
        {"limit": 2},
        {"limit": 2, "offset": 3},
        {"prefix": ("nothing",)},
    ],
)
def test_namespaces_are_those_that_the_in_memory_store_tells(
    ours: MemoryHubStore, asked: dict[str, Any]
) -> None:
    memory = InMemoryStore()
    for place in NAMESPACES:
        for store in (ours, memory):
            store.put(place, "k", {"n": 1})
    assert ours.list_namespaces(**asked) == memory.list_namespaces(**asked)


def test_conditions_on_namespaces_hold_together(ours: MemoryHubStore) -> None:
    for place in NAMESPACES:
        ours.put(place, "k", {"n": 1})

    def told(*paths: tuple[str, tuple[str, ...]]) -> Any:
        conditions = tuple(MatchCondition(kind, path) for kind, path in paths)  # type: ignore[arg-type]  # a literal
        return ours.batch([ListNamespacesOp(conditions)])[0]

    assert told(("prefix", ("a", "*", "d")), ("prefix", ("*", "b"))) == NAMESPACES[1:3]
    assert told(("suffix", ("i",)), ("suffix", ("d", "*"))) == [NAMESPACES[2]]
    assert told(("prefix", ("a",)), ("prefix", ("x",))) == []


def test_a_batch_is_answered_in_order_and_reads_what_was_there_before(store: BaseStore) -> None:
    store.put(NS, "old", {"n": 1})
    results = store.batch(
        [
            GetOp(NS, "old"),
            PutOp(NS, "new", {"n": 2}),
            GetOp(NS, "new"),
            SearchOp(NS),
            PutOp(NS, "old", None),
            ListNamespacesOp(),
        ]
    )
    assert isinstance(results[3], list)
    assert [getattr(results[0], "key", None), *results[1:3]] == ["old", None, None]
    assert collect_keys(results[3]) == {"old"}
    assert results[4:] == [None, [NS]]
    assert store.get(NS, "old") is None
    assert collect_keys(store.search(NS)) == {"new"}


def test_the_last_write_of_a_batch_at_a_place_counts(store: BaseStore) -> None:
    store.batch([PutOp(NS, "k", {"n": 1}), PutOp(NS, "k", None), PutOp(NS, "k", {"n": 3})])
    item = store.get(NS, "k")
    assert item is not None
    assert item.value == {"n": 3}


def run_without_loop(talk: Coroutine[Any, Any, Any]) -> Any:
    """What a coroutine that never waits returns: without a loop, so in the test's transaction."""
    with pytest.raises(StopIteration) as end:
        talk.send(None)
    return end.value.value


def test_awaited_methods_do_the_same(store: BaseStore) -> None:
    async def talk() -> Any:
        await store.aput(NS, "k", {"n": 1})
        item = await store.aget(NS, "k")
        assert item is not None
        found = await store.asearch(NS, filter={"n": 1})
        places = await store.alist_namespaces(prefix=("memories",))
        await store.adelete(NS, "k")
        return item.value, collect_keys(found), places, await store.aget(NS, "k")

    # In this thread, where the test's transaction is.
    if isinstance(store, MemoryHubStore):
        batch = store.batch

        async def abatch(ops: Any) -> Any:
            return batch(ops)

        store.abatch = abatch  # type: ignore[method-assign]  # see above
    assert run_without_loop(talk()) == ({"n": 1}, {"k"}, [NS], None)


def test_a_question_finds_what_is_nearest_in_meaning(ours: MemoryHubStore) -> None:
    ours.put(NS, "trip", {"text": "by train"})
    ours.put(NS, "food", {"text": "likes fish"})
    ours.put(NS, "hidden", {"text": "fish again"}, index=False)
    found = ours.search(NS, query="what to eat")
    assert [item.key for item in found] == ["food", "trip", "hidden"]
    assert found[0].score is not None
    assert found[1].score is not None
    assert found[0].score > found[1].score
    assert found[2].score is None
    assert [item.key for item in ours.search(NS, query="eat", limit=1)] == ["food"]


def test_an_index_names_the_members_that_are_searched(hub: MemoryHub) -> None:
    store = MemoryHubStore(hub, index=["title"])
    value = {"title": "by train", "parts": [{"text": "likes fish"}, {"text": "other"}]}
    store.put(NS, "title", value)
    store.put(NS, "parts", value, index=["parts[*].text"])
    assert [item.key for item in store.search(NS, query="eat")] == ["parts", "title"]


def test_a_life_ends_and_reading_lengthens_it(ours: MemoryHubStore, hub: MemoryHub) -> None:
    ours.put(NS, "k", {"n": 1}, ttl=5)
    ours.put(NS, "for ever", {"n": 1}, ttl=None)

    def ends(key: str) -> Any:
        (item,) = hub.space("memories/ana").items.list(filter={"key": key})
        return item.expires_at

    first = ends("k")
    assert ends("for ever") is None
    ours.get(NS, "k", refresh_ttl=False)
    assert ends("k") == first
    ours.get(NS, "k")
    assert ends("k") > first
    with_default = MemoryHubStore(hub, ttl={"default_ttl": 1.0, "refresh_on_read": False})
    with_default.put(NS, "d", {"n": 1})
    default = ends("d")
    with_default.get(NS, "d")
    assert ends("d") == default


def test_items_are_kept_under_the_subject_that_is_wanted(tenant: Tenant, hub: MemoryHub) -> None:
    MemoryHubStore(hub).put(NS, "k", {"n": 1})
    MemoryHubStore(hub, subject="team").put(NS, "k", {"n": 2})
    of_user = MemoryHubStore(hub, subject=lambda namespace: namespace[-1])
    of_user.put(NS, "k", {"n": 3})
    of_user.put(("settings", "rui"), "k", {"n": 4})
    with tenant_scope(tenant.id):
        subjects = set(Space.objects.values_list("subject", flat=True))
    assert subjects == {"memories/ana", "team", "ana", "rui"}
    values = [item.value for item in MemoryHubStore(hub, subject="team").search(())]
    assert values == [{"n": 2}]
    assert len(of_user.search(())) == 4


def test_more_than_a_request_takes_is_sent_in_parts(ours: MemoryHubStore) -> None:
    ours.batch([PutOp(("many",), str(n), {"n": n}, index=False) for n in range(230)])
    assert len(ours.search(("many",), limit=2000)) == 230
    got = ours.batch([GetOp(("many",), str(n)) for n in range(150)])
    assert [getattr(item, "value", None) for item in got] == [{"n": n} for n in range(150)]


def test_a_hub_that_fails_is_an_error_and_not_an_empty_store() -> None:
    store = MemoryHubStore(make_client(ScriptedTransport(httpx.Response(500))))
    with pytest.raises(client.ServerError):
        store.get(NS, "k")
    with pytest.raises(client.ServerError):
        store.search(NS)


def test_an_awaited_hub_can_only_be_awaited() -> None:
    with pytest.raises(TypeError, match="await"):
        MemoryHubStore(AsyncMemoryHub("http://hub", "mh_key")).get(NS, "k")


def test_an_awaited_hub_answers_awaited_methods() -> None:
    answers = ScriptedTransport(httpx.Response(200, json={"results": [None]}))

    async def talk() -> Any:
        async with httpx.AsyncClient(transport=httpx.MockTransport(answers.answer_async)) as http:
            store = MemoryHubStore(AsyncMemoryHub("http://hub", "mh_key", http=http))
            return await store.aget(NS, "k")

    assert run_coroutine(talk()) is None
    assert len(answers.sent) == 1


def test_a_graph_remembers_from_one_thread_to_another(ours: MemoryHubStore) -> None:
    from langgraph.graph import END, START, StateGraph
    from langgraph.runtime import Runtime

    def node(state: dict[str, Any], runtime: Runtime[Any]) -> dict[str, Any]:
        assert runtime.store is not None
        known = [item.value["text"] for item in runtime.store.search(NS, query="eat")]
        runtime.store.put(NS, state["say"], {"text": state["say"]})
        return {"say": "; ".join(known)}

    graph: Any = StateGraph(dict)
    graph.add_node("node", node)
    graph.add_edge(START, "node")
    graph.add_edge("node", END)
    compiled = graph.compile(store=ours)
    assert compiled.invoke({"say": "likes fish"})["say"] == ""
    assert compiled.invoke({"say": "what now"})["say"] == "likes fish"
