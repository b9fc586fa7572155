"""An access token in memory, and when it is to be renewed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Optional

from pingpost.models import TokenResponse

RENEW_AT = 0.9
"""After which part of its life a token is renewed."""


@dataclass(frozen=True)
class Token:
    """One that was given."""

    text: str = field(repr=False)
    renew_at: float
    """By the clock that it was got by."""

    def serves(self, now: float, refused: Optional[str]) -> bool:
        """Whether a call may use it: it is not about to end, and not the one that was refused."""
        return now < self.renew_at and self.text != refused


def keep(answer: TokenResponse, asked: float) -> Token:
    """The token of an answer. Asked is when it was asked for, since its life began no earlier."""
    return Token(answer.access_token, asked + answer.expires_in * RENEW_AT)
