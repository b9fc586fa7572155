"""Fixtures: an exchange, and a client of either kind behind one face."""

from __future__ import annotations

import asyncio
from typing import Any, Callable, Iterator, List

import pytest

import pingpost
from tests.exchange import Exchange


@pytest.fixture
def exchange() -> Iterator[Exchange]:
    with Exchange() as x:
        yield x


class Caller:
    """Calls by a Client, or by an AsyncClient in a loop of its own, and notes what was waited."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.slept: List[float] = []
        self._loop = asyncio.new_event_loop() if kind == "async" else None
        self._clients: List[Any] = []

    def client(self, url: str, **options: Any) -> Callable[..., Any]:
        """A function that calls a method of a new client: call("send_ping", request, …)."""
        if self._loop is None:
            client: Any = pingpost.Client(url, sleep=self.slept.append, **options)
        else:
            client = pingpost.AsyncClient(url, sleep=self._note, **options)
        self._clients.append(client)

        def call(method: str, *arguments: Any, **named: Any) -> Any:
            result = getattr(client, method)(*arguments, **named)
            return result if self._loop is None else self._loop.run_until_complete(result)

        return call

    async def _note(self, seconds: float) -> None:
        self.slept.append(seconds)

    def close(self) -> None:
        for client in self._clients:
            if self._loop is None:
                client.close()
            else:
                self._loop.run_until_complete(client.aclose())
        if self._loop is not None:
            self._loop.close()


@pytest.fixture(params=["sync", "async"])
def caller(request: pytest.FixtureRequest) -> Iterator[Caller]:
    caller = Caller(request.param)
    yield caller
    caller.close()
