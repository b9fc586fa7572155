"""The buyer's side: an endpoint that implements the contract, built from two functions.

    buyer = Buyer(bid=lambda ping: Bid("12.50"), post=lambda sent: save(sent.lead))
    application = buyer.wsgi  # or buyer.asgi

It serves POST /v1/ping and /v1/post below its mount point.
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
    """A buyer's endpoint, built from two functions.

    `bid` receives a PingRequest and returns a Bid, a NoBid or None. It has until the ping's
    expires_at. After that the answer is a no-bid with the reason `timeout`, and its result is ignored.

    `post` receives a LeadDelivery and returns your id of the lead as text, or a Refusal. It is called
    once per Idempotency-Key: a repeat gets the first answer from `store` (default: a MemoryStore,
    which other processes do not share and which is lost when the process ends).

    If a function raises, the answer is 500 without a reason, and the exchange sends a post again.
    `on_error` is called with the exception and the request's id. The exception may quote the lead, so
    the logger `pingpost` receives only its type and location.

    `credential` is the exchange's credential; None accepts every caller. Functions run in up to
    `threads` threads for bids and as many for posts. Under ASGI they may be async.
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
