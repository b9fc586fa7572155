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
class Price(Model):
    r"""An amount of money and its currency.
    """

    amount: Decimal
    currency: str
    r"""An ISO 4217 currency code.
    """

    MEMBERS: ClassVar[Tuple[Member, ...]] = (
        Member("amount", "amount", Decimal, required=True),
        Member("currency", "currency", str, required=True),
    )

    def __init__(
        self,
        *,
        amount: Decimal,
        currency: str,
        extra: Optional[Mapping[str, Any]] = None,
    ) -> None:
        self.amount = amount
        self.currency = currency
        self.extra = dict(extra or {})
