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
    r"""The offered price. Digits after the sixth decimal are cut. An amount below 0.000001 is invalid.
    """
    currency: Optional[str]
    r"""An ISO 4217 currency code.
    """
    bid_token: str
    r"""The token that the post repeats, of 1 to 512 visible ASCII characters.
    """
    valid_until: Optional[datetime]
    r"""When the bid expires. By default after five seconds, when the exchange stops waiting.
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
