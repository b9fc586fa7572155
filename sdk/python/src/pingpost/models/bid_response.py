# Made by sdk/generate from api/openapi.yaml. Edit that, or sdk/python/templates, and run it again.
# ruff: noqa
# pyright: reportUnusedImport=false
from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any, ClassVar, Dict, List, Mapping, Optional, Tuple, Union

from pingpost._model import Member, Model
from pingpost.models.bid import Bid
from pingpost.models.no_bid_reason import NoBidReason


@dataclass(init=False, repr=False)
class BidResponse(Model):
    r"""The answer to a ping. `bid` is an object, or null with `reject_reason` and `reject_detail`.
    """

    auction_id: str
    r"""The caller's id of an auction, of 1 to 255 printable characters. It must be unique.
    """
    bid: Optional[Bid]
    buyer_filters_passed: Optional[List[str]]
    r"""With a bid: the conditions of the buyer and the campaign that the lead meets. `vertical` is always present. `state`, `tcpa` (consent) and `score_threshold` are present if a list of states or a filter requires them.
    """
    reject_reason: Optional[NoBidReason]
    reject_detail: Optional[str]
    r"""The reason as text for people.
    """

    MEMBERS: ClassVar[Tuple[Member, ...]] = (
        Member("auction_id", "auction_id", str, required=True),
        Member("bid", "bid", Bid, required=True, nullable=True),
        Member("buyer_filters_passed", "buyer_filters_passed", str, many=True),
        Member("reject_reason", "reject_reason", NoBidReason),
        Member("reject_detail", "reject_detail", str),
    )

    def __init__(
        self,
        *,
        auction_id: str,
        bid: Optional[Bid],
        buyer_filters_passed: Optional[List[str]] = None,
        reject_reason: Optional[Union[NoBidReason, str]] = None,
        reject_detail: Optional[str] = None,
        extra: Optional[Mapping[str, Any]] = None,
    ) -> None:
        self.auction_id = auction_id
        self.bid = bid
        self.buyer_filters_passed = buyer_filters_passed
        self.reject_reason = None if reject_reason is None else NoBidReason(reject_reason)
        self.reject_detail = reject_detail
        self.extra = dict(extra or {})
