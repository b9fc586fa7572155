"""The operations: path, parameters other than the body, and answer model."""

from __future__ import annotations

import re
import uuid
from dataclasses import dataclass
from typing import Any, Dict, Generic, Mapping, Optional, Type, TypeVar, Union
from urllib.parse import quote

from pingpost._model import Model
from pingpost._wire import encode
from pingpost.models import (
    AvailabilityResponse,
    BidResponse,
    IngestResponse,
    Lead,
    LeadResponse,
    PostResponse,
    SeedResponse,
    StatusBatchResponse,
    StatusResponse,
    TokenResponse,
)

A = TypeVar("A", bound=Model)

Body = Union[Model, Mapping[str, Any]]

_VISIBLE = re.compile(r"[!-~]{1,255}", re.ASCII)


@dataclass(frozen=True)
class Operation(Generic[A]):
    """One operation of the API."""

    method: str
    path: str
    answer: Type[A]
    keyed: bool = False
    """Whether it accepts an Idempotency-Key."""
    public: bool = False
    """Whether it needs no credential."""

    @property
    def by_api_key(self) -> bool:
        """Whether it needs an API key. The other operations need a token."""
        return self.path.startswith("/api/")


INGEST_LEAD = Operation("POST", "/api/v1/ingest", IngestResponse, keyed=True)
CHECK_AVAILABILITY = Operation("POST", "/api/v1/ping", AvailabilityResponse, keyed=True)
GET_SUPPLIED_LEAD = Operation("GET", "/api/v1/leads/{id}", LeadResponse)
SEND_PING = Operation("POST", "/v1/ping", BidResponse, keyed=True)
SEND_POST = Operation("POST", "/v1/post", PostResponse, keyed=True)
GET_LEAD = Operation("GET", "/v1/leads/{id}", Lead)
REPORT_STATUS = Operation("POST", "/v1/leads/{id}/status", StatusResponse, keyed=True)
REPORT_STATUSES = Operation("POST", "/v1/leads/status", StatusBatchResponse, keyed=True)
SEED_LEADS = Operation("POST", "/v1/dev/seed", SeedResponse)
CREATE_TOKEN = Operation("POST", "/oauth/token", TokenResponse, public=True)


@dataclass(frozen=True, repr=False)
class Call(Generic[A]):
    """One encoded call. Each attempt sends exactly this, with the credential."""

    operation: Operation[A]
    url: str
    headers: Dict[str, str]
    body: Optional[bytes]
    timeout: float
    idempotency_key: Optional[str]


def write(
    operation: Operation[A],
    base: str,
    *,
    body: Optional[Body] = None,
    lead_id: Optional[str] = None,
    idempotency_key: Optional[str] = None,
    test: bool = False,
    timeout: float,
    user_agent: str,
) -> Call[A]:
    """Encodes a call. Raises ValueError or TypeError for an invalid argument."""
    path = operation.path
    if lead_id is not None:
        if lead_id in ("", ".", ".."):
            raise ValueError("a lead id is what the exchange called the lead, such as lead_…")
        path = path.replace("{id}", quote(lead_id, safe=""))
    headers = {"Accept": "application/json", "User-Agent": user_agent}
    content: Optional[bytes] = None
    if operation.method == "POST":
        if not isinstance(body, (Model, Mapping)):
            raise TypeError(f"the request is a {type(body).__name__}, and neither a model nor a mapping")
        headers["Content-Type"] = "application/json"
        content = encode(body)
    if operation.keyed:
        if idempotency_key is None:
            idempotency_key = str(uuid.uuid4())
        if not _VISIBLE.fullmatch(idempotency_key):
            raise ValueError("an idempotency key is 1 to 255 visible ASCII characters")
        headers["Idempotency-Key"] = idempotency_key
    if test:
        headers["X-Pingpost-Test"] = "1"
    return Call(operation, base + path, headers, content, positive(timeout), idempotency_key)


def positive(timeout: float) -> float:
    if not timeout > 0:
        raise ValueError("a timeout is more than 0 seconds")
    return timeout
