"""An access token in memory, and the time of its renewal."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Optional

from pingpost.models import TokenResponse

RENEW_AT = 0.9
"""The part of its lifetime after which a token is renewed."""


@dataclass(frozen=True)
class Token:
    """A received token."""

    text: str = field(repr=False)
    renew_at: float
    """Expiry, by the clock of the request for it."""

    def serves(self, now: float, refused: Optional[str]) -> bool:
        """Whether a call may use it: it is not about to expire, and was not rejected."""
        return now < self.renew_at and self.text != refused


def keep(answer: TokenResponse, asked: float) -> Token:
    """Reads the token of an answer. Its lifetime starts at `asked`, the time of the request."""
    return Token(answer.access_token, asked + answer.expires_in * RENEW_AT)
