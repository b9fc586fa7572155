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
    r"""The answer to a ping. Either `bid` is an object, or it is null, and then `reject_reason` and `reject_detail` are there.
    """

    auction_id: str
    r"""The asker's name for an auction, of 1 to 255 printable characters. It names one auction and no other.
    """
    bid: Optional[Bid]
    buyer_filters_passed: Optional[List[str]]
    r"""With a bid: what the buyer behind it, or the campaign, asks of a lead, and this one has. `vertical` is always among them; `state`, `tcpa` (consent) and `score_threshold` where a list of states or a filter asks for it.
    """
    reject_reason: Optional[NoBidReason]
    reject_detail: Optional[str]
    r"""The same in words, for a person.
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
