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
class BuyerReceipt(Model):
    r"""A buyer's acknowledgment of a lead. The exchange reads the buyer's id from `lead_id`, else `id`, else `buyer_lead_id`, else `data.id`: text or a number of at most 128 characters. It can be missing.
    """

    lead_id: Optional[str]
    r"""Your id of the lead.
    """

    MEMBERS: ClassVar[Tuple[Member, ...]] = (
        Member("lead_id", "lead_id", str),
    )

    def __init__(
        self,
        *,
        lead_id: Optional[str] = None,
        extra: Optional[Mapping[str, Any]] = None,
    ) -> None:
        self.lead_id = lead_id
        self.extra = dict(extra or {})
