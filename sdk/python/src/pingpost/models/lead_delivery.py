# Made by sdk/generate from api/openapi.yaml. Edit that, or sdk/python/templates, and run it again.
# ruff: noqa
# pyright: reportUnusedImport=false
from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any, ClassVar, Dict, List, Mapping, Optional, Tuple, Union

from pingpost._model import Member, Model
from pingpost.models.post_lead import PostLead


@dataclass(init=False, repr=False)
class LeadDelivery(Model):
    r"""A lead that a buyer bought.
    """

    auction_id: str
    r"""The auction's id, or the lead's id without an auction.
    """
    bid_token: Optional[str]
    r"""The token of your bid; absent without a bid.
    """
    lead: PostLead

    MEMBERS: ClassVar[Tuple[Member, ...]] = (
        Member("auction_id", "auction_id", str, required=True),
        Member("bid_token", "bid_token", str),
        Member("lead", "lead", PostLead, required=True),
    )

    def __init__(
        self,
        *,
        auction_id: str,
        bid_token: Optional[str] = None,
        lead: PostLead,
        extra: Optional[Mapping[str, Any]] = None,
    ) -> None:
        self.auction_id = auction_id
        self.bid_token = bid_token
        self.lead = lead
        self.extra = dict(extra or {})
