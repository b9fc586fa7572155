# Made by sdk/generate from api/openapi.yaml. Edit that, or sdk/python/templates, and run it again.
# ruff: noqa
# pyright: reportUnusedImport=false
from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any, ClassVar, Dict, List, Mapping, Optional, Tuple, Union

from pingpost._model import Member, Model
from pingpost.models.delivery_state import DeliveryState
from pingpost.models.lead_status import LeadStatus
from pingpost.models.price import Price
from pingpost.models.return_state import ReturnState
from pingpost.models.unmatched_reason import UnmatchedReason


@dataclass(init=False, repr=False)
class Lead(Model):
    r"""A lead as its seller or its buyer sees it, without contact data.
    """

    id: str
    r"""The exchange's id of a lead.
    """
    status: LeadStatus
    campaign_id: str
    r"""The lead's campaign.
    """
    lead_uuid: Optional[str]
    r"""The seller's id from the post. Null for buyers, and if there is no such id.
    """
    auction_id: Optional[str]
    r"""The auction's id as the caller knows it; null without an auction.
    """
    buyer_id: Optional[str]
    r"""The buyer that has the lead, or that it is being sent to; null if there is no buyer.
    """
    price: Optional[Price]
    reason: Optional[UnmatchedReason]
    delivery: DeliveryState
    return_: Optional[ReturnState]
    created_at: datetime
    r"""When the lead was decided.
    """
    test: Optional[bool]
    r"""True for a test lead; else absent.
    """

    MEMBERS: ClassVar[Tuple[Member, ...]] = (
        Member("id", "id", str, required=True),
        Member("status", "status", LeadStatus, required=True),
        Member("campaign_id", "campaign_id", str, required=True),
        Member("lead_uuid", "lead_uuid", str, nullable=True),
        Member("auction_id", "auction_id", str, required=True, nullable=True),
        Member("buyer_id", "buyer_id", str, required=True, nullable=True),
        Member("price", "price", Price, required=True, nullable=True),
        Member("reason", "reason", UnmatchedReason, required=True, nullable=True),
        Member("delivery", "delivery", DeliveryState, required=True),
        Member("return", "return_", ReturnState),
        Member("created_at", "created_at", datetime, required=True),
        Member("test", "test", bool),
    )

    def __init__(
        self,
        *,
        id: str,
        status: Union[LeadStatus, str],
        campaign_id: str,
        lead_uuid: Optional[str] = None,
        auction_id: Optional[str],
        buyer_id: Optional[str],
        price: Optional[Price],
        reason: Optional[Union[UnmatchedReason, str]],
        delivery: Union[DeliveryState, str],
        return_: Optional[Union[ReturnState, str]] = None,
        created_at: datetime,
        test: Optional[bool] = None,
        extra: Optional[Mapping[str, Any]] = None,
    ) -> None:
        self.id = id
        self.status = LeadStatus(status)
        self.campaign_id = campaign_id
        self.lead_uuid = lead_uuid
        self.auction_id = auction_id
        self.buyer_id = buyer_id
        self.price = price
        self.reason = None if reason is None else UnmatchedReason(reason)
        self.delivery = DeliveryState(delivery)
        self.return_ = None if return_ is None else ReturnState(return_)
        self.created_at = created_at
        self.test = test
        self.extra = dict(extra or {})
