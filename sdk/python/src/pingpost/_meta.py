"""The metadata of an answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Mapping, Optional


@dataclass(frozen=True)
class RateLimit:
    """The rate limit that counted the request, if the exchange sent it."""

    limit: int
    """Requests per second, and the burst size."""
    remaining: int
    """Remaining requests of the burst."""
    reset: int
    """Time at which the full burst is available again, in Unix seconds."""


@dataclass(frozen=True)
class Meta:
    """Metadata of one answer. Give the `request_id` when you ask the operator for help."""

    status: int
    request_id: Optional[str]
    replayed: bool
    """Whether this is a replay of the first answer to the Idempotency-Key."""
    rate_limit: Optional[RateLimit]
    idempotency_key: Optional[str]
    """The sent key: yours, or a generated one."""
    test: bool
    """Whether the exchange treated the request as a test."""


def read_rate_limit(headers: Mapping[str, str]) -> Optional[RateLimit]:
    """Reads the three rate limit headers. None if one is missing or not a number."""
    try:
        return RateLimit(
            int(headers["X-RateLimit-Limit"]),
            int(headers["X-RateLimit-Remaining"]),
            int(headers["X-RateLimit-Reset"]),
        )
    except (KeyError, ValueError):
        return None
