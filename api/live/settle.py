"""Makes of a generated request one that comes through, as far as a schema cannot.

A phone number has to be one that there can be, a bid token one that was told, a key one
that is new. Only what is valid by the document is replaced: what was made to be invalid
goes as it is, and nothing else of the request is then in the way of its being seen.
"""

from __future__ import annotations

import base64
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import document
from memory import RUN, Place, to_come
from wording import is_printable, says_nothing

OFTEN = 0.75  # of what can be settled, so much is; the rest goes as it was generated
REPORTED = 5  # reports of a batch that are on leads there are
CAMPAIGNS = ("cmp_auto", "cmp_plain", "cmp_rest")


@dataclass(frozen=True)
class About:
    """What of a request does not stand in its body."""

    test: bool = False
    linked: bool = False  # to an answer that came before, in the stateful phase


def mostly() -> bool:
    return always or RUN.chance.random() < OFTEN


always = False  # of the examples there are few, and each is to come through


def valid(schema: str, value: Any) -> bool:
    return document.of_schema(schema).is_valid(value)


def is_text(value: Any) -> bool:
    return isinstance(value, str) and not says_nothing(value)


def put(into: dict[str, Any], name: str, fits: bool, make: Callable[[], Any]) -> None:
    """Replaces a member that is there and valid."""
    if name in into and fits:
        into[name] = make()


def readable(into: dict[str, Any], name: str) -> None:
    """A text that is printable: of what is generated, most is not."""
    if mostly() and valid("Label", into.get(name)):
        into[name] = "".join(filter(is_printable, into[name])).strip() or "x"


def person(lead: dict[str, Any]) -> None:
    put(lead, "phone", valid("Phone", lead.get("phone")), RUN.phone)


def ingest(body: dict[str, Any], about: About) -> None:
    person(body)
    _campaign(body, CAMPAIGNS)
    chosen = is_text(body.get("flo_ping_id")) or is_text(body.get("flo_buyer_id"))
    if not chosen:
        return
    offer = RUN.offers.get(str(body.get("flo_ping_id")))
    if about.linked and offer is not None and body.get("flo_buyer_id") in offer.buyers:
        _move(body, offer.place)
        body["flo_campaign_id"] = offer.campaign
        put(body, "campaign_id", is_text(body.get("campaign_id")), lambda: offer.campaign)
        return
    if RUN.chance.random() < 0.4:
        ping, buyer = RUN.offer(*_place(body), about.test)
        put(body, "flo_ping_id", is_text(body.get("flo_ping_id")), lambda: ping)
        put(body, "flo_buyer_id", is_text(body.get("flo_buyer_id")), lambda: buyer)
        for name in ("flo_campaign_id", "campaign_id"):
            put(body, name, body.get(name) in CAMPAIGNS, lambda: "cmp_auto")
    elif mostly():
        for name in ("flo_ping_id", "flo_buyer_id"):
            if isinstance(body.get(name), str):
                del body[name]


def availability(body: dict[str, Any], about: About) -> None:
    _campaign(body, CAMPAIGNS[:2])
    _signals(body)


def _campaign(body: dict[str, Any], campaigns: tuple[str, ...]) -> None:
    campaign = RUN.chance.choice(campaigns)
    for before in ("", "flo_"):  # a request may have both names, with the same value
        put(body, f"{before}supplier_id", is_text(body.get(f"{before}supplier_id")), lambda: "sup_acme")
        put(body, f"{before}campaign_id", is_text(body.get(f"{before}campaign_id")), lambda: campaign)


def ping(body: dict[str, Any], about: About) -> None:
    readable(body, "auction_id")
    put(body, "auction_id", valid("AuctionId", body.get("auction_id")), lambda: f"{RUN.next()} {body['auction_id']}"[:255])
    if mostly():
        put(body, "vertical", valid("Label", body.get("vertical")), lambda: RUN.chance.choice(("auto_insurance", "plain")))
        if valid("Label", body.get("sub_vertical")):
            del body["sub_vertical"]
    if mostly():
        put(body, "expires_at", valid("OccurredAt", body.get("expires_at")), lambda: to_come(4))
    _signals(body)


def _signals(body: dict[str, Any]) -> None:
    """Fields of which the campaign asks more than the document."""
    if not mostly():
        return
    count = body.get("vehicle_count")
    put(body, "vehicle_count", type(count) is int, lambda: abs(count or 0) % 21)
    put(body, "driver_age_band", is_text(body.get("driver_age_band")), lambda: "25-34")


def post(body: dict[str, Any], about: About) -> None:
    lead = body.get("lead")
    if isinstance(lead, dict):
        person(lead)
        readable(lead, "lead_uuid")
    if not (is_text(body.get("bid_token")) and valid("AuctionId", body.get("auction_id"))):
        return
    address = lead.get("address") if isinstance(lead, dict) else None
    address = address if isinstance(address, dict) else {}
    told = RUN.bids.get(body["bid_token"])
    if about.linked and told is not None and told.auction == body["auction_id"]:
        _move(address, RUN.auctions[told.auction])
    elif mostly():
        bid = RUN.bid(*_place(address), about.test)
        body["auction_id"], body["bid_token"] = bid.auction, bid.token


def _move(address: dict[str, Any], place: Place) -> None:
    """To where the ping was told that the person lives."""
    put(address, "state", valid("StateCode", address.get("state")), lambda: place.state)
    if place.zip3 is not None:
        put(address, "zip", valid("ZipCode", address.get("zip")), lambda: f"{place.zip3}01")


def test_of(body: dict[str, Any]) -> bool | None:
    """Whether what a request takes up was a test; None: it takes nothing up."""
    told = RUN.bids.get(str(body.get("bid_token"))) or RUN.offers.get(str(body.get("flo_ping_id")))
    return told.test if told is not None else None


def _place(address: dict[str, Any]) -> tuple[str, str | None]:
    state, zipped = address.get("state"), address.get("zip")
    return (
        state if valid("StateCode", state) else "CA",
        zipped[:3] if valid("ZipCode", zipped) else None,
    )


def report(body: dict[str, Any], about: About) -> None:
    if mostly():
        put(body, "occurred_at", valid("OccurredAt", body.get("occurred_at")), lambda: "2026-03-03T09:30:00Z")
    readable(body, "reason")
    if mostly() and body.get("status") == "returned" and "reason" not in body:
        body["reason"] = "wrong_number"


def reports(body: dict[str, Any], about: About) -> None:
    changes = body.get("changes")
    for change in changes[:REPORTED] if isinstance(changes, list) else ():
        if isinstance(change, dict):
            put(change, "lead_id", is_text(change.get("lead_id")), RUN.lead)
            report(change, about)


def seed(body: dict[str, Any], about: About) -> None:
    """Most of them small: a thousand leads are a megabyte to read."""
    readable(body, "vertical")
    if mostly():
        put(body, "count", type(body.get("count")) is int and 100 <= body["count"] <= 1000, lambda: 100)
    if not is_text(body.get("campaign_id")):
        return
    if RUN.chance.random() > OFTEN:
        body["campaign_id"] = "cmp_rest"
    else:
        del body["campaign_id"]


BODIES: dict[str, Callable[[dict[str, Any], About], None]] = {
    "ingestLead": ingest,
    "checkAvailability": availability,
    "sendPing": ping,
    "sendPost": post,
    "reportStatus": report,
    "reportStatuses": reports,
    "seedLeads": seed,
}
LEADS: dict[str, Callable[[], str]] = {
    "getLead": RUN.seen,
    "getSuppliedLead": RUN.seen,
    "reportStatus": RUN.lead,
}


def token(body: dict[str, Any], headers: dict[str, str]) -> None:
    """One of four goes as it is; the others name a client that there is, in the body or by HTTP Basic."""
    if not mostly():
        return
    client = RUN.chance.choice(("acme", "acme", "rest"))
    if RUN.chance.random() < 0.5:
        headers.pop("Authorization", None)
        for name, value in (("client_id", client), ("client_secret", SECRET)):
            if isinstance(body.get(name, ""), str):
                body[name] = value
        return
    headers["Authorization"] = basic(client)
    for name in ("client_id", "client_secret"):
        if isinstance(body.get(name), str):
            del body[name]


def basic(client: str) -> str:
    return "Basic " + base64.b64encode(f"{client}:{SECRET}".encode()).decode()


SECRET = os.environ.get("LIVE_SECRET", "")
