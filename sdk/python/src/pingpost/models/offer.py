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
class Offer(Model):
    r"""One buyer's bid, as the supplier's payout.
    """

    buyer_id: str
    r"""The buyer.
    """
    amount: Decimal
    currency: str
    r"""An ISO 4217 currency code.
    """
    valid_until: datetime
    r"""When the offer expires.
    """

    MEMBERS: ClassVar[Tuple[Member, ...]] = (
        Member("buyer_id", "buyer_id", str, required=True),
        Member("amount", "amount", Decimal, required=True),
        Member("currency", "currency", str, required=True),
        Member("valid_until", "valid_until", datetime, required=True),
    )

    def __init__(
        self,
        *,
        buyer_id: str,
        amount: Decimal,
        currency: str,
        valid_until: datetime,
        extra: Optional[Mapping[str, Any]] = None,
    ) -> None:
        self.buyer_id = buyer_id
        self.amount = amount
        self.currency = currency
        self.valid_until = valid_until
        self.extra = dict(extra or {})
