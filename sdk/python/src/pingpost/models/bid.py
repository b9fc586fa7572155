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
class Bid(Model):
    r"""A bid that can be taken up.
    """

    amount: Decimal
    currency: str
    r"""A currency by ISO 4217.
    """
    bid_token: str
    r"""What the post has to show. It is good for this auction and this seller alone.
    """
    valid_until: datetime
    r"""Until when the bid can be taken up.
    """

    MEMBERS: ClassVar[Tuple[Member, ...]] = (
        Member("amount", "amount", Decimal, required=True),
        Member("currency", "currency", str, required=True),
        Member("bid_token", "bid_token", str, required=True),
        Member("valid_until", "valid_until", datetime, required=True),
    )

    def __init__(
        self,
        *,
        amount: Decimal,
        currency: str,
        bid_token: str,
        valid_until: datetime,
        extra: Optional[Mapping[str, Any]] = None,
    ) -> None:
        self.amount = amount
        self.currency = currency
        self.bid_token = bid_token
        self.valid_until = valid_until
        self.extra = dict(extra or {})
