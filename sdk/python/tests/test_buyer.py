"""The buyer's endpoint, under WSGI and ASGI, asked by a plain HTTP client."""

from __future__ import annotations

import asyncio
import io
import json
import logging
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from typing import Any, Callable, Dict, Iterator, List, Optional

import httpx
import pytest

import pingpost
from pingpost.buyer import MemoryStore, StoredAnswer
from pingpost.models import LeadDelivery, PingRequest
from tests.exchange import PING
from tests.serving import served, serving

LEAD = {
    "lead_uuid": "lead_1",
    "first_name": "Annabel",
    "last_name": "Canaryson",
    "email": "annabel.canary@example.com",
    "phone": "+14155550123",
}
POST = {
    "auction_id": "auc_1",
    "bid_token": "t1",
    "lead": dict(LEAD, address={"state": "CA"}, roof={"slope": [1.5, None]}),
}
CANARIES = ("anary", "4155550123", "Annabel")

Serve = Callable[..., str]


@pytest.fixture(params=["wsgi", "asgi"])
def flavor(request: pytest.FixtureRequest) -> str:
    flavor: str = request.param
    return flavor


class House:
    """A buyer's two functions, and what they were given."""

    def __init__(self) -> None:
        self.pings: List[PingRequest] = []
        self.posts: List[LeadDelivery] = []
        self.bids: Any = pingpost.Bid("12.50", currency="USD")
        self.says: Any = "B-1"
        self.until: Optional[threading.Event] = None

    def bid(self, ping: PingRequest) -> Any:
        self.pings.append(ping)
        return self._say(self.bids)

    def post(self, sent: LeadDelivery) -> Any:
        self.posts.append(sent)
        return self._say(self.says)

    def _say(self, what: Any) -> Any:
        if self.until is not None:
            self.until.wait(30)
        if isinstance(what, BaseException):
            raise what
        return what


@pytest.fixture
def house() -> House:
    return House()


@pytest.fixture
def ask(house: House, flavor: str) -> Iterator[Callable[..., httpx.Response]]:
    with asking(pingpost.Buyer(house.bid, house.post), flavor) as call:
        yield call


class asking:
    """Serves a buyer; gives a function that posts to it."""

    def __init__(self, buyer: pingpost.Buyer, flavor: str) -> None:
        self._served = served(buyer, flavor)
        self._http = httpx.Client(timeout=60, trust_env=False, verify=False)

    def __enter__(self) -> Callable[..., httpx.Response]:
        url = self._served.__enter__()

        def ask(path: str, body: Any = None, key: Optional[str] = "k", **headers: str) -> httpx.Response:
            named = {name.replace("_", "-"): value for name, value in headers.items()}
            named.setdefault("Content-Type", "application/json")
            if key is not None:
                named["Idempotency-Key"] = key
            content = body if isinstance(body, bytes) else json.dumps(body).encode()
            return self._http.post(url + path, content=content, headers=named)

        return ask

    def __exit__(self, *why: Any) -> None:
        self._http.close()
        self._served.__exit__(None, None, None)


def in_seconds(seconds: float) -> str:
    return (datetime.now(timezone.utc) + timedelta(seconds=seconds)).isoformat()


def test_a_bid(house: House, ask: Any) -> None:
    before = datetime.now(timezone.utc).replace(microsecond=0)
    answer = ask(
        "/v1/ping", dict(PING, roof={"slope": [1.5, None]}, vehicle_count="two"), X_Request_Id="req_of_theirs"
    )
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["x-request-id"] == "req_of_theirs"
    said = answer.json()
    assert said["auction_id"] == "a1"
    assert "reject_reason" not in said
    assert (said["bid"]["amount"], said["bid"]["currency"]) == (12.5, "USD")
    assert b'"amount":12.50,' in answer.content
    assert said["bid"]["bid_token"].startswith("bid_")
    stands = datetime.fromisoformat(said["bid"]["valid_until"].replace("Z", "+00:00")) - before
    assert timedelta(seconds=5) <= stands
    (ping,) = house.pings
    assert (ping.state, ping.tcpa_consent, ping.vehicle_count) == ("CA", True, None)
    assert ping.extra == {"roof": {"slope": [1.5, None]}, "vehicle_count": "two"}


def test_a_bid_that_says_all(house: House, ask: Any) -> None:
    until = datetime(2026, 3, 2, 12, 4, 8, 250000, timezone(timedelta(hours=-5)))
    house.bids = pingpost.Bid(0.000001, "EUR", token="tok-1", valid_until=until, filters_passed=["state"])
    said = ask("/v1/ping", PING).content
    bid = '{"amount":0.000001,"currency":"EUR","bid_token":"tok-1","valid_until":"2026-03-02T17:04:08.25Z"}'
    assert said.decode() == f'{{"auction_id":"a1","bid":{bid},"buyer_filters_passed":["state"]}}'


@pytest.mark.parametrize(
    ("bids", "told"),
    [
        (None, {"reject_reason": "no_bid"}),
        (pingpost.NoBid("state"), {"reject_reason": "state"}),
        (pingpost.NoBid("state", "Not there."), {"reject_reason": "state", "reject_detail": "Not there."}),
    ],
    ids=["None", "a reason", "a detail"],
)
def test_no_bid(house: House, ask: Any, bids: Any, told: Dict[str, str]) -> None:
    house.bids = bids
    answer = ask("/v1/ping", PING)
    assert answer.status_code == 200
    assert answer.json() == dict({"auction_id": "a1", "bid": None}, **told)


def test_a_lead_is_taken(house: House, ask: Any) -> None:
    answer = ask("/v1/post", POST)
    assert (answer.status_code, answer.json()) == (201, {"lead_id": "B-1"})
    (sent,) = house.posts
    assert (sent.auction_id, sent.bid_token, sent.lead.phone) == ("auc_1", "t1", "+14155550123")
    assert sent.lead.extra == {"roof": {"slope": [1.5, None]}}
    assert json.loads(pingpost.to_json(sent)) == POST
    not_auctioned = {name: value for name, value in POST.items() if name != "bid_token"}
    assert ask("/v1/post", not_auctioned, key="k2").status_code == 201
    assert house.posts[1].bid_token is None


def test_a_lead_is_refused(house: House, ask: Any) -> None:
    house.says = pingpost.Refusal("duplicate", "we know them")
    answer = ask("/v1/post", POST, X_Request_Id="req_1")
    assert answer.status_code == 422
    assert answer.json() == {
        "error": "post_rejected", "message": "we know them", "request_id": "req_1", "reason": "duplicate",
    }  # fmt: skip


def test_a_function_that_fails(flavor: str, caplog: pytest.LogCaptureFixture) -> None:
    house, failures = House(), []
    house.bids = house.says = RuntimeError("annabel.canary@example.com +14155550123")
    buyer = pingpost.Buyer(
        house.bid, house.post, on_error=lambda e, request_id: failures.append((e, request_id))
    )
    with caplog.at_level(logging.DEBUG), asking(buyer, flavor) as ask:
        for path, body in (("/v1/ping", PING), ("/v1/post", POST), ("/v1/post", POST)):
            answer = ask(path, body, X_Request_Id="req_1")
            assert answer.status_code == 500
            assert answer.json() == {
                "error": "internal",
                "message": "the buyer could not decide",
                "request_id": "req_1",
            }
        house.says = "B-1"
        assert ask("/v1/post", POST).json() == {"lead_id": "B-1"}
    assert len(house.posts) == 3
    assert [(type(e), r) for e, r in failures] == [(RuntimeError, "req_1")] * 3
    logged = [r.getMessage() for r in caplog.records if r.name == "pingpost"]
    assert len(logged) == 3
    assert "RuntimeError at test_buyer.py:" in logged[0]
    assert not any(canary in caplog.text for canary in CANARIES)


WRONG_RETURNS: List[Any] = [("/v1/ping", PING, 12.5), ("/v1/post", POST, None), ("/v1/post", POST, "")]


@pytest.mark.parametrize(("path", "body", "returned"), WRONG_RETURNS, ids=["a number", "nothing", "empty"])
def test_a_function_that_returns_something_else(
    house: House, ask: Any, path: str, body: Any, returned: Any
) -> None:
    house.bids = house.says = returned
    assert ask(path, body).status_code == 500


def test_a_repeat_is_answered_as_at_first(house: House, ask: Any) -> None:
    first = ask("/v1/post", POST, key='"once"', X_Request_Id="req_1")
    house.says = pingpost.Refusal("duplicate")
    again = ask("/v1/post", POST, key="once", X_Request_Id="req_2")
    assert (again.status_code, again.content) == (201, first.content)
    assert again.headers["x-request-id"] == "req_1"
    assert again.headers["idempotent-replayed"] == "true"
    assert "idempotent-replayed" not in first.headers
    refused = ask("/v1/post", POST, key="twice")
    house.says = "B-2"
    assert ask("/v1/post", POST, key="twice").content == refused.content
    other = ask("/v1/post", dict(POST, auction_id="auc_2"), key="once")
    assert (other.status_code, other.json()["error"]) == (422, "idempotency_key_reused")
    assert len(house.posts) == 2


def test_repeats_at_once_wait_for_the_first(house: House, ask: Any) -> None:
    house.until = threading.Event()
    with ThreadPoolExecutor(5) as pool:
        same = [pool.submit(ask, "/v1/post", POST, "same") for _ in range(3)]
        other_body = pool.submit(ask, "/v1/post", dict(POST, auction_id="auc_2"), "same")
        other_key = pool.submit(ask, "/v1/post", POST, "other")
        while len(house.posts) < 2:
            pass
        house.until.set()
        answers = [call.result(60) for call in [*same, other_key]]
        reused = other_body.result(60)
    statuses = [a.status_code for a in answers]
    # Which of two bodies under one key is first is chance; the other is an error of its sender.
    assert statuses in ([201] * 4, [422] * 3 + [201])
    assert reused.status_code == (422 if statuses[0] == 201 else 201)
    assert len(house.posts) == 2


def test_a_bid_that_is_late(house: House, ask: Any) -> None:
    house.until = threading.Event()
    answer = ask("/v1/ping", dict(PING, expires_at=in_seconds(0.5)))
    assert answer.json()["reject_reason"] == "timeout"
    over = ask("/v1/ping", dict(PING, expires_at=in_seconds(-1)))
    assert over.json()["reject_reason"] == "timeout"
    assert len(house.pings) == 1
    house.until.set()
    for soon in (in_seconds(60), "soon", None, 7):
        assert ask("/v1/ping", dict(PING, expires_at=soon)).json()["bid"]["amount"] == 12.5


MISSING: List[Any] = [
    ("/v1/ping", {}, ["auction_id", "vertical", "state", "tcpa_consent"]),
    ("/v1/ping", dict(PING, auction_id=None), ["auction_id"]),
    ("/v1/ping", dict(PING, vertical="  "), ["vertical"]),
    ("/v1/post", {"bid_token": "t", "lead": {"lead_uuid": "u", "first_name": "A", "email": "e"}},
     ["auction_id", "lead.last_name", "lead.phone"]),
    ("/v1/post", {"auction_id": "a"}, ["lead"]),
]  # fmt: skip


@pytest.mark.parametrize(("path", "body", "fields"), MISSING, ids=[str(m[2]) for m in MISSING])
def test_members_that_are_missing(house: House, ask: Any, path: str, body: Any, fields: List[str]) -> None:
    answer = ask(path, body)
    assert (answer.status_code, answer.json()["error"]) == (422, "invalid_payload")
    found = answer.json()["field_errors"]
    assert [(f["field"], f["code"]) for f in found] == [(name, "missing_required") for name in fields]
    assert all(f["expected"] for f in found)
    assert (house.pings, house.posts) == ([], [])


@pytest.mark.parametrize(
    ("path", "body", "field"),
    [
        ("/v1/ping", dict(PING, tcpa_consent="yes"), "tcpa_consent"),
        ("/v1/ping", dict(PING, state=7), "state"),
        ("/v1/post", dict(POST, lead="x"), "lead"),
        ("/v1/post", dict(POST, lead=dict(LEAD, phone=14155550123)), "lead.phone"),
    ],
    ids=["a flag", "a text", "an object", "within"],
)
def test_members_of_another_type(ask: Any, path: str, body: Any, field: str) -> None:
    (found,) = ask(path, body).json()["field_errors"]
    assert (found["field"], found["code"]) == (field, "wrong_type")


@pytest.mark.parametrize("length", [100_000, 5 << 20])
def test_a_large_body_is_read_so_that_the_answer_arrives(house: House, length: int) -> None:
    sent = io.BytesIO(b"x" * length)
    environ: Any = {"REQUEST_METHOD": "POST", "PATH_INFO": "/v1/post", "CONTENT_TYPE": "application/json",
               "CONTENT_LENGTH": str(length), "HTTP_AUTHORIZATION": "Bearer tok", "HTTP_IDEMPOTENCY_KEY": "k",
               "wsgi.input": sent}  # fmt: skip
    said: List[str] = []
    buyer = pingpost.Buyer(house.bid, house.post, pingpost.Credential(bearer="tok"))

    def start(status: str, *_: Any) -> Any:
        said.append(status)

    b"".join(buyer.wsgi(environ, start))
    assert said[0].startswith("413")
    assert sent.tell() == min(length, 1 << 20)


@pytest.mark.parametrize(("path", "body"), [("/v1/ping", PING), ("/v1/post", POST)], ids=["ping", "post"])
def test_what_is_no_request(house: House, ask: Any, path: str, body: Any) -> None:
    assert_error(ask(path, body, key=None), 422, "invalid_payload", ("Idempotency-Key", "missing_required"))
    assert_error(ask(path, body, key="a b"), 422, "invalid_payload", ("Idempotency-Key", "invalid_format"))
    assert_error(ask(path, body, Content_Type="text/plain"), 415, "unsupported_media_type")
    assert_error(ask(path, dict(body, long="x" * (64 << 10))), 413, "payload_too_large")
    for malformed in (b"", b"{", b"[1]", b'"x"', b'{"a": 1, "a": 1}', b'{"a": NaN}', b'{"a": 1e999}', b"\xff",
                      b'{"a": ' + b"[" * 40 + b"]" * 40 + b"}", b"[" * 60000, b"{} {}"):  # fmt: skip
        assert_error(ask(path, malformed), 400, "malformed_json")
    assert_error(ask(path + "/more", body), 404, "not_found")
    assert (house.pings, house.posts) == ([], [])
    assert ask(path, body, Content_Type="Application/JSON; charset=utf-8").status_code < 300


def assert_error(answer: httpx.Response, status: int, code: str, field: Any = None) -> None:
    said = answer.json()
    assert (answer.status_code, said["error"]) == (status, code)
    assert said["message"]
    assert said["request_id"] == answer.headers["x-request-id"]
    if field is not None:
        assert [(f["field"], f["code"]) for f in said["field_errors"]] == [field]
    assert not any(canary in answer.text for canary in CANARIES)


def test_other_methods(house: House, flavor: str) -> None:
    with served(pingpost.Buyer(house.bid, house.post), flavor) as url:
        for method in ("GET", "PUT", "HEAD"):
            answer = httpx.request(method, url + "/v1/ping", trust_env=False, verify=False)
            assert (answer.status_code, answer.headers["allow"]) == (405, "POST")
            assert answer.headers["x-request-id"]


def test_a_body_in_chunks(house: House, flavor: str) -> None:
    buyer = pingpost.Buyer(house.bid, house.post)
    # Without the validator: to it, what cheroot gives for a body in chunks is not complete.
    application = buyer.wsgi if flavor == "wsgi" else buyer.asgi
    headers = {"Idempotency-Key": "k", "Content-Type": "application/json"}
    with serving(application, flavor) as url:
        for size, status in ((1, 200), (70_000, 413)):
            parts = (part for part in [b'{"long":"', b"x" * size, b'",', json.dumps(PING).encode()[1:]])
            answer = httpx.post(
                url + "/v1/ping", content=parts, headers=headers, trust_env=False, verify=False
            )
            assert answer.status_code == status


def test_a_bearer_token(house: House, flavor: str) -> None:
    credential = pingpost.Credential(bearer="canary-token")
    with asking(pingpost.Buyer(house.bid, house.post, credential), flavor) as ask:
        for shown in ({}, {"Authorization": "Bearer canary-tokenx"}, {"Authorization": "Basic canary-token"},
                      {"x_api_key": "canary-token"}, {"Authorization": "canary-token"}):  # fmt: skip
            answer = ask("/v1/ping", PING, **shown)
            assert_error(answer, 401, "unauthorized")
            assert answer.headers["www-authenticate"] == "Bearer"
        assert ask("/v1/ping", PING, Authorization="bearer canary-token").status_code == 200
    assert "canary" not in repr(credential)


def test_a_static_key(house: House, flavor: str) -> None:
    credential = pingpost.Credential(api_key="canary-key", header="X-Buyer-Key")
    with asking(pingpost.Buyer(house.bid, house.post, credential), flavor) as ask:
        assert ask("/v1/ping", PING, Authorization="Bearer canary-key").status_code == 401
        assert ask("/v1/ping", PING, x_buyer_key="canary-key").status_code == 200


def test_async_functions() -> None:
    seen: List[str] = []

    async def bid(ping: PingRequest) -> pingpost.Bid:
        if ping.zip3 == "999":
            await asyncio.sleep(60)
        return pingpost.Bid(7)

    class Taker:
        async def __call__(self, sent: LeadDelivery) -> str:
            seen.append(sent.lead.lead_uuid)
            await asyncio.sleep(0)
            return "B-1"

    buyer = pingpost.Buyer(bid, Taker())
    with asking(buyer, "asgi") as ask:
        assert ask("/v1/ping", PING).json()["bid"]["amount"] == 7
        late = ask("/v1/ping", dict(PING, zip3="999", expires_at=in_seconds(0.5)))
        assert late.json()["reject_reason"] == "timeout"
        assert ask("/v1/post", POST).json() == {"lead_id": "B-1"}
        assert ask("/v1/post", POST).headers["idempotent-replayed"] == "true"
    assert seen == ["lead_1"]
    with pytest.raises(TypeError, match="asgi"):
        _ = buyer.wsgi


def test_below_another_path(house: House, flavor: str) -> None:
    buyer = pingpost.Buyer(house.bid, house.post)

    def wsgi(environ: Any, start_response: Any) -> Any:
        environ["SCRIPT_NAME"], environ["PATH_INFO"] = "/leads", environ["PATH_INFO"][len("/leads") :]
        return buyer.wsgi(environ, start_response)

    async def asgi(scope: Any, receive: Any, send: Any) -> None:
        await buyer.asgi(dict(scope, root_path="/leads"), receive, send)

    headers = {"Idempotency-Key": "k"}
    with serving(wsgi if flavor == "wsgi" else asgi, flavor) as url:
        answer = httpx.post(url + "/leads/v1/ping", json=PING, headers=headers, trust_env=False, verify=False)
        assert answer.status_code == 200


def test_a_post_goes_on_when_its_caller_has_gone(house: House, flavor: str) -> None:
    house.until = threading.Event()
    buyer = pingpost.Buyer(house.bid, house.post)
    with served(buyer, flavor) as url:
        headers = {"Idempotency-Key": "k"}
        with pytest.raises(httpx.ReadTimeout):
            httpx.post(url + "/v1/post", json=POST, headers=headers, timeout=2, trust_env=False, verify=False)
        house.until.set()
        again = httpx.post(
            url + "/v1/post", json=POST, headers=headers, timeout=60, trust_env=False, verify=False
        )
        assert (again.status_code, again.headers["idempotent-replayed"]) == (201, "true")
    assert len(house.posts) == 1


def test_a_post_goes_on_when_its_framework_cancels_it() -> None:
    taken: List[str] = []

    async def slow(sent: LeadDelivery) -> str:
        taken.append(sent.lead.lead_uuid)
        await asyncio.sleep(0.5)
        return "B-1"

    buyer = pingpost.Buyer(lambda ping: None, slow)

    async def impatient(scope: Any, receive: Any, send: Any) -> None:
        work = asyncio.ensure_future(buyer.asgi(scope, receive, send))
        while scope["type"] == "http" and not taken:  # noqa: ASYNC110  3.9 binds an event to one loop
            await asyncio.sleep(0.01)
        if scope["type"] == "http" and "hurried" not in scope["state"]:
            scope["state"]["hurried"] = True
            work.cancel()
            await asyncio.wait([work])
            await send({"type": "http.response.start", "status": 504, "headers": []})
            await send({"type": "http.response.body", "body": b""})
            return
        await work

    marks: Dict[str, Any] = {}

    async def application(scope: Any, receive: Any, send: Any) -> None:
        await impatient(dict(scope, state=marks), receive, send)

    headers = {"Idempotency-Key": "k"}
    with (
        serving(application, "asgi") as url,
        httpx.Client(headers=headers, timeout=60, trust_env=False) as http,
    ):
        assert http.post(url + "/v1/post", json=POST).status_code == 504
        again = http.post(url + "/v1/post", json=POST)
    assert (again.status_code, again.headers["idempotent-replayed"]) == (201, "true")
    assert taken == ["lead_1"]


class Broken:
    """A store that cannot be reached."""

    def get(self, key: str) -> Optional[StoredAnswer]:
        raise ConnectionError("canary")

    def put(self, key: str, answer: StoredAnswer) -> None:
        raise ConnectionError("canary")


def test_a_store_that_fails(house: House, flavor: str) -> None:
    with asking(pingpost.Buyer(house.bid, house.post, store=Broken()), flavor) as ask:
        assert_error(ask("/v1/post", POST), 500, "internal")
    assert house.posts == []


def test_the_memory_store_is_bounded_in_number_and_in_time() -> None:
    now = [0.0]
    store = MemoryStore(max_answers=2, max_age=100, clock=lambda: now[0])
    answer = StoredAnswer("f", 201, b"{}", "req_1")
    store.put("a", answer)
    now[0] = 60
    store.put("b", answer)
    assert store.get("a") is answer
    now[0] = 100
    assert store.get("a") is None
    store.put("c", answer)
    store.put("d", answer)
    assert (store.get("b"), store.get("c"), len(store)) == (None, answer, 2)


@pytest.mark.parametrize("amount", [-1, 0, "0.0000009", "1000000.01", "x", float("nan"), float("inf"), ""])
def test_a_bid_that_is_none(amount: Any) -> None:
    with pytest.raises(ValueError, match="amount"):
        pingpost.Bid(amount)


def test_a_bid_has_its_limits() -> None:
    assert pingpost.Bid(0.1).amount == Decimal("0.1")
    for token in ("", "a b", "x" * 513):
        with pytest.raises(ValueError, match="token"):
            pingpost.Bid(1, token=token)
    with pytest.raises(ValueError, match="time zone"):
        pingpost.Bid(1, valid_until=datetime(2026, 3, 2))
    for wrong in ({}, {"bearer": "a", "api_key": "b"}, {"bearer": ""}):
        with pytest.raises(ValueError, match="credential"):
            pingpost.Credential(**wrong)
    with pytest.raises(ValueError, match="threads"):
        pingpost.Buyer(lambda _: None, lambda _: "x", threads=0)
