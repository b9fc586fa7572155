"""What comes beside the body of an answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Mapping, Optional


@dataclass(frozen=True)
class RateLimit:
    """The limit that the request was counted against, where the exchange told it."""

    limit: int
    """Requests a second, and how many at once."""
    remaining: int
    """How many more may be sent at once."""
    reset: int
    """When all of them may be sent at once again, in Unix seconds."""


@dataclass(frozen=True)
class Meta:
    """Of one answer. Name `request_id` when you ask the operator for help."""

    status: int
    request_id: Optional[str]
    replayed: bool
    """Whether this is the first answer to the Idempotency-Key once more."""
    rate_limit: Optional[RateLimit]
    idempotency_key: Optional[str]
    """The key that was sent: the one given, or the one that was made."""
    test: bool
    """Whether the request was taken as a test."""


def read_rate_limit(headers: Mapping[str, str]) -> Optional[RateLimit]:
    """The three headers of a limit, or None where one of them is not there or no number."""
    try:
        return RateLimit(
            int(headers["X-RateLimit-Limit"]),
            int(headers["X-RateLimit-Remaining"]),
            int(headers["X-RateLimit-Reset"]),
        )
    except (KeyError, ValueError):
        return None
