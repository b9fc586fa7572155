"""What is sent, what comes back, and what is tried again: for both clients, over sockets."""

from __future__ import annotations

import pickle
import threading
import uuid
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from email.utils import format_datetime
from typing import Any, Dict, List

import pytest

import pingpost
from pingpost import models
from tests.conftest import Caller
from tests.exchange import LEAD, NO_BID, PING, SOLD, Exchange, Says, error

INGEST = "/api/v1/ingest"


def test_a_lead_is_sold(exchange: Exchange, caller: Caller) -> None:
    headers = {
        "X-Request-Id": "req_9",
        "X-RateLimit-Limit": "100",
        "X-RateLimit-Remaining": "99",
        "X-RateLimit-Reset": "1772471047",
    }
    exchange.tell(INGEST, Says(201, SOLD, headers))
    call = caller.client(exchange.url, api_key="key")
    request = models.IngestRequest(
        **LEAD, state="CA", extra={"vehicle_count": 2, "note": {"deep": [1, 2.5, None]}}
    )
    answer = call("ingest_lead", request)
    assert answer.data.status is models.IngestStatus.ACCEPTED
    assert answer.data.price == models.Price(amount=Decimal("10.123456"), currency="USD")
    assert answer.data.reason is None
    assert answer.meta.status == 201
    assert answer.meta.request_id == "req_9"
    assert answer.meta.replayed is False
    assert answer.meta.rate_limit == pingpost.RateLimit(100, 99, 1772471047)
    (heard,) = exchange.requests
    assert heard.json == dict(LEAD, state="CA", vehicle_count=2, note={"deep": [1, 2.5, None]})
    assert heard.headers["x-api-key"] == "key"
    assert heard.headers["content-type"] == "application/json"
    assert heard.headers["user-agent"].startswith(f"pingpost-python/{pingpost.__version__}")
    assert uuid.UUID(heard.headers["idempotency-key"]).version == 4
    assert heard.headers["idempotency-key"] == answer.meta.idempotency_key
    assert "authorization" not in heard.headers
    assert "x-pingpost-test" not in heard.headers


@pytest.mark.parametrize(
    ("credential", "method", "wanted"),
    [
        ({"token": "t"}, "ingest_lead", "/api/v1/ingest needs a client with api_key"),
        ({"api_key": "key"}, "seed_leads", "/v1/dev/seed needs a client with client_id"),
    ],
)
def test_a_credential_of_another_kind_is_not_sent(
    exchange: Exchange, caller: Caller, credential: Dict[str, str], method: str, wanted: str
) -> None:
    body = LEAD if method == "ingest_lead" else {"count": 100, "vertical": "auto", "state": "CA"}
    with pytest.raises(ValueError, match=wanted):
        caller.client(exchange.url, **credential)(method, body)
    assert not exchange.requests


def test_a_test_lead_under_a_key_of_ones_own(exchange: Exchange, caller: Caller) -> None:
    exchange.tell(INGEST, Says(201, SOLD, {"X-Pingpost-Test": "1", "Idempotent-Replayed": "true"}))
    answer = caller.client(exchange.url + "/", api_key="key")(
        "ingest_lead", LEAD, test=True, idempotency_key="k-1"
    )
    assert (answer.meta.test, answer.meta.replayed, answer.meta.idempotency_key) == (True, True, "k-1")
    (heard,) = exchange.requests
    assert heard.headers["x-pingpost-test"] == "1"
    assert heard.headers["idempotency-key"] == "k-1"


LEAD_BODY: Dict[str, Any] = {
    "id": "lead_1",
    "status": "thought_over",
    "campaign_id": "c",
    "auction_id": None,
    "buyer_id": None,
    "price": None,
    "reason": None,
    "delivery": "by_pigeon",
    "return": "waiting",
    "created_at": "2026-03-02T17:04:05.25Z",
    "more": {"a": [1]},
}


def test_leads_are_read(exchange: Exchange, caller: Caller) -> None:
    exchange.tell("/v1/leads/lead%2F1", Says(200, LEAD_BODY))
    exchange.tell("/api/v1/leads/lead_1", Says(200, {"data": LEAD_BODY}))
    call = caller.client(exchange.url, token="t")
    lead = call("get_lead", "lead/1")
    assert not lead.status.known
    assert lead.status == "thought_over"
    assert lead.return_ is models.ReturnState.WAITING
    assert lead.created_at == datetime(2026, 3, 2, 17, 4, 5, 250000, timezone.utc)
    assert lead.extra == {"more": {"a": [1]}}
    assert lead.to_dict() == dict(LEAD_BODY, created_at=lead.created_at)
    supplied = caller.client(exchange.url, api_key="key")("get_supplied_lead", "lead_1")
    assert supplied.data == lead
    assert [h.headers.get("idempotency-key") for h in exchange.requests] == [None, None]


REPORT = "/v1/leads/lead_1/status"
EACH: List[Any] = [
    ("check_availability", ({"flo_campaign_id": "c", "flo_supplier_id": "s"},), "/api/v1/ping", True,
     {"data": {"ping_id": "ping_1", "campaign_id": "c", "accepted": False, "buyers": [], "expires_at": "2026-03-02T17:04:05Z"}}),
    ("send_ping", (PING,), "/v1/ping", True, NO_BID),
    ("send_post", ({"auction_id": "a", "bid_token": "b", "lead": {}},), "/v1/post", True,
     {"auction_id": "a", "lead_id": None, "id": "lead_1", "status": "ACCEPTED", "buyer_id": "b",
      "price": {"amount": 1, "currency": "USD"}}),
    ("report_status", ("lead_1", {"status": "sold"}), REPORT, True, {"lead_id": "lead_1", "status": "sold"}),
    ("report_statuses", ({"changes": []},), "/v1/leads/status", True, {"results": [{"lead_id": None}]}),
    ("seed_leads", ({"count": 100, "vertical": "v", "state": "CA"},), "/v1/dev/seed", False,
     {"count": 100, "vertical": "v", "state": "CA", "seed": 1, "leads": []}),
    ("create_token", ({"grant_type": "client_credentials"},), "/oauth/token", False,
     {"access_token": "x", "token_type": "Bearer", "expires_in": 5, "scope": ""}),
]  # fmt: skip


@pytest.mark.parametrize(("method", "arguments", "path", "keyed", "answer"), EACH, ids=[e[0] for e in EACH])
def test_each_call_has_its_path(
    exchange: Exchange, caller: Caller, method: str, arguments: Any, path: str, keyed: bool, answer: Any
) -> None:
    exchange.tell(path, Says(200, answer))
    by_key = path.startswith("/api/")
    credential = {"api_key": "key"} if by_key else {"token": "tok"}
    got = caller.client(exchange.url, **credential)(method, *arguments)
    assert pingpost.to_json(got) == pingpost.to_json(type(got).from_dict(answer))
    assert set(got.to_dict()) == set(answer)
    (heard,) = exchange.requests
    assert (heard.method, heard.path) == ("POST", path)
    assert heard.json == arguments[-1]
    assert ("idempotency-key" in heard.headers) is keyed
    assert heard.headers.get("authorization") == (
        None if by_key or method == "create_token" else "Bearer tok"
    )


PASSING = [
    Says(500, b"<html>"),
    error(502, "buyer_unavailable"),
    error(503, "unavailable"),
    error(429, "rate_limited"),
    Says(reset=True),
    Says(201, b'{"data"', short=True),
]


@pytest.mark.parametrize("fault", PASSING, ids=["500", "502", "503", "429", "reset", "half a body"])
def test_what_passes_is_tried_again(exchange: Exchange, caller: Caller, fault: Says) -> None:
    exchange.tell(INGEST, fault, fault, Says(201, SOLD))
    answer = caller.client(exchange.url, api_key="key")("ingest_lead", LEAD)
    assert answer.data.id == "lead_1"
    assert_waits(caller.slept, [1, 2])
    assert len(exchange.requests) == 3
    assert len({(h.body, h.headers["idempotency-key"]) for h in exchange.requests}) == 1


def assert_waits(slept: List[float], due: List[float]) -> None:
    assert len(slept) == len(due)
    assert all(d <= s <= d * 1.1 for s, d in zip(slept, due)), slept


def test_five_retries_and_then_the_error(exchange: Exchange, caller: Caller) -> None:
    exchange.tell(INGEST, error(503, "unavailable"))
    with pytest.raises(pingpost.ServerError) as failed:
        caller.client(exchange.url, api_key="key")("ingest_lead", LEAD)
    assert_waits(caller.slept, [1, 2, 4, 8, 16])
    assert len(exchange.requests) == 6
    assert failed.value.code is models.ErrorCode.UNAVAILABLE
    assert failed.value.idempotency_key == exchange.requests[0].headers["idempotency-key"]


@pytest.mark.parametrize("status", [307, 400, 401, 403, 404, 405, 408, 409, 410, 413, 415, 422, 431])
def test_nothing_else_is_tried_again(exchange: Exchange, caller: Caller, status: int) -> None:
    exchange.tell(INGEST, error(status, "brand_new", headers={"Retry-After": "1", "Location": "/elsewhere"}))
    with pytest.raises(pingpost.ApiError) as failed:
        caller.client(exchange.url, api_key="key")("ingest_lead", LEAD)
    assert failed.value.status == status
    assert type(failed.value) is KINDS.get(status, pingpost.ApiError)
    assert not failed.value.code.known
    assert failed.value.code == "brand_new"
    assert failed.value.request_id == "req_1"
    assert (len(exchange.requests), caller.slept) == (1, [])


KINDS = {
    400: pingpost.InvalidRequest,
    401: pingpost.Unauthorized,
    403: pingpost.Forbidden,
    404: pingpost.NotFound,
    409: pingpost.Conflict,
    410: pingpost.Expired,
    422: pingpost.InvalidRequest,
}


def test_retry_after_is_kept(exchange: Exchange, caller: Caller) -> None:
    hour = format_datetime(datetime.now(timezone.utc) + timedelta(hours=1), usegmt=True)
    past = format_datetime(datetime.now(timezone.utc) - timedelta(hours=1), usegmt=True)
    waits = ["7", "999999999999", hour, past, "Mon, 01 Jan 99999999999999999999 00:00:00 GMT"]
    exchange.tell(
        INGEST, *[error(429, "rate_limited", headers={"Retry-After": w}) for w in waits], Says(201, SOLD)
    )
    caller.client(exchange.url, api_key="key")("ingest_lead", LEAD)
    assert caller.slept[:2] == [7, 3600]
    assert 3500 < caller.slept[2] <= 3600
    assert caller.slept[3] == 0
    assert 16 <= caller.slept[4] <= 17.6


def test_a_limit_that_lasts(exchange: Exchange, caller: Caller) -> None:
    exchange.tell(INGEST, error(429, "rate_limited", headers={"Retry-After": "3"}))
    with pytest.raises(pingpost.RateLimited) as failed:
        caller.client(exchange.url, api_key="key", max_retries=0)("ingest_lead", LEAD)
    assert failed.value.retry_after == 3
    assert caller.slept == []


def test_an_answer_that_does_not_come(exchange: Exchange, caller: Caller) -> None:
    never = threading.Event()
    exchange.tell(INGEST, Says(wait=never), Says(201, SOLD))
    call = caller.client(exchange.url, api_key="key")
    assert call("ingest_lead", LEAD, timeout=3).data.id == "lead_1"
    assert_waits(caller.slept, [1])
    exchange.tell(INGEST, Says(wait=never))
    with pytest.raises(pingpost.TimeoutError) as failed:
        caller.client(exchange.url, api_key="key", timeout=0.5, max_retries=1)(
            "ingest_lead", LEAD, idempotency_key="k"
        )
    assert isinstance(failed.value, TimeoutError)
    assert failed.value.idempotency_key == "k"
    never.set()


def test_an_answer_without_an_end(exchange: Exchange, caller: Caller) -> None:
    exchange.tell(INGEST, Says(201, b"{", drip=True))
    with pytest.raises(pingpost.TimeoutError):
        caller.client(exchange.url, api_key="key", timeout=0.5, max_retries=0)("ingest_lead", LEAD)


def test_nobody_listens(caller: Caller) -> None:
    with Exchange() as gone:
        url = gone.url
    with pytest.raises(pingpost.TransportError) as failed:
        caller.client(url, api_key="secret-key")("ingest_lead", LEAD)
    assert not isinstance(failed.value, pingpost.TimeoutError)
    assert_waits(caller.slept, [1, 2, 4, 8, 16])
    assert failed.value.idempotency_key is not None


def test_an_error_with_all_there_is(exchange: Exchange, caller: Caller) -> None:
    fault = {"field": "phone", "code": "newer", "expected": "a number", "more": 1}
    exchange.tell(
        INGEST, error(422, "invalid_payload", field_errors=[fault], reason="duplicate", error_description="d")
    )
    with pytest.raises(pingpost.InvalidRequest) as failed:
        caller.client(exchange.url, api_key="key")("ingest_lead", LEAD)
    e = failed.value
    assert (e.code, e.message, e.request_id, e.reason) == ("invalid_payload", "why", "req_1", "duplicate")
    assert e.error_description == "d"
    assert [(f.field, f.code, f.expected) for f in e.field_errors] == [("phone", "newer", "a number")]
    assert str(e) == "422 invalid_payload: why (phone: newer) [req_1]"
    again = pickle.loads(pickle.dumps(e))
    assert type(again) is type(e)
    assert str(again) == str(e)
    assert again.idempotency_key == e.idempotency_key


NO_ERRORS = [b"<html>", b"", b"[1]", b'{"detail": 7, "error": {"a": 1}}']


@pytest.mark.parametrize("body", NO_ERRORS, ids=["page", "nothing", "list", "other"])
def test_an_error_that_is_not_the_exchanges(exchange: Exchange, caller: Caller, body: bytes) -> None:
    exchange.tell(INGEST, Says(502, body, {"X-Request-Id": "req_7"}))
    with pytest.raises(pingpost.ServerError) as failed:
        caller.client(exchange.url, api_key="key", max_retries=0)("ingest_lead", LEAD)
    assert (failed.value.status, failed.value.code, failed.value.request_id) == (502, "", "req_7")


UNREADABLE = [b"<html>", b"", b"[1]", b'{"data": {"id": "x"}}', b'{"data": {}, "data": {}}', b"[" * 5000]


@pytest.mark.parametrize("body", UNREADABLE, ids=["page", "nothing", "list", "not all", "twice", "deep"])
def test_an_answer_that_cannot_be_read(exchange: Exchange, caller: Caller, body: bytes) -> None:
    exchange.tell(INGEST, Says(201, body))
    with pytest.raises(pingpost.ApiError) as failed:
        caller.client(exchange.url, api_key="key")("ingest_lead", LEAD)
    assert failed.value.status == 201
    assert "cannot be read" in str(failed.value)
    assert len(exchange.requests) == 1


def test_nothing_secret_is_shown(exchange: Exchange, caller: Caller) -> None:
    exchange.tell(INGEST, Says(201, SOLD))
    call = caller.client(exchange.url, api_key="secret-key")
    request = models.IngestRequest(**LEAD, state="CA", extra={"middle_name": "Canary"})
    shown = repr(request) + repr(call("ingest_lead", request)) + repr(caller._clients)
    for secret in ("Annabel", "anary", "4155550123", "secret-key", "'CA'"):
        assert secret not in shown
    assert "cmp_auto" in shown
    token = models.TokenResponse(access_token="pp_x", token_type="Bearer", expires_in=1, scope="ping")
    assert "pp_x" not in repr(token)


IMPOSSIBLE: List[Any] = [
    {},
    {"api_key": "k", "token": "t"},
    {"client_id": "c"},
    {"client_secret": "c"},
    {"api_key": ""},
    {"api_key": "a b"},
    {"token": "a\nb"},
    {"client_id": "", "client_secret": "s"},
    {"api_key": "k", "scopes": ["ping"]},
    {"api_key": "k", "timeout": 0},
    {"api_key": "k", "max_retries": 6},
    {"api_key": "k", "max_retries": -1},
    {"api_key": "k", "auth_url": "elsewhere"},
]


@pytest.mark.parametrize("options", IMPOSSIBLE, ids=str)
@pytest.mark.parametrize("kind", [pingpost.Client, pingpost.AsyncClient])
def test_a_client_that_cannot_be(kind: Any, options: Any) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        kind("https://exchange.example.com", **options)


@pytest.mark.parametrize(
    "url", ["", "exchange", "ftp://a", "https://", "https://u:p@a", "https://a?b", "https://a#b"]
)
def test_an_address_that_is_none(url: str) -> None:
    with pytest.raises(ValueError, match="base_url"):
        pingpost.Client(url, api_key="k")


def test_a_call_that_cannot_be(exchange: Exchange, caller: Caller) -> None:
    call = caller.client(exchange.url, api_key="key")
    for key in ("", "a b", "ü", "x" * 256, "a\n"):
        with pytest.raises(ValueError, match="idempotency key"):
            call("ingest_lead", LEAD, idempotency_key=key)
    for lead_id in ("", ".", ".."):
        with pytest.raises(ValueError, match="lead id"):
            call("get_supplied_lead", lead_id)
    with pytest.raises(ValueError, match="timeout"):
        call("ingest_lead", LEAD, timeout=-1)
    with pytest.raises(ValueError, match="finite"):
        call("ingest_lead", dict(LEAD, score=float("nan")))
    with pytest.raises(ValueError, match="time zone"):
        call("ingest_lead", dict(LEAD, consent_timestamp=datetime(2026, 3, 2)))
    for body in ([1], "x", None, {1: 2}, {"a": b"x"}, {"a": object()}):
        with pytest.raises(TypeError):
            call("ingest_lead", body)
    assert exchange.requests == []
