"""Webhooks, signed here by hand and by the library of Standard Webhooks."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from datetime import datetime, timezone
from typing import Any, Dict, List, Tuple

import pytest
from standardwebhooks.webhooks import Webhook

import pingpost
from pingpost import models

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
OTHER = "whsec_" + base64.b64encode(b"another secret of ours").decode()
NOW = 1772471047
EVENT: Dict[str, Any] = {
    "id": "evt_1",
    "type": "lead.posted",
    "created_at": "2026-03-02T17:04:05.5Z",
    "data": {
        "lead_id": "lead_1", "lead_uuid": None, "auction_id": "a", "campaign_id": "c", "supplier_id": "s",
        "buyer_id": "b", "status": "ACCEPTED", "price": {"amount": 10.123456, "currency": "USD"}, "reason": None,
    },
}  # fmt: skip
BODY = json.dumps(EVENT).encode()


def own(body: bytes = BODY, secret: str = SECRET, at: int = NOW) -> Dict[str, str]:
    key = base64.b64decode(secret[6:])
    mac = hmac.new(key, f"{at}.".encode() + body, hashlib.sha256).hexdigest()
    return {"X-Pingpost-Signature": f"t={at},v1={mac}"}


def standard(body: bytes = BODY, secret: str = SECRET, at: int = NOW) -> Dict[str, str]:
    signature = Webhook(secret).sign("evt_1", datetime.fromtimestamp(at, timezone.utc), body.decode())
    return {"webhook-id": "evt_1", "webhook-timestamp": str(at), "webhook-signature": signature}


def both(**given: Any) -> Dict[str, str]:
    return {**own(**given), **standard(**given)}


RIGHT: List[Tuple[str, Any]] = [
    ("the own one", own()),
    ("the standard one", standard()),
    ("both", both()),
    ("capitals", {k.upper(): v for k, v in both().items()}),
    ("pairs of bytes, as ASGI has them", [(k.lower().encode(), v.encode()) for k, v in both().items()]),
    ("others beside them", dict(both(), Host="h")),
    ("two secrets signed", {"X-Pingpost-Signature": own()["X-Pingpost-Signature"] + ",v1=" + "0" * 64}),
    (
        "another form beside it",
        dict(standard(), **{"webhook-signature": "v2,x v1a,y " + standard()["webhook-signature"]}),
    ),
]


@pytest.mark.parametrize("headers", [r[1] for r in RIGHT], ids=[r[0] for r in RIGHT])
def test_taken(headers: Any) -> None:
    event = pingpost.verify_webhook(BODY, headers, [OTHER, SECRET], now=NOW + 300)
    assert event.type is models.LeadEventType.LEAD_POSTED
    assert event.data.price is not None
    assert str(event.data.price.amount) == "10.123456"
    assert json.loads(pingpost.to_json(event)) == EVENT


def test_one_secret_by_itself_and_without_padding() -> None:
    padded = "whsec_" + base64.b64encode(b"a secret of another length").decode()
    assert padded.endswith("=")
    for secret in (padded, padded.rstrip("=")):
        assert pingpost.verify_webhook(BODY, own(secret=padded), secret, now=NOW).id == "evt_1"


def test_the_clock_is_the_default() -> None:
    with pytest.raises(pingpost.SignatureError, match="over 300 s away"):
        pingpost.verify_webhook(BODY, own(), SECRET)
    assert pingpost.verify_webhook(BODY, own(), SECRET, tolerance=1e11).id == "evt_1"


WRONG: List[Tuple[str, bytes, Any]] = [
    ("no signature", BODY, {}),
    ("another secret", BODY, both(secret=OTHER)),
    ("another body", BODY + b" ", both()),
    ("only the standard one is right", BODY, {**standard(), **own(secret=OTHER)}),
    ("only the own one is right", BODY, {**own(), **standard(secret=OTHER)}),
    ("too old", BODY, both(at=NOW - 301)),
    ("too new", BODY, both(at=NOW + 301)),
    ("the own one old, the standard one new", BODY, {**own(at=NOW - 301), **standard()}),
    ("no id", BODY, {**own(), **{k: v for k, v in standard().items() if k != "webhook-id"}}),
    ("no time", BODY, {**own(), **{k: v for k, v in standard().items() if k != "webhook-timestamp"}}),
    ("no standard signature", BODY, {**own(), "webhook-id": "evt_1", "webhook-timestamp": str(NOW)}),
    ("another id", BODY, {**standard(), "webhook-id": "evt_2"}),
    ("t is missing", BODY, {"X-Pingpost-Signature": own()["X-Pingpost-Signature"].partition(",")[2]}),
    ("t is no number", BODY, {"X-Pingpost-Signature": "t=x,v1=" + "0" * 64}),
    ("t of Arabic digits", BODY, {"X-Pingpost-Signature": "t=\u0661,v1=" + "0" * 64}),
    ("t twice", BODY, {"X-Pingpost-Signature": f"t={NOW}," + own()["X-Pingpost-Signature"]}),
    ("empty", BODY, {"X-Pingpost-Signature": ""}),
    ("half", BODY, {"X-Pingpost-Signature": own()["X-Pingpost-Signature"][:-32]}),
    ("letters outside ASCII", BODY, {"X-Pingpost-Signature": f"t={NOW},v1=\u00fc\ud800"}),
    ("the header twice", BODY, [*own().items(), *own().items()]),
    ("no event", b"[]", own(b"[]")),
    ("no JSON", b"{", own(b"{")),
]


@pytest.mark.parametrize(("body", "headers"), [w[1:] for w in WRONG], ids=[w[0] for w in WRONG])
def test_refused(body: bytes, headers: Any) -> None:
    with pytest.raises(pingpost.SignatureError) as refused:
        pingpost.verify_webhook(body, headers, SECRET, now=NOW)
    assert SECRET not in str(refused.value)


@pytest.mark.parametrize("secrets", ["", "abc", "whsec_", "whsec_!", "whsec_ü", [], [SECRET, "x"]])
def test_a_secret_that_is_none(secrets: Any) -> None:
    with pytest.raises(ValueError, match="secret"):
        pingpost.verify_webhook(BODY, own(), secrets, now=NOW)


def test_a_body_that_was_parsed() -> None:
    body: Any = BODY.decode()
    with pytest.raises(TypeError, match="bytes"):
        pingpost.verify_webhook(body, own(), SECRET, now=NOW)


def test_an_event_of_tomorrow() -> None:
    data = dict(EVENT["data"], status="thought_over", price=None, reversed=None, test=True, more=[1])
    told = dict(EVENT, type="lead.thought_over", data=data, more=1)
    body = json.dumps(told).encode()
    event = pingpost.verify_webhook(body, own(body), SECRET, now=NOW)
    assert event.type == "lead.thought_over"
    assert json.loads(pingpost.to_json(event)) == told
