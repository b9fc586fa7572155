"""Client of a pingpost exchange, for suppliers and buyers: calls, webhooks, and a buyer's endpoint."""

from __future__ import annotations

from typing import Any

from pingpost._async_client import AsyncClient
from pingpost._client import Client
from pingpost._meta import Meta, RateLimit
from pingpost._model import Model, OpenEnum, ShapeError
from pingpost._version import VERSION as __version__
from pingpost._wire import encode
from pingpost.buyer import Bid, Buyer, Credential, NoBid, Refusal
from pingpost.errors import (
    ApiError,
    Conflict,
    Expired,
    Forbidden,
    InvalidRequest,
    NotFound,
    PingpostError,
    RateLimited,
    ServerError,
    SignatureError,
    TimeoutError,
    TransportError,
    Unauthorized,
)
from pingpost.webhooks import verify_webhook

__all__ = [
    "ApiError",
    "AsyncClient",
    "Bid",
    "Buyer",
    "Client",
    "Conflict",
    "Credential",
    "Expired",
    "Forbidden",
    "InvalidRequest",
    "Meta",
    "Model",
    "NoBid",
    "NotFound",
    "OpenEnum",
    "PingpostError",
    "RateLimit",
    "RateLimited",
    "Refusal",
    "ServerError",
    "ShapeError",
    "SignatureError",
    "TimeoutError",
    "TransportError",
    "Unauthorized",
    "__version__",
    "to_json",
    "verify_webhook",
]


def to_json(value: Any) -> bytes:
    """Encodes a model, or a value of JSON types, Decimals and datetimes, as for a request."""
    return encode(value)
