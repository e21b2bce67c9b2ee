"""How one description of a call becomes a method of both clients.

A group of calls is written once, `class Facts(Group[M])`, with functions that describe: they
return flows, listings or streams. The decorators below make methods of them that answer at once
on `Group[Sync]`, and that are awaited on `Group[Async]`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import update_wrapper
from typing import Any, Concatenate, Generic, ParamSpec, Protocol, Self, TypeVar, overload

from memoryhub_client.flows import Flow, Request
from memoryhub_client.rows.base import Page, R

P = ParamSpec("P")
T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


class Sync:
    """Marks groups whose methods answer at once."""


class Async:
    """Marks groups whose methods are awaited."""


M = TypeVar("M", Sync, Async)


class Runner(Protocol):
    """What carries descriptions out: the one answers, the other returns something to await."""

    def run(self, flow: Flow[Any]) -> Any: ...

    def stream(self, stream: Stream[Any]) -> Any: ...

    def pages(self, listing: Listing[Any]) -> Any: ...

    def exchange_request(self, request: Request) -> Flow[Any]: ...


class MethodGroup(Generic[M]):
    """Calls that belong together."""

    def __init__(self, runner: Runner) -> None:
        self._runner = runner


@dataclass(frozen=True)
class Listing(Generic[R]):
    """A list to be read page by page. `read` makes a page of its JSON."""

    request: Request
    parse_page: Callable[[Mapping[str, Any]], Page[R]]
    send_request: Callable[[Request], Flow[Any]]

    def fetch_page(self, cursor: str | None) -> Flow[Page[R]]:
        request, at = self.request, {"cursor": cursor} if cursor else {}
        if request.body is not None:
            request = replace(request, body={**request.body, **at})
        else:
            request = replace(request, query={**request.query, **at})
        told = yield from self.send_request(request)
        return self.parse_page(told.json())


@dataclass(frozen=True)
class Stream(Generic[T]):
    """An answer that is read as it comes, by a reader of its own for each time it is asked for."""

    request: Request
    build_reader: Callable[[], PieceReader[T]]


class PieceReader(Protocol[T_co]):
    """`must_repeat`: when the answer is over, it is to be asked for once more."""

    must_repeat: bool

    def read_piece(self, piece: bytes) -> Iterator[T_co]: ...


class Pages(Generic[R]):
    """The rows of a list, fetched page by page while they are iterated over."""

    def __init__(self, runner: Runner, listing: Listing[R]) -> None:
        self._runner = runner
        self._listing = listing

    def __repr__(self) -> str:
        return f"<Pages of {self._listing.request.path}>"

    def page(self, cursor: str | None = None) -> Page[R]:
        """One page: the first, or the one behind a `next_cursor`."""
        page: Page[R] = self._runner.run(self._listing.fetch_page(cursor))
        return page

    def __iter__(self) -> Iterator[R]:
        page = self.page()
        yield from page.items
        while page.next_cursor:
            page = self.page(page.next_cursor)
            yield from page.items


class AsyncPages(Generic[R]):
    """The same for `async for`."""

    def __init__(self, runner: Runner, listing: Listing[R]) -> None:
        self._runner = runner
        self._listing = listing

    def __repr__(self) -> str:
        return f"<AsyncPages of {self._listing.request.path}>"

    async def page(self, cursor: str | None = None) -> Page[R]:
        page: Page[R] = await self._runner.run(self._listing.fetch_page(cursor))
        return page

    async def __aiter__(self) -> AsyncIterator[R]:
        page = await self.page()
        for row in page.items:
            yield row
        while page.next_cursor:
            page = await self.page(page.next_cursor)
            for row in page.items:
                yield row


class _DescribedMethod(Generic[P, T]):
    """A description as an attribute of a class."""

    def __init__(self, describe: Callable[Concatenate[Any, P], T]) -> None:
        self._describe: Callable[..., T] = describe
        # What help() shows of it.
        self.__doc__ = describe.__doc__

    def _bind(self, group: Any, way: str) -> Any:
        """Of a class, itself; of a group, a function for which the runner's `way` carries out what
        is described, with the name and words of the description, for help() and editors."""
        if group is None:
            return self

        def carry_out(*args: Any, **given: Any) -> Any:
            return getattr(group._runner, way)(self._describe(group, *args, **given))

        return update_wrapper(carry_out, self._describe)


class call(_DescribedMethod[P, Flow[T]]):  # noqa: N801  # a decorator
    """Makes a method of a function that returns a flow."""

    @overload
    def __get__(self, group: None, owner: type) -> Self: ...
    @overload
    def __get__(self, group: MethodGroup[Sync], owner: type) -> Callable[P, T]: ...
    @overload
    def __get__(
        self, group: MethodGroup[Async], owner: type
    ) -> Callable[P, Coroutine[Any, Any, T]]: ...

    def __get__(self, group: Any, owner: type) -> Any:
        return self._bind(group, "run")


class pages(_DescribedMethod[P, Listing[R]]):  # noqa: N801  # a decorator
    """Makes a method of a function that returns a listing."""

    @overload
    def __get__(self, group: None, owner: type) -> Self: ...
    @overload
    def __get__(self, group: MethodGroup[Sync], owner: type) -> Callable[P, Pages[R]]: ...
    @overload
    def __get__(self, group: MethodGroup[Async], owner: type) -> Callable[P, AsyncPages[R]]: ...

    def __get__(self, group: Any, owner: type) -> Any:
        return self._bind(group, "pages")


class stream(_DescribedMethod[P, Stream[T]]):  # noqa: N801  # a decorator
    """Makes a method of a function that returns a stream."""

    @overload
    def __get__(self, group: None, owner: type) -> Self: ...
    @overload
    def __get__(self, group: MethodGroup[Sync], owner: type) -> Callable[P, Iterator[T]]: ...
    @overload
    def __get__(self, group: MethodGroup[Async], owner: type) -> Callable[P, AsyncIterator[T]]: ...

    def __get__(self, group: Any, owner: type) -> Any:
        return self._bind(group, "stream")
