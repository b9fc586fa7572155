"""What schemathesis is told of the exchange. SCHEMATHESIS_HOOKS names it."""

from __future__ import annotations

import os
import time
from typing import Any

import schemathesis

import crowd
import settle
from exceptions import parsed
from memory import RUN, is_test

NARROW = os.environ.get("LIVE_TENANT") == "narrow"
SUPPLIED = ["ingestLead", "checkAvailability", "getSuppliedLead"]
SOLD = ["sendPing", "sendPost", "getLead", "seedLeads"]
REPORTED = ["reportStatus", "reportStatuses"]


@schemathesis.deserializer("text/html")
def page(ctx: Any, response: schemathesis.Response) -> str:
    """A page is text, and the document says no more of it."""
    return response.text


@schemathesis.auth().apply_to(operation_id=SUPPLIED)
class Key:
    """The supplier's API key."""

    def get(self, case: schemathesis.Case, ctx: schemathesis.AuthContext) -> str:
        return os.environ["LIVE_KEY"]

    def set(self, case: schemathesis.Case, data: str, ctx: schemathesis.AuthContext) -> None:
        case.headers["x-api-key"] = data


class Bearer:
    """An access token and a static one in turns: both schemes are tried on each path."""

    client = ""
    static = ""

    def get(self, case: schemathesis.Case, ctx: schemathesis.AuthContext) -> tuple[str, str]:
        RUN.tokens.add(os.environ[self.static])
        return RUN.access_token(self.client), os.environ[self.static]

    def set(self, case: schemathesis.Case, data: tuple[str, str], ctx: schemathesis.AuthContext) -> None:
        case.headers["Authorization"] = f"Bearer {RUN.chance.choice(data)}"


@schemathesis.auth().apply_to(operation_id=SOLD)
class Seller(Bearer):
    client, static = "acme", "LIVE_TOKEN"


@schemathesis.auth().apply_to(operation_id=REPORTED)
class Reporter(Bearer):
    client, static = "rest", "LIVE_REPORTER_TOKEN"


@schemathesis.hook
def before_load_schema(ctx: schemathesis.HookContext, raw_schema: dict[str, Any]) -> None:
    """Links from what is told to what it is good for. In the document they would have to be
    written as bodies, which generators of code take for text."""

    def link(path: str, method: str, status: str, name: str, to: dict[str, Any]) -> None:
        raw_schema["paths"][path][method]["responses"][status].setdefault("links", {})[name] = to

    link("/v1/ping", "post", "200", "post", {
        "operationId": "sendPost",
        "requestBody": {"auction_id": "$response.body#/auction_id", "bid_token": "$response.body#/bid/bid_token"},
        "x-schemathesis": {"merge_body": True},
    })  # fmt: skip
    link("/api/v1/ping", "post", "200", "ingest", {
        "operationId": "ingestLead",
        "requestBody": {
            "flo_ping_id": "$response.body#/data/ping_id",
            "flo_buyer_id": "$response.body#/data/buyers/0/buyer_id",
            "flo_campaign_id": "$response.body#/data/campaign_id",
        },
        "x-schemathesis": {"merge_body": True},
    })  # fmt: skip
    link("/api/v1/ingest", "post", "201", "report", {
        "operationId": "reportStatus", "parameters": {"id": "$response.body#/data/id"},
    })  # fmt: skip


def is_negative(case: schemathesis.Case, location: str) -> bool:
    meta = case.meta
    if meta is None:
        return False
    return any(place.name == location and info.mode.is_negative for place, info in meta.components.items())


@schemathesis.hook
def before_call(ctx: schemathesis.HookContext, case: schemathesis.Case, kwargs: dict[str, Any]) -> None:
    _fresh_key(case)
    if not NARROW:
        _pace(case)
        _settle(case)


PACE = 1 / 80  # seconds; a hundred a second may be asked about leads, which is no setting
last = 0.0


def _pace(case: schemathesis.Case) -> None:
    global last
    if "/leads/" in case.operation.path:
        time.sleep(max(0.0, last + PACE - time.monotonic()))
        last = time.monotonic()


def _settle(case: schemathesis.Case) -> None:
    operation = case.operation.definition.raw["operationId"]
    phase = case.meta.phase.name.value if case.meta is not None else ""
    settle.always = phase == "examples"
    linked = phase == "stateful" and case._override is not None
    if operation in settle.LEADS and not is_negative(case, "PATH") and not linked and settle.mostly():
        case.path_parameters["id"] = settle.LEADS[operation]()
    if operation == "reportStatus" and RUN.leads.get(str(case.path_parameters.get("id"))) == "buy_blue":
        case.headers["Authorization"] = f"Bearer {RUN.access_token('blue')}"
    if operation == "createToken" and isinstance(case.body, dict):
        settle.token(case.body, case.headers)
    if operation in settle.BODIES and isinstance(case.body, dict):
        if linked and not is_negative(case, "HEADER") and (test := settle.test_of(case.body)) is not None:
            case.headers["X-Pingpost-Test"] = "1" if test else "0"
        about = settle.About(is_test(str(case.headers.get("X-Pingpost-Test", ""))), linked)
        settle.BODIES[operation](case.body, about)


def _fresh_key(case: schemathesis.Case) -> None:
    """A key names one request, and generated ones come again with other bodies."""
    for name, value in list(case.headers.items()):
        if name.lower() == "idempotency-key" and settle.valid("IdempotencyKey", str(value)):
            case.headers[name] = f"{RUN.next()}-{value}"[:255]


@schemathesis.hook
def after_call(ctx: schemathesis.HookContext, case: schemathesis.Case, response: schemathesis.Response) -> None:
    """Keeps what was told."""
    if response.status_code >= 300:
        return
    operation, told = case.operation.definition.raw["operationId"], parsed(response.text)
    body: Any = case.body
    test = "x-pingpost-test" in response.headers
    if operation == "sendPing":
        RUN.learn_ping(body, told, test)
    elif operation == "sendPost":
        RUN.taken.add(body["bid_token"])
        RUN.leads[told["id"]] = told["buyer_id"]
    elif operation == "checkAvailability":
        RUN.learn_offers(body, told, test)
    elif operation == "ingestLead":
        RUN.leads[told["data"]["id"]] = told["data"]["buyer_id"]
    elif operation == "reportStatus":
        RUN.reported.add(told["lead_id"])
    elif operation == "reportStatuses":
        RUN.reported.update(result["lead_id"] for result in told["results"] if "status" in result)


if NARROW:
    crowd.begin()

import verdicts  # noqa: E402, F401 (the checks register themselves)


@schemathesis.deserializer("text/markdown", "application/pdf")
def as_text(ctx: object, response: schemathesis.Response) -> str:
    """The formats of posting instructions are texts of the document, not JSON."""
    return response.content.decode("latin-1")
