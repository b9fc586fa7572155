"""Every block of code in the README is run, as it stands there, against servers on sockets."""

from __future__ import annotations

import json
import os
import pathlib
import re
import subprocess
import sys
from typing import Any, Dict, List

import httpx
import pytest

import pingpost
from tests.exchange import LEAD, PING, SOLD, TOKEN, Exchange, Says, error
from tests.serving import serving
from tests.test_buyer import POST
from tests.test_webhooks import BODY, EVENT, SECRET, both

PACKAGE = pathlib.Path(__file__).parent.parent
README = (PACKAGE / "README.md").read_text(encoding="utf-8")
BLOCKS: List[str] = re.findall(r"```python\n(.*?)```", README, re.DOTALL)


def block(word: str) -> str:
    """The one block that has the word in it."""
    (found,) = [b for b in BLOCKS if word in b]
    return found


def run(code: str, url: str) -> str:
    """Runs the block in a process of its own, as a reader would, and tells what it printed."""
    secrets = {"EXCHANGE": url, "API_KEY": "k", "CLIENT_ID": "c", "CLIENT_SECRET": "s"}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        env={**os.environ, **secrets, "PYTHONPATH": str(PACKAGE / "src")},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def inside(code: str) -> Dict[str, Any]:
    """Runs the block here, for what it defines."""
    names: Dict[str, Any] = {}
    exec(compile(code, "README.md", "exec"), names)
    return names


def test_all_blocks_are_tried() -> None:
    words = [
        "client.ingest_lead({",
        "NoBid(",
        "send_post",
        "AsyncClient",
        "except (",
        "def receive",
        "class Table",
    ]
    assert sorted(block(w) for w in words) == sorted(BLOCKS)
    for heading in ("## A supplier", "## A buyer"):
        after = README[README.index(heading) :]
        start = re.findall(r"```python\n(.*?)```", after, re.DOTALL)[0]
        assert len(start.rstrip().splitlines()) <= 10


def test_a_supplier(exchange: Exchange) -> None:
    exchange.tell("/api/v1/ingest", Says(201, SOLD))
    said = run(block("client.ingest_lead({"), exchange.url)
    assert said == "ACCEPTED lead_1 Price(amount=Decimal('10.123456'), currency='USD') None\n"
    assert exchange.requests[0].json["vehicle_count"] == 2


@pytest.mark.parametrize("flavor", ["wsgi", "asgi"])
def test_a_buyer(flavor: str) -> None:
    code = block("NoBid(")
    if flavor == "asgi":
        code = code.replace(").wsgi", ").asgi")
    headers = {"Authorization": "Bearer what-the-exchange-shows", "Idempotency-Key": "k"}
    with serving(inside(code)["application"], flavor) as url, httpx.Client(headers=headers) as http:
        assert http.post(url + "/v1/ping", json=PING).json()["bid"]["amount"] == 12.5
        assert http.post(url + "/v1/ping", json=dict(PING, state="NV")).json()["reject_reason"] == "state"
        assert http.post(url + "/v1/post", json=POST).json() == {"lead_id": "ours-lead_1"}


def test_pings_and_posts(exchange: Exchange) -> None:
    bid = {"amount": 10, "currency": "USD", "bid_token": "bid_1", "valid_until": "2026-03-02T17:04:05Z"}
    sold = {"lead_id": "B", "id": "lead_1", "status": "ACCEPTED", "buyer_id": "b", "auction_id": "a"}
    exchange.tell("/oauth/token", Says(200, TOKEN))
    exchange.tell("/v1/ping", Says(200, {"auction_id": "a", "bid": bid}))
    exchange.tell("/v1/post", Says(201, dict(sold, price={"amount": 10, "currency": "USD"})))
    assert run(block("send_post"), exchange.url) == "sold as lead_1 for 10 USD\n"
    assert exchange.of("/v1/post")[0].json["bid_token"] == "bid_1"
    exchange.tell("/v1/ping", Says(200, {"auction_id": "a", "bid": None, "reject_reason": "caps_full"}))
    assert run(block("send_post"), exchange.url) == "no bid: caps_full\n"


def test_async(exchange: Exchange) -> None:
    data = {"ping_id": "ping_1", "campaign_id": "c", "accepted": False, "buyers": []}
    exchange.tell("/api/v1/ping", Says(200, {"data": dict(data, expires_at="2026-03-02T17:04:05Z")}))
    assert run(block("AsyncClient"), exchange.url) == "False ping_1\n"


def test_errors(exchange: Exchange) -> None:
    fault = {"field": "phone", "code": "missing_required", "expected": "a phone number"}
    exchange.tell("/api/v1/ingest", error(422, "invalid_payload", field_errors=[fault]))
    said = run(block("except ("), exchange.url)
    assert (
        said
        == "invalid_payload req_1 [('phone', <FieldErrorCode.MISSING_REQUIRED: 'missing_required'>, 'a phone number')]\n"
    )


def test_webhooks(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    receive = inside(block("def receive"))["receive"]
    monkeypatch.setattr("pingpost.webhooks.time.time", lambda: 1772471047)
    assert receive(BODY, both(), SECRET) == 204
    assert capsys.readouterr().out.startswith(f"{EVENT['id']} lead.posted lead_1 Price(")
    assert receive(BODY + b" ", both(), SECRET) == 400


def test_a_store_of_ones_own() -> None:
    application = inside(block("class Table"))["application"]
    headers = {"Idempotency-Key": "k"}
    with serving(application, "asgi") as url, httpx.Client(headers=headers) as http:
        first = http.post(url + "/v1/post", json=POST)
        again = http.post(url + "/v1/post", json=POST)
    assert first.json() == {"lead_id": "ours-1"}
    assert (again.content, again.headers["idempotent-replayed"]) == (first.content, "true")


def test_the_tables_methods_are_there() -> None:
    told = re.findall(r"^\| `(\w+)\((.*?)\)` \| `(\w+) (\S+)`", README, re.MULTILINE)
    assert len(told) == 10
    for name, _, _, _ in told:
        for kind in (pingpost.Client, pingpost.AsyncClient):
            assert callable(getattr(kind, name))
    assert json.dumps(LEAD)
