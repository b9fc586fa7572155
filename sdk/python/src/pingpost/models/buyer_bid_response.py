# Made by sdk/generate from api/openapi.yaml. Edit that, or sdk/python/templates, and run it again.
# ruff: noqa
# pyright: reportUnusedImport=false
from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any, ClassVar, Dict, List, Mapping, Optional, Tuple, Union

from pingpost._model import Member, Model
from pingpost.models.buyer_bid import BuyerBid


@dataclass(init=False, repr=False)
class BuyerBidResponse(Model):
    r"""A buyer's answer to a ping. `bid` is an object, or null with a `reject_reason`.
    """

    auction_id: Optional[str]
    r"""The `auction_id` of the ping. Required with a bid.
    """
    bid: Optional[BuyerBid]
    buyer_filters_passed: Optional[List[str]]
    r"""The conditions that the lead meets, such as `state`, `vertical`, `tcpa` and `score_threshold`.
    """
    reject_reason: Optional[str]
    r"""With a no-bid, the cause as a code.
    """
    reject_detail: Optional[str]
    r"""With a no-bid, the cause as text for people.
    """

    MEMBERS: ClassVar[Tuple[Member, ...]] = (
        Member("auction_id", "auction_id", str),
        Member("bid", "bid", BuyerBid, required=True, nullable=True),
        Member("buyer_filters_passed", "buyer_filters_passed", str, many=True),
        Member("reject_reason", "reject_reason", str),
        Member("reject_detail", "reject_detail", str),
    )

    def __init__(
        self,
        *,
        auction_id: Optional[str] = None,
        bid: Optional[BuyerBid],
        buyer_filters_passed: Optional[List[str]] = None,
        reject_reason: Optional[str] = None,
        reject_detail: Optional[str] = None,
        extra: Optional[Mapping[str, Any]] = None,
    ) -> None:
        self.auction_id = auction_id
        self.bid = bid
        self.buyer_filters_passed = buyer_filters_passed
        self.reject_reason = reject_reason
        self.reject_detail = reject_detail
        self.extra = dict(extra or {})
