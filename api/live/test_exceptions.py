"""Each exception holds for exactly its case: the same code on another member, or on a value
that does not ask for it, is found."""

from __future__ import annotations

import unittest
from typing import Any

from exceptions import Sent, rightly_taken, unexplained
from memory import Bid, Memory, Offer, Place, to_come

LEAD = {"lead_uuid": "1", "first_name": "A", "last_name": "B", "email": "a@b.co", "phone": "4155550100"}
PING = {"auction_id": "a", "vertical": "v", "state": "CA", "tcpa_consent": True}


def sent(operation: str, body: Any, **headers: str) -> Sent:
    memory = Memory()
    memory.auctions["a-1"] = Place("CA", "941")
    memory.bids["bid_1"] = Bid("a-1", "bid_1", to_come(5))
    memory.bids["bid_0"] = Bid("a-0", "bid_0", to_come(-5))
    memory.offers["ping_1"] = Offer("cmp", frozenset({"buy_blue"}), Place("CA", None))
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Sent(operation, "application/json", body, {"Idempotency-Key": "k", **named}, memory, lead="lead_1")


def refused(*faults: tuple[str, str]) -> dict[str, Any]:
    return {"error": "invalid_payload", "field_errors": [{"field": field, "code": code} for field, code in faults]}


class Refusals(unittest.TestCase):
    def holds(self, operation: str, body: Any, field: str, code: str) -> bool:
        return unexplained(sent(operation, body), 422, refused((field, code))) == []

    def test_rules(self) -> None:
        for operation, asks, does_not, field, code in (
            ("sendPing", {"auction_id": "a\u00ad"}, {"auction_id": "a\u00e9 1"}, "auction_id", "invalid_format"),
            ("sendPing", {"vertical": "\u3000"}, {"vertical": "x"}, "vertical", "missing_required"),
            ("sendPing", {"expires_at": "2020-01-01T00:00:00Z"}, {"expires_at": to_come(60)}, "expires_at", "expired"),
            ("sendPing", {}, None, "x.E-mail", "contact_field_not_allowed"),
            ("sendPing", {"vehicle_count": 21}, {"vehicle_count": 20}, "vehicle_count", "out_of_range"),
            ("sendPost", {"lead": {"homeowner": "yes"}}, {"lead": {"homeowner": True}}, "lead.homeowner", "wrong_type"),
            ("sendPing", {"driver_age_band": "x"}, {"driver_age_band": "55+"}, "driver_age_band", "not_allowed_value"),
            ("ingestLead", {"first_name": "\u00e9" * 2049}, {"first_name": "e" * 4096}, "first_name", "too_long"),
            ("ingestLead", {"email": "a" * 65 + "@b.co"}, {"email": "a" * 64 + "@b.co"}, "email", "invalid_format"),
            ("ingestLead", {"consent_cert_url": "https://a:0/"}, {"consent_cert_url": "https://a:1/"},
             "consent_cert_url", "invalid_format"),
            ("ingestLead", {"consent_cert_url": "https://[::::]"}, {"consent_cert_url": "https://[::1]"},
             "consent_cert_url", "invalid_format"),
            ("ingestLead", {"flo_ping_id": "ping_0", "flo_buyer_id": "buy_blue"},
             {"flo_ping_id": "ping_1", "flo_buyer_id": "buy_blue", "flo_campaign_id": "cmp"}, "flo_ping_id", "unknown"),
            ("ingestLead", {"flo_ping_id": "ping_1"}, {"flo_ping_id": " "}, "flo_buyer_id", "unknown"),
            ("checkAvailability", {"flo_campaign_id": "cmp_rest"}, {"flo_campaign_id": "cmp_auto"},
             "flo_campaign_id", "inactive"),
            ("checkAvailability", {"campaign_id": "cmp_rest"}, {"campaign_id": "cmp_auto"}, "campaign_id", "inactive"),
            ("checkAvailability", {"campaign_id": "\u3000"}, {"campaign_id": "x"}, "flo_campaign_id", "missing_required"),
            ("ingestLead", {"flo_campaign_id": "\u3000", "supplier_id": "s"}, {"supplier_id": "s"},
             "campaign_id", "missing_required"),
            ("ingestLead", {"flo_supplier_id": "a", "supplier_id": "b"}, {"flo_supplier_id": "a", "supplier_id": "a"},
             "supplier_id", "not_allowed_value"),
            ("ingestLead", {"flo_supplier_id": "a", "supplier_id": 7}, {"supplier_id": "b"},
             "supplier_id", "not_allowed_value"),
            ("reportStatus", {"occurred_at": to_come(400)}, {"occurred_at": to_come(200)}, "occurred_at", "out_of_range"),
            ("reportStatus", {"status": "returned"}, {"status": "sold"}, "reason", "missing_required"),
            ("sendPost", {"auction_id": "a-1", "lead": {"address": {"state": "TX"}}},
             {"auction_id": "a-1", "lead": {"address": {"state": "CA"}}}, "lead.address.state", "ping_mismatch"),
            ("sendPost", {"auction_id": "a-1", "lead": {"address": {"zip": "94205"}}},
             {"auction_id": "a-1", "lead": {"address": {"zip": "94105"}}}, "lead.address.zip", "ping_mismatch"),
            ("ingestLead", {"flo_ping_id": "ping_1", "state": "TX"}, {"flo_ping_id": "ping_1", "state": "CA"},
             "state", "ping_mismatch"),
        ):  # fmt: skip
            with self.subTest(field=field, code=code):
                self.assertTrue(self.holds(operation, asks, field, code))
                if does_not is not None:
                    self.assertFalse(self.holds(operation, does_not, field, code))
                self.assertFalse(self.holds(operation, asks, "tcpa_consent", code))
                self.assertFalse(self.holds(operation, asks, field, "unknown_field"))

    def test_one_left(self) -> None:
        answer = refused(("expires_at", "expired"), ("state", "invalid_format"))
        left = unexplained(sent("sendPing", {"expires_at": "2020-01-01T00:00:00Z"}), 422, answer)
        self.assertEqual(left, ["state: invalid_format"])

    def test_whole(self) -> None:
        for operation, body, status, code, explained in (
            ("sendPost", {"auction_id": "a-1", "bid_token": "bid_2"}, 422, "invalid_bid_token", True),
            ("sendPost", {"auction_id": "a-2", "bid_token": "bid_1"}, 422, "invalid_bid_token", True),
            ("sendPost", {"auction_id": "a-1", "bid_token": "bid_1"}, 422, "invalid_bid_token", False),
            ("sendPost", {"auction_id": "a-0", "bid_token": "bid_0"}, 410, "bid_expired", True),
            ("sendPost", {"auction_id": "a-1", "bid_token": "bid_1"}, 410, "bid_expired", False),
            ("sendPost", {"auction_id": "a-1", "bid_token": "bid_1"}, 409, "already_sold", False),
            ("sendPing", PING, 409, "auction_exists", False),
            ("sendPing", PING, 422, "idempotency_key_reused", False),
            ("sendPing", PING, 413, "payload_too_large", False),
            ("sendPing", PING, 401, "unauthorized", False),
            ("sendPing", PING, 429, "rate_limited", False),
            ("sendPing", PING, 503, "unavailable", False),
            ("sendPing", {**PING, "x": 10**129}, 400, "malformed_json", True),
            ("sendPing", {**PING, "x": 10**120}, 400, "malformed_json", False),
            ("createToken", {"grant_type": "client_credentials"}, 401, "invalid_client", True),
            ("createToken", {"client_id": "acme", "scope": "webhook"}, 400, "invalid_scope", True),
            ("createToken", {"client_id": "acme", "scope": "ping"}, 400, "invalid_scope", False),
            ("createToken", {"client_id": "acme"}, 400, "invalid_request", False),
        ):  # fmt: skip
            with self.subTest(operation=operation, code=code, body=body):
                self.assertEqual(unexplained(sent(operation, body), status, {"error": code}) == [], explained)


class Taken(unittest.TestCase):
    def test_what_says_nothing(self) -> None:
        for body, taken in (
            ({**PING, "source": None}, True),
            ({**PING, "source": " \u200b"}, True),
            ({**PING, "source": 5}, False),
            ({**PING, "state": None}, False),
            ({**PING, "vertical": " "}, False),
            ({**PING, "source": None, "zip3": "9"}, False),
            (None, False),
            ([], False),
        ):
            with self.subTest(body=body):
                self.assertEqual(rightly_taken(sent("sendPing", body), {}), taken)
        deep = {"auction_id": "a", "bid_token": "b", "lead": {**LEAD, "address": {"zip": None}, "tcpa": None}}
        self.assertTrue(rightly_taken(sent("sendPost", deep), {}))
        self.assertFalse(rightly_taken(sent("sendPost", {**deep, "lead": {**LEAD, "email": None}}), {}))

    def test_batch(self) -> None:
        good, bad = {"lead_id": "x", "status": "sold"}, {"lead_id": "x", "status": 5}
        told, untold = {"error": "invalid_payload"}, {"error": "not_found"}
        for changes, results, taken in (
            ([good, bad], [untold, told], True),
            ([good, bad], [untold, untold], False),
            ([good, bad], [told], False),
            ([], [], False),
            ({}, [], False),
            ([bad], [{"status": "sold"}], False),
        ):
            with self.subTest(changes=changes, results=results):
                self.assertEqual(rightly_taken(sent("reportStatuses", {"changes": changes}), {"results": results}), taken)

    def test_headers(self) -> None:
        for headers, taken in (
            ({"Idempotency_Key": " k\t"}, True),
            ({"Idempotency_Key": "k k"}, False),
            ({"Idempotency_Key": ""}, False),
            ({"X_Pingpost_Test": "1"}, True),
            ({"X_Pingpost_Test": "yes"}, False),
        ):
            with self.subTest(headers=headers):
                self.assertEqual(rightly_taken(sent("sendPing", PING, **headers), {}), taken)
        whole = {"flo_campaign_id": "c", "flo_supplier_id": "s", **{n: v for n, v in LEAD.items() if n != "lead_uuid"}}
        self.assertTrue(rightly_taken(sent("ingestLead", whole, Idempotency_Key=""), {}))
        for names, taken in (
            ({"campaign_id": "c", "supplier_id": "s"}, True),
            ({"campaign_id": "c", "flo_supplier_id": "s", "flo_campaign_id": " "}, True),
            ({"campaign_id": "c"}, False),
        ):
            with self.subTest(names=names):
                body = {n: v for n, v in whole.items() if not n.startswith("flo_")} | names
                self.assertEqual(rightly_taken(sent("ingestLead", body), {}), taken)


if __name__ == "__main__":
    unittest.main()
