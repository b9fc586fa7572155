# Made by sdk/generate from api/openapi.yaml. Edit that, or sdk/python/templates, and run it again.
# ruff: noqa
# pyright: reportUnusedImport=false
from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any, ClassVar, Dict, List, Mapping, Optional, Tuple, Union

from pingpost._model import Member, Model
from pingpost.models.lead_status import LeadStatus
from pingpost.models.price import Price


@dataclass(init=False, repr=False)
class LeadEventData(Model):
    r"""The lead of the event, without contact data.
    """

    lead_id: str
    r"""The exchange's id of a lead.
    """
    lead_uuid: Optional[str]
    r"""Your id from the post; null after an ingest.
    """
    auction_id: Optional[str]
    r"""The auction's id as the caller knows it; null without an auction.
    """
    campaign_id: Optional[str]
    r"""The lead's campaign.
    """
    supplier_id: Optional[str]
    r"""The lead's supplier.
    """
    buyer_id: Optional[str]
    r"""The current or former buyer; null if there was no buyer.
    """
    status: LeadStatus
    price: Optional[Price]
    reason: Optional[str]
    r"""The cause: an unsold reason, or the reason in the buyer's report; else null.
    """
    reversed: Optional[Price]
    test: Optional[bool]
    r"""True for a test lead; else absent.
    """

    MEMBERS: ClassVar[Tuple[Member, ...]] = (
        Member("lead_id", "lead_id", str, required=True),
        Member("lead_uuid", "lead_uuid", str, required=True, nullable=True),
        Member("auction_id", "auction_id", str, required=True, nullable=True),
        Member("campaign_id", "campaign_id", str, required=True, nullable=True),
        Member("supplier_id", "supplier_id", str, required=True, nullable=True),
        Member("buyer_id", "buyer_id", str, required=True, nullable=True),
        Member("status", "status", LeadStatus, required=True),
        Member("price", "price", Price, required=True, nullable=True),
        Member("reason", "reason", str, required=True, nullable=True),
        Member("reversed", "reversed", Price, nullable=True),
        Member("test", "test", bool),
    )

    def __init__(
        self,
        *,
        lead_id: str,
        lead_uuid: Optional[str],
        auction_id: Optional[str],
        campaign_id: Optional[str],
        supplier_id: Optional[str],
        buyer_id: Optional[str],
        status: Union[LeadStatus, str],
        price: Optional[Price],
        reason: Optional[str],
        reversed: Optional[Price] = None,
        test: Optional[bool] = None,
        extra: Optional[Mapping[str, Any]] = None,
    ) -> None:
        self.lead_id = lead_id
        self.lead_uuid = lead_uuid
        self.auction_id = auction_id
        self.campaign_id = campaign_id
        self.supplier_id = supplier_id
        self.buyer_id = buyer_id
        self.status = LeadStatus(status)
        self.price = price
        self.reason = reason
        self.reversed = reversed
        self.test = test
        self.extra = dict(extra or {})
