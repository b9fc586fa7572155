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
    r"""A bid that you can accept.
    """

    amount: Decimal
    currency: str
    r"""An ISO 4217 currency code.
    """
    bid_token: str
    r"""The token for the post. It is valid for this auction and this seller only.
    """
    valid_until: datetime
    r"""When the bid expires.
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
