"""The buyer's side: an endpoint that keeps the contract, of two functions.

    buyer = Buyer(bid=lambda ping: Bid("12.50"), post=lambda sent: save(sent.lead))
    application = buyer.wsgi  # or buyer.asgi

It answers POST /v1/ping and /v1/post below where it is mounted.
"""

from __future__ import annotations

import time
from typing import Callable, Optional

from pingpost.buyer._answers import Bid as Bid
from pingpost.buyer._answers import NoBid as NoBid
from pingpost.buyer._answers import Refusal as Refusal
from pingpost.buyer._asgi import AsgiApp, is_async
from pingpost.buyer._buyer import BidFunction, Desk, OnError, PostFunction
from pingpost.buyer._pools import Pools
from pingpost.buyer._request import Credential as Credential
from pingpost.buyer._store import AnswerStore as AnswerStore
from pingpost.buyer._store import MemoryStore as MemoryStore
from pingpost.buyer._store import StoredAnswer as StoredAnswer
from pingpost.buyer._wsgi import WsgiApp

__all__ = ["AnswerStore", "Bid", "Buyer", "Credential", "MemoryStore", "NoBid", "Refusal", "StoredAnswer"]


class Buyer:
    """An endpoint of two functions.

    `bid` is given a PingRequest and returns a Bid, or a NoBid or None. It has until the ping's
    expires_at; after that the answer is a no-bid, `timeout`, and what it returns is dropped.

    `post` is given a LeadDelivery and returns your id of the lead, a text, or a Refusal. It is called
    once for an Idempotency-Key: a repeat is answered with the first answer, out of `store` (left out:
    a MemoryStore, which knows nothing of other processes and forgets when this one ends).

    Where a function raises, the answer is 500 without a word of why, and the exchange sends a post
    again. `on_error` is called with the exception and the request's id; it may quote the lead, so the
    log `pingpost` has only its type and place.

    `credential` is what the exchange shows; None lets everybody in. Functions run in up to `threads`
    threads for bids and as many for posts; under ASGI they may be async.
    """

    def __init__(
        self,
        bid: BidFunction,
        post: PostFunction,
        credential: Optional[Credential] = None,
        *,
        store: Optional[AnswerStore] = None,
        on_error: Optional[OnError] = None,
        threads: int = 32,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._desk = Desk(bid, post, credential, store, on_error, now)
        self._pools = Pools(threads)
        self._asgi = AsgiApp(self._desk, self._pools)

    @property
    def wsgi(self) -> WsgiApp:
        """The WSGI application. Raises TypeError where a function is async."""
        if is_async(self._desk.bid) or is_async(self._desk.post):
            raise TypeError("an async function needs asgi: under WSGI nobody awaits it")
        return WsgiApp(self._desk, self._pools)

    @property
    def asgi(self) -> AsgiApp:
        """The ASGI application."""
        return self._asgi
