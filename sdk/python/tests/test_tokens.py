"""Access tokens: when they are got, by whom, and what is done when one is refused."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Dict

import pytest

import pingpost
from tests.conftest import Caller
from tests.exchange import NO_BID, PING, TOKEN, TOKEN_TWO, Exchange, Says, error

TOKENS, PINGS = "/oauth/token", "/v1/ping"
OAUTH: Dict[str, Any] = {"client_id": "acme", "client_secret": "canary-secret"}


def test_one_for_all_that_follow(exchange: Exchange, caller: Caller) -> None:
    exchange.tell(TOKENS, Says(200, TOKEN))
    exchange.tell(PINGS, Says(200, NO_BID))
    call = caller.client(exchange.url, scopes=["ping", "post"], **OAUTH)
    assert exchange.requests == []
    assert call("send_ping", PING).bid is None
    call("send_ping", PING)
    (asked,) = exchange.of(TOKENS)
    assert asked.json == {"grant_type": "client_credentials", "scope": "ping post", **OAUTH}
    assert "idempotency-key" not in asked.headers
    assert {h.headers["authorization"] for h in exchange.of(PINGS)} == {"Bearer pp_one"}


def test_without_scopes_all_that_the_client_has(exchange: Exchange, caller: Caller) -> None:
    exchange.tell("/auth" + TOKENS, Says(200, TOKEN))
    exchange.tell(PINGS, Says(200, NO_BID))
    caller.client(exchange.url, auth_url=exchange.url + "/auth", **OAUTH)("send_ping", PING)
    (asked,) = exchange.of("/auth" + TOKENS)
    assert "scope" not in asked.json


def test_a_new_one_at_nine_tenths_of_its_time(
    exchange: Exchange, caller: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [1000.0]
    for module in ("_client", "_async_client"):
        monkeypatch.setattr(f"pingpost.{module}.time.monotonic", lambda: now[0])
    exchange.tell(TOKENS, Says(200, dict(TOKEN, expires_in=100)), Says(200, TOKEN_TWO))
    exchange.tell(PINGS, Says(200, NO_BID))
    call = caller.client(exchange.url, **OAUTH)
    call("send_ping", PING)
    now[0] += 89.9
    call("send_ping", PING)
    assert len(exchange.of(TOKENS)) == 1
    now[0] += 0.2
    call("send_ping", PING)
    assert [h.headers["authorization"][-3:] for h in exchange.of(PINGS)] == ["one", "one", "two"]


def test_a_new_one_once_after_it_was_refused(exchange: Exchange, caller: Caller) -> None:
    exchange.tell(TOKENS, Says(200, TOKEN), Says(200, TOKEN_TWO))
    exchange.tell(PINGS, error(401, "unauthorized"), Says(200, NO_BID))
    call = caller.client(exchange.url, **OAUTH)
    call("send_ping", PING)
    first, second = exchange.of(PINGS)
    assert (first.body, first.headers["idempotency-key"]) == (second.body, second.headers["idempotency-key"])
    assert second.headers["authorization"] == "Bearer pp_two"
    assert caller.slept == []
    exchange.tell(PINGS, error(401, "unauthorized"))
    with pytest.raises(pingpost.Unauthorized):
        call("send_ping", PING)
    assert len(exchange.of(PINGS)) == 4
    assert len(exchange.of(TOKENS)) == 3


def test_a_static_token_is_not_fetched(exchange: Exchange, caller: Caller) -> None:
    exchange.tell(PINGS, error(401, "unauthorized"))
    with pytest.raises(pingpost.Unauthorized):
        caller.client(exchange.url, token="sandbox")("send_ping", PING)
    assert [h.path for h in exchange.requests] == [PINGS]


def test_a_secret_that_is_wrong(exchange: Exchange, caller: Caller) -> None:
    exchange.tell(TOKENS, error(401, "invalid_client", error_description="no such client"))
    with pytest.raises(pingpost.Unauthorized) as failed:
        caller.client(exchange.url, **OAUTH)("send_ping", PING)
    assert failed.value.code == "invalid_client"
    assert failed.value.error_description == "no such client"
    assert "canary" not in str(failed.value) + repr(failed.value)
    assert [h.path for h in exchange.requests] == [TOKENS]


def test_fetching_it_is_tried_again(exchange: Exchange, caller: Caller) -> None:
    exchange.tell(TOKENS, error(503, "unavailable"), Says(reset=True), Says(200, TOKEN))
    exchange.tell(PINGS, Says(200, NO_BID))
    caller.client(exchange.url, **OAUTH)("send_ping", PING)
    assert [int(s) for s in caller.slept] == [1, 2]


def test_many_threads_wait_for_one(exchange: Exchange) -> None:
    given = threading.Event()
    exchange.tell(TOKENS, Says(200, TOKEN, wait=given))
    exchange.tell(PINGS, Says(200, NO_BID))
    with pingpost.Client(exchange.url, **OAUTH) as client, ThreadPoolExecutor(8) as pool:
        open_calls = [pool.submit(client.send_ping, PING) for _ in range(8)]
        given.set()
        assert all(call.result(30).bid is None for call in open_calls)
    assert (len(exchange.of(TOKENS)), len(exchange.of(PINGS))) == (1, 8)


def test_many_tasks_wait_for_one(exchange: Exchange) -> None:
    exchange.tell(TOKENS, Says(200, TOKEN))
    exchange.tell(PINGS, Says(200, NO_BID))

    async def eight() -> None:
        async with pingpost.AsyncClient(exchange.url, **OAUTH) as client:
            await asyncio.gather(*[client.send_ping(PING) for _ in range(8)])

    asyncio.run(eight())
    assert (len(exchange.of(TOKENS)), len(exchange.of(PINGS))) == (1, 8)


def test_many_that_are_refused_at_once_get_one_new_one(exchange: Exchange) -> None:
    exchange.tell(TOKENS, Says(200, TOKEN), Says(200, TOKEN_TWO), Says(500, b"a third was asked for"))
    exchange.tell(PINGS, Says(200, NO_BID))
    with pingpost.Client(exchange.url, max_retries=0, **OAUTH) as client, ThreadPoolExecutor(4) as pool:
        client.send_ping(PING)
        all_there = threading.Barrier(4, timeout=30)

        class WaitsForAll(threading.Event):
            def wait(self, timeout: object = None) -> bool:
                all_there.wait()
                return True

        refused = error(401, "unauthorized")
        refused.wait = WaitsForAll()
        exchange.tell(PINGS, *[refused] * 4, Says(200, NO_BID))
        assert all(c.result(30).bid is None for c in [pool.submit(client.send_ping, PING) for _ in range(4)])
    assert len(exchange.of(TOKENS)) == 2


def test_a_client_made_outside_of_any_loop(exchange: Exchange) -> None:
    exchange.tell(TOKENS, Says(200, TOKEN))
    exchange.tell(PINGS, Says(200, NO_BID))
    client = pingpost.AsyncClient(exchange.url, **OAUTH)

    async def both() -> None:
        await asyncio.gather(client.send_ping(PING), client.send_ping(PING))
        await client.aclose()

    asyncio.run(both())
    assert len(exchange.of(TOKENS)) == 1
