# Made by sdk/generate from api/openapi.yaml. Edit that, or sdk/python/templates, and run it again.
# ruff: noqa
# pyright: reportUnusedImport=false
from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any, ClassVar, Dict, List, Mapping, Optional, Tuple, Union

from pingpost._model import Member, Model


@dataclass(init=False, repr=False)
class BuyerBid(Model):
    r"""A buyer's bid.
    """

    amount: Decimal
    r"""The price that you offer. Digits past the sixth decimal are cut; an amount below 0.000001 is no valid bid.
    """
    currency: Optional[str]
    r"""A currency by ISO 4217.
    """
    bid_token: str
    r"""What the post shows you again, of 1 to 512 visible ASCII characters.
    """
    valid_until: Optional[datetime]
    r"""Until when you stand by the bid. Left out, as long as the exchange waits, which is five seconds.
    """

    MEMBERS: ClassVar[Tuple[Member, ...]] = (
        Member("amount", "amount", Decimal, required=True),
        Member("currency", "currency", str),
        Member("bid_token", "bid_token", str, required=True),
        Member("valid_until", "valid_until", datetime),
    )

    def __init__(
        self,
        *,
        amount: Decimal,
        currency: Optional[str] = None,
        bid_token: str,
        valid_until: Optional[datetime] = None,
        extra: Optional[Mapping[str, Any]] = None,
    ) -> None:
        self.amount = amount
        self.currency = currency
        self.bid_token = bid_token
        self.valid_until = valid_until
        self.extra = dict(extra or {})
