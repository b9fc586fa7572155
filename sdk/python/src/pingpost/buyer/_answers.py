"""The results of a buyer's two functions."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any, Dict, Optional, Sequence, Union

MIN_AMOUNT = Decimal("0.000001")
MAX_AMOUNT = 1_000_000


@dataclass(frozen=True)
class Bid:
    """A bid. Raises ValueError for an amount that is not a number from 0.000001 to 1,000,000."""

    amount: Union[Decimal, int, float, str]
    currency: Optional[str] = None
    """ISO 4217 code. Default: the campaign's currency."""
    token: Optional[str] = None
    """The token that the post will contain, 1 to 512 visible ASCII characters. Default: generated."""
    valid_until: Optional[datetime] = None
    """With a time zone. Default: the longest validity of a bid."""
    filters_passed: Sequence[str] = ()

    def __post_init__(self) -> None:
        try:
            amount = Decimal(str(self.amount))
        except ArithmeticError:
            raise ValueError("the amount of a bid is a number") from None
        if not amount.is_finite() or not MIN_AMOUNT <= amount <= MAX_AMOUNT:
            raise ValueError(f"the amount of a bid is from {MIN_AMOUNT} to {MAX_AMOUNT}")
        if self.token is not None and not (
            1 <= len(self.token) <= 512 and all("!" <= c <= "~" for c in self.token)
        ):
            raise ValueError("the token of a bid is 1 to 512 visible ASCII characters")
        if self.valid_until is not None and self.valid_until.tzinfo is None:
            raise ValueError("valid_until needs a time zone")
        object.__setattr__(self, "amount", amount)

    def wire(self, token: str, valid_until: datetime) -> Dict[str, Any]:
        """The bid object with defaults filled in."""
        bid: Dict[str, Any] = {"amount": self.amount}
        if self.currency is not None:
            bid["currency"] = self.currency
        bid["bid_token"] = self.token or token
        bid["valid_until"] = self.valid_until or valid_until
        return bid


@dataclass(frozen=True)
class NoBid:
    """No bid, with a reason code and a message. Do not include personal data."""

    reason: str = "no_bid"
    detail: Optional[str] = None


@dataclass(frozen=True)
class Refusal:
    """The lead is rejected. Do not include personal data."""

    reason: str
    message: str = "the lead is refused"
