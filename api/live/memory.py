"""What the sandbox has told in this run, and what is made in it for a request's sake."""

from __future__ import annotations

import datetime as dt
import itertools
import os
import random
from dataclasses import dataclass
from typing import Any

import requests

from wording import says_nothing

URL = os.environ.get("LIVE_URL", "")
KEY = {"x-api-key": os.environ.get("LIVE_KEY", "")}
TOKEN = {"Authorization": f"Bearer {os.environ.get('LIVE_TOKEN', '')}"}

PHONES = ("+1415555{:04}", "(212) 555-{:04}", "303.555.{:04}", " 1 702 555 {:04}", "7025 55{:04}")
ABROAD = "+44 20 7183 8750"


@dataclass(frozen=True)
class Place:
    """Where a ping has told that the person lives."""

    state: str | None
    zip3: str | None

    @classmethod
    def told(cls, ping: dict[str, Any]) -> Place:
        said = {name: None if says_nothing(ping.get(name)) else ping[name] for name in ("state", "zip", "zip3")}
        return cls(said["state"], (said["zip"] or said["zip3"] or "")[:3] or None)


@dataclass(frozen=True)
class Bid:
    """One that a seller was told of."""

    auction: str
    token: str
    valid_until: str
    test: bool = False


@dataclass(frozen=True)
class Offer:
    """Who bid in a supplier's ping."""

    campaign: str
    buyers: frozenset[str]
    place: Place
    test: bool = False


def is_test(header: str) -> bool:
    return header in ("1", "true")


class Memory:
    """There is one of a run."""

    def __init__(self) -> None:
        self._count = itertools.count(1)
        self.chance = random.Random(os.environ.get("LIVE_SEED"))
        self._session = requests.Session()
        self.bids: dict[str, Bid] = {}
        self.offers: dict[str, Offer] = {}
        self.tokens: set[str] = set()  # access tokens and static ones
        self.recorded: list[str] = []  # leads of the buyer that has no endpoint
        self.leads: dict[str, str | None] = {}  # all that were told of, and who bought them
        self.reported: set[str] = set()  # of these, those on which somebody has reported
        self.auctions: dict[str, Place] = {}  # those that the seller has named
        self.taken: set[str] = set()  # the tokens of bids that were taken up

    def next(self) -> int:
        return next(self._count)

    def phone(self) -> str:
        return ABROAD if self.chance.random() < 0.1 else self.chance.choice(PHONES).format(self.chance.randrange(100, 200))

    def bid(self, state: str, zip3: str | None, test: bool) -> Bid:
        """A bid that can be taken up."""
        ping = {"auction_id": f"for-{self.next()}", "vertical": "auto_insurance", "state": state, "tcpa_consent": True}
        if zip3 is not None:
            ping["zip3"] = zip3
        headers = {**TOKEN, **_test(test), "Idempotency-Key": ping["auction_id"]}
        bid = self.learn_ping(ping, self._post("/v1/ping", headers, ping), test)
        if bid is None:
            raise RuntimeError("a buyer that bids for everything has not bid")
        return bid

    def learn_ping(self, ping: dict[str, Any], answer: dict[str, Any], test: bool) -> Bid | None:
        self.auctions[ping["auction_id"]] = Place.told(ping)
        told = answer["bid"]
        if told is None:
            return None
        bid = Bid(ping["auction_id"], told["bid_token"], told["valid_until"], test)
        self.bids[bid.token] = bid
        return bid

    def offer(self, state: str, zip3: str | None, test: bool) -> tuple[str, str]:
        """A ping and a buyer that bid in it."""
        ping = {"flo_campaign_id": "cmp_auto", "flo_supplier_id": "sup_acme", "state": state}
        if zip3 is not None:
            ping["zip3"] = zip3
        told = self._post("/api/v1/ping", {**KEY, **_test(test)}, ping)
        return self.learn_offers(ping, told, test), told["data"]["buyers"][0]["buyer_id"]

    def learn_offers(self, ping: dict[str, Any], answer: dict[str, Any], test: bool) -> str:
        told = answer["data"]
        buyers = frozenset(offer["buyer_id"] for offer in told["buyers"])
        self.offers[told["ping_id"]] = Offer(told["campaign_id"], buyers, Place.told(ping), test)
        return str(told["ping_id"])

    def lead(self) -> str:
        """A lead that was sold, and on which nobody has reported."""
        lead = {
            "flo_campaign_id": "cmp_rest", "flo_supplier_id": "sup_acme", "first_name": "Ann", "last_name": "Lee",
            "email": "ann@example.com", "phone": self.phone(), "state": "CA",
        }  # fmt: skip
        told = str(self._post("/api/v1/ingest", KEY, lead)["data"]["id"])
        self.recorded.append(told)
        self.leads[told] = "buy_rest"
        return told

    def seen(self) -> str:
        """A lead that was sold, on which somebody may have reported."""
        if not self.recorded:
            return self.lead()
        return self.chance.choice(self.recorded)

    def access_token(self, client: str) -> str:
        asked = {"grant_type": "client_credentials", "client_id": client, "client_secret": os.environ["LIVE_SECRET"]}
        token = str(self._post("/oauth/token", {}, asked)["access_token"])
        self.tokens.add(token)
        return token

    def _post(self, path: str, headers: dict[str, str], body: dict[str, Any]) -> dict[str, Any]:
        answer = self._session.post(URL + path, json=body, headers=headers, timeout=10)
        answer.raise_for_status()
        told: dict[str, Any] = answer.json()
        return told


def _test(test: bool) -> dict[str, str]:
    return {"X-Pingpost-Test": "1"} if test else {}


def to_come(seconds: float) -> str:
    return (dt.datetime.now(dt.timezone.utc) + dt.timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


RUN = Memory()
