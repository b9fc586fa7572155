"""What a buyer's two functions may answer."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any, Dict, Optional, Sequence, Union

MAX_AMOUNT = 1_000_000


@dataclass(frozen=True)
class Bid:
    """A bid. Raises ValueError for an amount below 0, over a million, or that is no number."""

    amount: Union[Decimal, int, float, str]
    currency: Optional[str] = None
    """By ISO 4217; left out: the campaign's."""
    token: Optional[str] = None
    """What the post will present, 1 to 512 visible ASCII characters. Left out: one is made."""
    valid_until: Optional[datetime] = None
    """With its time zone. Left out: as long as a bid can stand."""
    filters_passed: Sequence[str] = ()

    def __post_init__(self) -> None:
        try:
            amount = Decimal(str(self.amount))
        except ArithmeticError:
            raise ValueError("the amount of a bid is a number") from None
        if not amount.is_finite() or not 0 <= amount <= MAX_AMOUNT:
            raise ValueError(f"the amount of a bid is from 0 to {MAX_AMOUNT}")
        if self.token is not None and not (
            1 <= len(self.token) <= 512 and all("!" <= c <= "~" for c in self.token)
        ):
            raise ValueError("the token of a bid is 1 to 512 visible ASCII characters")
        if self.valid_until is not None and self.valid_until.tzinfo is None:
            raise ValueError("valid_until needs a time zone")
        object.__setattr__(self, "amount", amount)

    def wire(self, token: str, valid_until: datetime) -> Dict[str, Any]:
        """The bid object, with what it does not say itself."""
        bid: Dict[str, Any] = {"amount": self.amount}
        if self.currency is not None:
            bid["currency"] = self.currency
        bid["bid_token"] = self.token or token
        bid["valid_until"] = self.valid_until or valid_until
        return bid


@dataclass(frozen=True)
class NoBid:
    """No bid, and why: a word for machines, and a sentence for people. Tell nothing of the person."""

    reason: str = "no_bid"
    detail: Optional[str] = None


@dataclass(frozen=True)
class Refusal:
    """The lead is not taken. Tell nothing of the person."""

    reason: str
    message: str = "the lead is refused"
