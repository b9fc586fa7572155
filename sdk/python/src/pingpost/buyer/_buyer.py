"""A buyer: two functions, and the contract's rules for an endpoint around them.

Generators decide the answer to a request. They yield the function to run, or the request to wait
for. WSGI executes the steps in its thread, ASGI awaits them. Invariants:

- A post's key is claimed before the lookup in the store and released after the answer is stored.
  So a repeat always finds the claim or the stored answer.
- Only final answers of the function, a receipt or a refusal, are stored. After a failure the answer
  is 500, and the exchange may try again.
- A post continues after its client has disconnected, because the lead may be sold.
"""

from __future__ import annotations

import logging
import os
import threading
import traceback
import uuid
from concurrent.futures import Future
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from hashlib import sha256
from typing import Any, Awaitable, Callable, Dict, Generator, Optional, Tuple, Union

from pingpost._wire import encode
from pingpost.buyer._answers import Bid, NoBid, Refusal
from pingpost.buyer._request import (
    Answer,
    Credential,
    Head,
    answer,
    error,
    key_of,
    read_json,
    read_request,
    refuse_body,
)
from pingpost.buyer._store import AnswerStore, MemoryStore, StoredAnswer
from pingpost.models import LeadDelivery, PingRequest

BidResult = Union[Bid, NoBid, None]
PostResult = Union[str, Refusal]
BidFunction = Callable[[PingRequest], Union[BidResult, Awaitable[BidResult]]]
PostFunction = Callable[[LeadDelivery], Union[PostResult, Awaitable[PostResult]]]
OnError = Callable[[BaseException, str], None]

BID_WINDOW = 5.0
"""Maximum seconds for a bid, also if the ping allows more."""

log = logging.getLogger("pingpost")


class Late(Exception):
    """A function exceeded its time limit."""


@dataclass(frozen=True)
class Run:
    """Run the function. The result is its return value or its exception. After `seconds` the result
    is Late. `pool` names the thread pool; with `here`, no other thread is needed."""

    function: Callable[..., Any]
    arguments: Tuple[Any, ...]
    pool: str
    seconds: Optional[float] = None
    here: bool = False


@dataclass(frozen=True)
class Join:
    """Wait for another request's answer. The result is this answer."""

    flight: Flight


@dataclass(frozen=True)
class Flight:
    """A post in progress: the hash of its body, and its future answer."""

    fingerprint: str
    answer: Future[Answer] = field(default_factory=Future)


Work = Generator[Union[Run, Join], Any, Answer]


class Desk:
    """Answers pings and posts. Safe for concurrent threads and event loops."""

    def __init__(
        self,
        bid: BidFunction,
        post: PostFunction,
        credential: Optional[Credential],
        store: Optional[AnswerStore],
        on_error: Optional[OnError],
        now: Callable[[], float],
    ) -> None:
        self.bid = bid
        self.post = post
        self.credential = credential
        self._store: AnswerStore = MemoryStore() if store is None else store
        self._quick = isinstance(self._store, MemoryStore)
        self._on_error = on_error
        self._now = now
        self._lock = threading.Lock()
        self._flights: Dict[str, Flight] = {}

    def work(self, head: Head, body: Optional[bytes]) -> Work:
        """Answers a request that passed `refuse_head`."""
        refused = refuse_body(head, body)
        if refused is not None or body is None:
            return refused or error(head, 400, "malformed_request", "there is no body")
        members = read_json(head, body)
        if isinstance(members, Answer):
            return members
        if head.path == "/v1/ping":
            return (yield from self._ping(head, members))
        return (yield from self._post_once(head, members, sha256(body).hexdigest()))

    def _ping(self, head: Head, members: Dict[str, Any]) -> Work:
        ping = read_request(head, members, PingRequest)
        if isinstance(ping, Answer):
            return ping
        now = self._now()
        ends = now + BID_WINDOW
        if ping.expires_at is not None:
            ends = min(ends, ping.expires_at.timestamp())
        try:
            if ends <= now:
                raise Late
            decided = yield Run(self.bid, (ping,), "bid", seconds=ends - now)
            body = _bid_body(ping, decided, max(ends, now) + BID_WINDOW)
        except Late:
            late = NoBid("timeout", "no decision before the bid window ended")
            body = _bid_body(ping, late, ends)
        except Exception as e:
            return self._failed(head, "bid", e)
        return answer(200, body, head.request_id())

    def _post_once(self, head: Head, members: Dict[str, Any], fingerprint: str) -> Work:
        key = key_of(head)
        if key is None:
            wrong = read_request(head, members, LeadDelivery)
            assert isinstance(wrong, Answer), "BUG: a request without a key that is right"
            return wrong
        mine = Flight(fingerprint)
        while True:
            with self._lock:
                flight = self._flights.setdefault(key, mine)
            if flight is mine:
                break
            first: Answer = yield Join(flight)
            if flight.fingerprint == fingerprint:
                return _replayed(first) if first.status < 500 else first
        result = error(head, 500, "internal", "the buyer could not decide")
        try:
            result = yield from self._post(head, members, key, fingerprint)
            return result
        finally:
            with self._lock:
                del self._flights[key]
            mine.answer.set_result(result)

    def _post(self, head: Head, members: Dict[str, Any], key: str, fingerprint: str) -> Work:
        try:
            stored: Optional[StoredAnswer] = yield Run(self._store.get, (key,), "post", here=self._quick)
        except Exception as e:
            return self._failed(head, "store", e)
        if stored is not None:
            if stored.fingerprint != fingerprint:
                said = "this Idempotency-Key was used for another body"
                return error(head, 422, "idempotency_key_reused", said)
            return _replayed(answer(stored.status, stored.body, stored.request_id))
        delivery = read_request(head, members, LeadDelivery)
        if isinstance(delivery, Answer):
            return delivery
        try:
            result = _post_answer(head, (yield Run(self.post, (delivery,), "post")))
            kept = StoredAnswer(fingerprint, result.status, result.body, result.headers["X-Request-Id"])
            yield Run(self._store.put, (key, kept), "post", here=self._quick)
        except Exception as e:
            return self._failed(head, "post", e)
        return result

    def _failed(self, head: Head, what: str, failure: Exception) -> Answer:
        """The answer after a failure of the function. The log omits the failure's text, which may quote
        the lead."""
        request_id = head.request_id()
        frames = traceback.extract_tb(failure.__traceback__)
        place = f"{os.path.basename(frames[-1].filename)}:{frames[-1].lineno}" if frames else "?"
        log.error(
            "the buyer's %s failed: %s at %s, request %s", what, type(failure).__name__, place, request_id
        )
        if self._on_error is not None:
            try:
                self._on_error(failure, request_id)
            except Exception as e:
                log.error("on_error failed itself: %s", type(e).__name__)
        return error(head, 500, "internal", "the buyer could not decide")


def _bid_body(ping: PingRequest, decided: Any, stands_until: float) -> bytes:
    body: Dict[str, Any] = {"auction_id": ping.auction_id, "bid": None}
    if decided is None:
        decided = NoBid()
    if isinstance(decided, NoBid):
        body["reject_reason"] = decided.reason
        if decided.detail is not None:
            body["reject_detail"] = decided.detail
    elif isinstance(decided, Bid):
        valid_until = datetime.fromtimestamp(0, timezone.utc) + timedelta(seconds=stands_until)
        body["bid"] = decided.wire(f"bid_{uuid.uuid4().hex}", valid_until.replace(microsecond=0))
        if decided.filters_passed:
            body["buyer_filters_passed"] = list(decided.filters_passed)
    else:
        raise TypeError("the bid function returns a Bid, a NoBid or None")
    return encode(body)


def _post_answer(head: Head, decided: Any) -> Answer:
    if isinstance(decided, Refusal):
        return error(head, 422, "post_rejected", decided.message, more={"reason": decided.reason})
    if not isinstance(decided, str) or not decided:
        raise TypeError("the post function returns your id of the lead, or a Refusal")
    return answer(201, encode({"lead_id": decided}), head.request_id())


def _replayed(first: Answer) -> Answer:
    return Answer(first.status, dict(first.headers, **{"Idempotent-Replayed": "true"}), first.body)
