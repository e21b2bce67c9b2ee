"""A LangGraph store on a hub: items by namespace and key, found by value and by meaning.

Each item is kept verbatim under a subject of the hub, so that whose it is can be seen, searched
and erased there; which one, `subject` says.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any, TypeVar

from langgraph.store.base import (
    BaseStore,
    GetOp,
    Item,
    ListNamespacesOp,
    MatchCondition,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
    TTLConfig,
    get_text_at_path,
    tokenize_path,
    validate_op_namespace,
)

from memoryhub_client.flows import Flow
from memoryhub_client.transport import AsyncMemoryHub, MemoryHub

Namespace = tuple[str, ...]
Subject = str | Callable[[Namespace], str]
T = TypeVar("T")
# As many operations a request, and rows an operation, as the hub takes.
_MOST_OPS, _MOST_ROWS = 100, 1000


def join_namespace(namespace: Namespace) -> str:
    """("memories", "ana") is the subject "memories/ana"."""
    return "/".join(namespace)


class MemoryHubStore(BaseStore):
    """Give it a `MemoryHub` for both kinds of methods, or an `AsyncMemoryHub` for awaited ones.

    `subject`: whose an item is: one name for all, or a function of the namespace. `index`: paths
    of the values' members that items are found by, where `put` names none; without them it is
    every text in the value. `ttl`: how long items live where `put` does not say.
    """

    supports_ttl = True

    def __init__(
        self,
        hub: MemoryHub | AsyncMemoryHub,
        *,
        subject: Subject = join_namespace,
        index: Sequence[str] | None = None,
        ttl: TTLConfig | None = None,
    ) -> None:
        self._hub = hub
        self._subject = subject
        self._index = list(index) if index is not None else None
        self.ttl_config = ttl

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """All reads see what was there before the writes; of two writes at a place the last counts.

        Raises InvalidNamespaceError, MemoryHubError.
        """
        if isinstance(self._hub, AsyncMemoryHub):
            raise TypeError("this store has an AsyncMemoryHub: await its methods")
        results: list[Result] = self._hub._runner.run(self._run_ops(list(ops)))
        return results

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """The same, awaited; with a `MemoryHub` in a thread of its own."""
        if isinstance(self._hub, MemoryHub):
            return await asyncio.to_thread(self.batch, ops)
        results: list[Result] = await self._hub._runner.run(self._run_ops(list(ops)))
        return results

    def _run_ops(self, ops: Sequence[Op]) -> Flow[list[Result]]:
        for op in ops:
            validate_op_namespace(op)
        asked = [list(self._build_reads(op)) for op in ops]
        told: list[Any] = []
        for several in _split_operations([each for parts in asked for each in parts]):
            told += yield from self._hub.items._read_items(several)
        puts = {(op.namespace, op.key): op for op in ops if isinstance(op, PutOp)}
        for some in _split_operations([self._build_put(op) for op in puts.values()]):
            yield from self._hub.items._write_items(some, None)
        answers = iter(told)
        return [
            _parse_result(op, [next(answers) for _ in parts])
            for op, parts in zip(ops, asked, strict=True)
        ]

    def _build_reads(self, op: Op) -> Iterator[dict[str, Any]]:
        """What the hub is to read for it: several operations where one would be too many rows."""
        if isinstance(op, GetOp):
            place = {"namespace": op.namespace, "key": op.key}
            refresh = {"refresh_ttl": op.refresh_ttl}
            yield {"get": {"subject": self._choose_subject(op.namespace), **place, **refresh}}
        elif isinstance(op, SearchOp):
            for rows in _split_windows(op.limit, op.offset):
                yield {"search": {**self._build_search(op), **rows}}
        elif isinstance(op, ListNamespacesOp):
            ends = _merge_conditions(op.match_conditions or ())
            for rows in _split_windows(op.limit, op.offset) if ends else ():
                asked = {**ends, **self._build_subject_filter(), "max_depth": op.max_depth}
                yield {"namespaces": {**asked, **rows}}
        elif not isinstance(op, PutOp):
            raise TypeError(f"no such operation: {type(op).__name__}")

    def _build_search(self, op: SearchOp) -> dict[str, Any]:
        return {
            "prefix": op.namespace_prefix,
            **self._build_subject_filter(),
            "query": op.query or "",
            "filter": op.filter or {},
            "refresh_ttl": op.refresh_ttl,
        }

    def _build_put(self, op: PutOp) -> dict[str, Any]:
        return {
            "subject": self._choose_subject(op.namespace),
            "namespace": op.namespace,
            "key": op.key,
            "value": None if op.value is None else dict(op.value),
            "texts": self._extract_texts(op),
            "ttl_minutes": op.ttl,
        }

    def _extract_texts(self, op: PutOp) -> list[str] | None:
        paths = self._index if op.index is None else op.index or []
        if paths is None or op.value is None:
            return None
        return [text for path in paths for text in get_text_at_path(op.value, tokenize_path(path))]

    def _choose_subject(self, namespace: Namespace) -> str:
        return self._subject if isinstance(self._subject, str) else self._subject(namespace)

    def _build_subject_filter(self) -> dict[str, str | None]:
        """Of one subject, or of all: a namespace's beginning does not say whose it is."""
        return {"subject": self._subject if isinstance(self._subject, str) else None}


def _split_operations(several: Sequence[T]) -> Iterator[Sequence[T]]:
    return (several[at : at + _MOST_OPS] for at in range(0, len(several), _MOST_OPS))


def _split_windows(limit: int, offset: int) -> Iterator[dict[str, int]]:
    for at in range(0, limit, _MOST_ROWS):
        yield {"limit": min(_MOST_ROWS, limit - at), "offset": offset + at}


def _merge_conditions(conditions: Iterable[MatchCondition]) -> dict[str, list[str]]:
    """All conditions as one beginning and one end; empty where they can't hold together."""
    ends: dict[str, list[str]] = {"prefix": [], "suffix": []}
    for condition in conditions:
        path = [*condition.path]
        held = ends[condition.match_type]
        if condition.match_type == "suffix":
            path, held = path[::-1], held[::-1]
        if any("*" not in pair and pair[0] != pair[1] for pair in zip(path, held, strict=False)):
            return {}
        longer, shorter = sorted([path, held], key=len, reverse=True)
        both = [b if a == "*" else a for a, b in zip(longer, shorter, strict=False)]
        met = both + longer[len(shorter) :]
        ends[condition.match_type] = met[::-1] if condition.match_type == "suffix" else met
    return ends


def _parse_result(op: Op, told: Sequence[Any]) -> Result:
    if isinstance(op, GetOp):
        return Item(**_parse_item_fields(told[0])) if told[0] else None
    if isinstance(op, SearchOp):
        found = [each for several in told for each in several]
        return [SearchItem(**_parse_item_fields(each), score=each["score"]) for each in found]
    if isinstance(op, ListNamespacesOp):
        return [tuple(labels) for several in told for labels in several]
    return None


def _parse_item_fields(told: dict[str, Any]) -> dict[str, Any]:
    return {
        "namespace": tuple(told["namespace"]),
        "key": told["key"],
        "value": told["value"],
        "created_at": datetime.fromisoformat(told["created_at"]),
        "updated_at": datetime.fromisoformat(told["updated_at"]),
    }
