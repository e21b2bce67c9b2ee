"""Reading rows, and writing them: what all kinds of rows have in common."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Generic, Literal

import httpx

from memoryhub_client.calls.methods import Listing, M, MethodGroup, Runner, call, pages
from memoryhub_client.flows import Flow, Request, build_idempotency_key
from memoryhub_client.rows.base import Page, R, Written

Time = datetime | str | float
Filter = Mapping[str, Any]
Status = Literal["held", "all"]
# Sent as null; None is left out.
SEND_NULL: Any = object()


class CallGroup(MethodGroup[M]):
    """Requests under a path, with what every write carries."""

    def __init__(self, runner: Runner, path: str) -> None:
        super().__init__(runner)
        self._path = path

    def __repr__(self) -> str:
        return f"<{type(self).__name__} at {self._path or '/'} of {self._runner!r}>"

    def _build_path(self, route: str | None) -> str:
        """Of a route below the group's own; None is that itself."""
        return "/".join(each for each in (self._path or None, route) if each is not None)

    def _fetch_json(self, route: str | None = None, **query: Any) -> Flow[Any]:
        """The JSON of an answer."""
        return self._send_for_json(Request("GET", self._build_path(route), build_query(**query)))

    def _fetch_row(self, row: type[R], route: str | None = None, **query: Any) -> Flow[R]:
        return self._read_row(row, self._fetch_json(route, **query))

    def _read_row(self, row: type[R], asked: Flow[Any]) -> Flow[R]:
        """The answer as a row."""
        told = yield from asked
        return row.read(told)

    def _send_for_json(self, request: Request) -> Flow[Any]:
        answer = yield from self._runner.exchange_request(request)
        return answer.json()

    def _ask(self, route: str, body: Mapping[str, Any], **more: Any) -> Flow[Any]:
        """The JSON of an answer to a question, which changes nothing."""
        path = self._build_path(route)
        return self._send_for_json(Request("POST", path, body=build_body(body), **more))

    def _write_for_json(
        self, route: str | None, body: Mapping[str, Any], **given: Any
    ) -> Flow[Any]:
        """The JSON that a write is answered with; `given` as for `_send_write`."""
        answer = yield from self._send_write(route, body, **given)
        return answer.json()

    def _write_for_row(
        self, row: type[R], route: str | None, body: Mapping[str, Any], **given: Any
    ) -> Flow[R]:
        """The same as a row."""
        return self._read_row(row, self._write_for_json(route, body, **given))

    def _write_for_secret(self, row: type[R], route: str, body: Mapping[str, Any]) -> Flow[R]:
        """A write whose answer has a secret: a repetition would be answered without it."""
        return self._read_row(row, self._ask(route, body, repeatable=False))

    def _send_write(
        self,
        route: str | None,
        body: Mapping[str, Any],
        *,
        key: str | None = None,
        version: int | None = None,
        patience: float = 0.0,
    ) -> Flow[httpx.Response]:
        """A write, once however often it is sent. `version`: only if the row is still in it."""
        headers = {"Idempotency-Key": key or build_idempotency_key()}
        if version is not None:
            headers["If-Match"] = f'"{version}"'
        path, sent = self._build_path(route), build_body(body)
        request = Request("POST", path, body=sent, headers=headers, patience=patience)
        return self._runner.exchange_request(request)

    def _write_with_event(
        self,
        row: type[R],
        route: str,
        body: Mapping[str, Any],
        key: str | None,
        version: int | None = None,
    ) -> Flow[Written[R]]:
        """A write that is answered with the row, under its name."""
        answer = yield from self._send_write(route, body, key=key, version=version)
        told = answer.json()
        shown = next(each for each in told.values() if isinstance(each, dict))
        replayed = "Idempotent-Replayed" in answer.headers
        return Written(row.read(shown), told.get("event_id"), replayed=replayed)

    def _write_named(self, row: type[R], route: str, *given: Any) -> Flow[R]:
        """The same of a write that the history of memories knows nothing of."""
        done = yield from self._write_with_event(row, route, *given)
        return done.row

    def _build_listing(self, row: type[R], route: str | None = None, **query: Any) -> Listing[R]:
        def parse_page(told: Mapping[str, Any]) -> Page[R]:
            items = [row.read(each) for each in told["items"]]
            return Page(items, told.get("total"), told.get("next"))

        path = self._build_path(route)
        request = Request("GET", path, build_query(**query))
        if query.get("filter"):  # it may be longer than an address
            request = Request("POST", f"{path}/query", body=build_body(query))
        return Listing(request, parse_page, self._runner.exchange_request)


class ListCalls(CallGroup[M], Generic[M, R]):
    """A kind of row that can be listed: `row`, unless the class says which."""

    _row: type[R]

    def __init__(self, runner: Runner, path: str, row: type[R] | None = None) -> None:
        super().__init__(runner, path)
        if row is not None:
            self._row = row

    @pages
    def list(
        self,
        *,
        filter: Filter | None = None,
        fields: Sequence[str] | None = None,
        status: Status | None = None,
        reverse: bool = False,
        page_size: int | None = None,
    ) -> Listing[R]:
        """Rows, page by page while they are read.

        `filter`: conditions, as {"owner": "ana", "confidence": {"gte": 0.8}}. `fields`: only
        these columns. `status` "all": also what is held no longer. `page_size`: 1 to 200.
        """
        return self._build_listing(
            self._row,
            filter=filter,
            fields=fields,
            status=status,
            reverse=reverse or None,
            limit=page_size,
        )


class RowCalls(ListCalls[M, R]):
    """A kind of row that can also be read one by one."""

    @call
    def get(self, id: str, *, fields: Sequence[str] | None = None) -> Flow[R]:
        """One row, with what lists leave out."""
        return self._fetch_row(self._row, id, fields=fields)

    def _write_on_row(self, id: str, verb: str, *given: Any) -> Flow[Written[R]]:
        """A write on one row, answered with it."""
        return self._write_with_event(self._row, f"{id}/{verb}", *given)


def build_query(**query: Any) -> dict[str, str]:
    """As a query string has it; None is left out."""
    return {name: _format_query_value(value) for name, value in query.items() if value is not None}


def build_body(body: Mapping[str, Any]) -> dict[str, Any]:
    """As a body has it: times in ISO 8601, and what is not given left out."""
    return {name: _to_json_value(value) for name, value in body.items() if value is not None}


def _to_json_value(value: Any) -> Any:
    if value is SEND_NULL:
        return None
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Mapping):
        return {name: _to_json_value(each) for name, each in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_to_json_value(each) for each in value]
    return value


def _format_query_value(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Mapping):
        return json.dumps(_to_json_value(value))
    if isinstance(value, Sequence) and not isinstance(value, str):
        return ",".join(value)
    return str(_to_json_value(value))
