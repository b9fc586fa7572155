"""Where the contract has a request refused, or taken, and a schema cannot say so.

An exception is one field with one code, and a condition on what was sent, judged anew
here (wording.py). The same code on another field, or on a value that does not meet the
condition, is found.
"""

from __future__ import annotations

import base64
import json
import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs

import document
from memory import KEY, Memory, is_test
from wording import (
    has_possible_host,
    is_ahead,
    is_blank,
    is_past,
    is_printable,
    longest_number,
    says_nothing,
    size,
    spoken,
)


@dataclass(frozen=True)
class Sent:
    """A request as it went, and what had been told before it."""

    operation: str
    media_type: str | None
    body: Any
    headers: dict[str, str]
    memory: Memory
    lead: str = ""  # the id in the path
    raw: bytes = b""  # the body as it went

    def value(self, path: str) -> Any:
        """The member at a path with dots; None: there is none."""
        found = self.body
        for name in path.split("."):
            found = found.get(name) if isinstance(found, dict) else None
        return found

    def text(self, path: str) -> str:
        value = self.value(path)
        return value if isinstance(value, str) else ""

    def id_of(self, name: str) -> str:
        """The campaign or the supplier of a lead, under either of the two names."""
        return self.text(name if says_nothing(self.value(f"flo_{name}")) else f"flo_{name}")

    @property
    def is_test(self) -> bool:
        return is_test(self.header("X-Pingpost-Test"))

    def is_blank(self, path: str) -> bool:
        """It is there, and shows nothing."""
        value = self.value(path)
        return isinstance(value, str) and is_blank(value)

    def header(self, name: str) -> str:
        return next((value for given, value in self.headers.items() if given.lower() == name.lower()), "")


@dataclass(frozen=True)
class Rule:
    """One field_error that a valid request may be answered with."""

    code: str  # a pattern, as is fields
    fields: str
    holds: Callable[[Sent, str], bool]
    why: str


def _mismatch(sent: Sent, path: str) -> bool:
    """The ping has told another place than the lead."""
    if sent.operation == "sendPost":
        place = sent.memory.auctions.get(sent.text("auction_id"))
    else:
        offer = sent.memory.offers.get(sent.text("flo_ping_id"))
        place = offer.place if offer else None
    if place is None:
        return False
    if path.endswith("state"):
        return sent.text(path) != place.state
    return place.zip3 is not None and not sent.text(path).startswith(place.zip3)


def _not_offered(sent: Sent, _: str) -> bool:
    if says_nothing(sent.value("flo_ping_id")) and says_nothing(sent.value("flo_buyer_id")):
        return False
    offer = sent.memory.offers.get(sent.text("flo_ping_id"))
    if offer is None or offer.test != sent.is_test or offer.campaign != sent.id_of("campaign_id"):
        return True
    return sent.text("flo_buyer_id") not in offer.buyers


def _differ(sent: Sent, *names: str) -> bool:
    """Both are there, and are not the same."""
    first, second = (sent.value(name) for name in names)
    return not says_nothing(first) and not says_nothing(second) and first != second


NAMES = r"auction_id|(sub_)?vertical|lead\.lead_uuid|reason"
TEXTS = r"(lead\.)?((address|tcpa)\.)?(first_name|last_name|line1|city|source|ip_address)"
CONSENT = r"(lead\.tcpa\.)?consent_"

RULES = (
    Rule("invalid_format", NAMES, lambda s, p: not is_printable(s.text(p)),
         "what is printable is known to Unicode, whose classes the patterns of the document's four dialects do not share"),
    Rule("missing_required", rf"{NAMES}|{TEXTS}|bid_token", lambda s, p: s.is_blank(p),
         "a text of white space beyond ASCII is blank as well, and so not sent"),
    Rule("missing_required", "(flo_)?(campaign|supplier)_id",
         lambda s, p: s.is_blank(p.removeprefix("flo_")) or s.is_blank("flo_" + p.removeprefix("flo_")),
         "a text of white space beyond ASCII is blank as well, under either name"),
    Rule("not_allowed_value", "(campaign|supplier)_id", lambda s, p: _differ(s, p, f"flo_{p}"),
         "a schema does not compare two members"),
    Rule("too_long", TEXTS, lambda s, p: size(s.text(p)) > 4096, "maxLength counts characters, the limit bytes"),
    Rule("too_long", CONSENT + "text", lambda s, p: size(s.text(p)) > 16384, "maxLength counts characters, the limit bytes"),
    Rule("invalid_format", r"(lead\.)?email", lambda s, p: s.text(p).find("@") > 64,
         "that what stands before the @ has 64 bytes at most would need a look ahead, which RE2 has not"),
    Rule("invalid_format", CONSENT + "cert_url", lambda s, p: not has_possible_host(s.text(p)),
         "that a port is at most 65535, and which groups make an IPv6 address, is no pattern to read"),
    Rule("expired", "expires_at", lambda s, p: is_past(s.text(p)), "a schema knows no clock"),
    Rule("out_of_range", "occurred_at", lambda s, p: is_ahead(s.text(p), 300), "a schema knows no clock"),
    Rule("missing_required", "reason", lambda s, _: s.value("status") == "returned" and is_blank(s.text("reason")),
         "a return needs a reason; generators of code do not understand if and then"),
    Rule("ping_mismatch", r"(lead\.address\.)?(state|zip)", _mismatch, "it has to agree with the ping"),
    Rule("unknown", "flo_ping_id|flo_buyer_id", _not_offered, "both must have been told, together"),
    Rule("wrong_type|out_of_range|not_allowed_value|invalid_format", r"(lead\.)?(homeowner|vehicle_count|driver_age_band)",
         lambda s, p: not OWN[p.rpartition(".")[2]](s.value(p)), "the campaign's own fields"),
    Rule("contact_field_not_allowed", ".*", lambda s, p: re.sub("[^a-z0-9]", "", p.rpartition(".")[2].lower()) in CONTACT,
         "which names are contact details' the document tells in words"),
    Rule("inactive", "(flo_)?campaign_id", lambda s, p: s.operation == "checkAvailability" and s.text(p) == "cmp_rest",
         "a campaign without auctions has nobody to ask"),
)  # fmt: skip

CONTACT = ("firstname", "lastname", "phone", "email", "line1")
OWN: dict[str, Callable[[Any], bool]] = {
    "homeowner": lambda value: type(value) is bool,
    "vehicle_count": lambda value: type(value) in (int, float) and value in range(21),
    "driver_age_band": lambda value: value in ("18-24", "25-34", "35-44", "45-54", "55+"),
}


def _bid_not_told(sent: Sent) -> bool:
    bid = sent.memory.bids.get(sent.text("bid_token"))
    return bid is None or bid.auction != sent.text("auction_id") or bid.test != sent.is_test


def _bid_over(sent: Sent) -> bool:
    bid = sent.memory.bids.get(sent.text("bid_token"))
    return bid is not None and is_past(bid.valid_until)


def _bid_taken(sent: Sent) -> bool:
    return sent.text("bid_token") in sent.memory.taken


def _auction_known(sent: Sent) -> bool:
    return sent.text("auction_id") in sent.memory.auctions


def _no_lead(sent: Sent) -> bool:
    return sent.lead not in sent.memory.leads


def _nobodys(sent: Sent) -> bool:
    return sent.memory.leads.get(sent.lead) is None


def _reported(sent: Sent) -> bool:
    return sent.lead in sent.memory.reported


def _basic(sent: Sent) -> tuple[str, str]:
    """The client that HTTP Basic names; empty: none."""
    kind, _, coded = sent.header("Authorization").partition(" ")
    if kind.lower() != "basic":
        return "", ""
    client, _, secret = base64.b64decode(coded).decode("utf-8", "replace").partition(":")
    return client, secret


def _client_twice(sent: Sent) -> bool:
    client, _ = _basic(sent)
    return client != "" and (sent.text("client_secret") != "" or sent.text("client_id") not in ("", client))


def _no_client(sent: Sent) -> bool:
    client, secret = _basic(sent) if sent.header("Authorization") else (sent.text("client_id"), sent.text("client_secret"))
    return (client, secret) not in {(name, SECRET) for name in CLIENTS}


def _parameter_twice(sent: Sent) -> bool:
    """Of a value that is no text a form has many."""
    if sent.media_type != "application/x-www-form-urlencoded":
        return False
    return any(len(values) > 1 for values in parse_qs(sent.raw.decode(), keep_blank_values=True).values())


def _scope_beyond(sent: Sent) -> bool:
    client = _basic(sent)[0] or sent.text("client_id")
    return not set(sent.text("scope").split()) <= CLIENTS.get(client, frozenset())


WHOLE: dict[tuple[str, int, str], tuple[Callable[[Sent], bool], str]] = {
    ("sendPing", 409, "auction_exists"): (_auction_known, "an auction_id names one auction"),
    ("sendPost", 422, "invalid_bid_token"): (_bid_not_told, "the token has to be one that a ping was answered with"),
    ("sendPost", 409, "already_sold"): (_bid_taken, "a bid sells one lead"),
    ("sendPost", 410, "bid_expired"): (_bid_over, "a schema knows no clock"),
    ("getLead", 404, "not_found"): (_no_lead, "a schema does not know which leads there are"),
    ("getSuppliedLead", 404, "not_found"): (_no_lead, "a schema does not know which leads there are"),
    ("getDocsPage", 404, "not_found"): (lambda sent: True, "a schema does not know which pages there are"),
    ("getInstructions", 404, "None"): (lambda sent: True, "only an operator can make a link, and the answer is a page"),
    ("reportStatus", 404, "not_found"): (_nobodys, "a schema does not know which leads there are, and who has them"),
    ("reportStatus", 409, "invalid_transition"): (_reported, "reports go forward only"),
    ("createToken", 401, "invalid_client"): (_no_client, "a schema does not know which clients there are"),
    ("createToken", 400, "invalid_request"): (
        lambda sent: _client_twice(sent) or _parameter_twice(sent),
        "the client is named in one of two places, and a parameter once (RFC 6749, 2.3 and 3.2)",
    ),
    ("createToken", 400, "invalid_scope"): (_scope_beyond, "which scopes a client has is no matter of a schema"),
}


def _is_known(sent: Sent) -> bool:
    """The credential is one that opens the operation."""
    kind, _, token = sent.header("Authorization").partition(" ")
    return sent.header("x-api-key") == KEY["x-api-key"] or (kind == "Bearer" and token in sent.memory.tokens)


CLIENTS = {"acme": frozenset({"ping", "post"}), "rest": frozenset({"webhook"}), "blue": frozenset({"webhook"})}
SECRET = os.environ.get("LIVE_SECRET", "")


def unexplained(sent: Sent, status: int, answer: Any) -> list[str]:
    """What a valid request was refused for and no exception explains; empty: all is explained."""
    code = answer.get("error") if isinstance(answer, dict) else None
    if status == 413 and len(sent.raw) > (512 if sent.operation == "reportStatuses" else 64) << 10:
        return []  # a schema does not know how long the whole body is
    if status == 400 and code == "malformed_json" and longest_number(sent.body) > 128:
        return []  # nor how a number is written
    if status == 401 and code == "unauthorized" and not _is_known(sent):
        return []  # nor which credentials are good
    if (rule := WHOLE.get((sent.operation, status, str(code)))) and rule[0](sent):
        return []
    if code != "invalid_payload" or not answer.get("field_errors"):
        return [f"{status} {code}"]
    return [f"{e['field']}: {e['code']}" for e in answer["field_errors"] if not _explained(sent, e["field"], e["code"])]


def _explained(sent: Sent, path: str, code: str) -> bool:
    return any(
        re.fullmatch(rule.code, code) and re.fullmatch(rule.fields, path) and rule.holds(sent, path) for rule in RULES
    )


def rightly_taken(sent: Sent, answer: Any) -> bool:
    """Whether a request that was made to be invalid is valid as the contract reads it."""
    return _headers_hold(sent) and (_body_holds(sent, spoken(sent.body)) or _batch_holds(sent, answer))


def _body_holds(sent: Sent, body: Any) -> bool:
    """Null and blank members count as not sent. Without them the body has to be valid."""
    if sent.media_type is None:
        return True
    validator = document.of_body(sent.operation, sent.media_type)
    return validator is not None and isinstance(body, dict) and validator.is_valid(body)


def _batch_holds(sent: Sent, answer: Any) -> bool:
    """Each report of a batch is judged by itself: those that are invalid have to be told so, one
    by one, and the rest has to be a valid batch."""
    if sent.operation != "reportStatuses" or not isinstance(sent.body, dict):
        return False
    changes, results = sent.body.get("changes"), answer.get("results")
    if not isinstance(changes, list) or not isinstance(results, list) or not 1 <= len(changes) == len(results) <= 1000:
        return False
    valid = document.of_schema("StatusBatchChange").is_valid
    return all(
        valid(spoken(change)) or result.get("error") == "invalid_payload"
        for change, result in zip(changes, results, strict=True)
    )


def _headers_hold(sent: Sent) -> bool:
    """Space around a header's value is no part of it (RFC 9110, 5.5), and an empty key is none."""
    validators = document.headers_of(sent.operation)
    for name, value in sent.headers.items():
        text = value.strip(" \t")
        if (validator := validators.get(name.lower())) and not validator.is_valid(text):
            if name.lower() == "idempotency-key" and text == "":
                continue
            return False
    return not _lacks_key(sent)


def _lacks_key(sent: Sent) -> bool:
    """A required Idempotency-Key that is not there, or empty."""
    for parameter in document.operations()[sent.operation].get("parameters", []):
        meant = document.resolve(parameter)
        if meant["in"] == "header" and meant.get("required"):
            given = {name.lower(): value for name, value in sent.headers.items()}
            if not given.get(meant["name"].lower(), "").strip(" \t"):
                return True
    return False


def parsed(text: str) -> Any:
    """JSON, or None where it is none."""
    try:
        return json.loads(text)
    except ValueError:
        return None
