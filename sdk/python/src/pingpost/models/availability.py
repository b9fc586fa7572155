# Made by sdk/generate from api/openapi.yaml. Edit that, or sdk/python/templates, and run it again.
# ruff: noqa
# pyright: reportUnusedImport=false
from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any, ClassVar, Dict, List, Mapping, Optional, Tuple, Union

from pingpost._model import Member, Model
from pingpost.models.no_bid_reason import NoBidReason
from pingpost.models.offer import Offer


@dataclass(init=False, repr=False)
class Availability(Model):
    r"""The offers for a lead.
    """

    ping_id: str
    r"""The id of this ping. An ingest refers to it to accept an offer.
    """
    campaign_id: str
    r"""The requested campaign.
    """
    accepted: bool
    r"""Whether there is an offer.
    """
    expires_at: datetime
    r"""The latest expiration of the offers.
    """
    buyers: List[Offer]
    r"""The offers, best first; empty if there are no offers.
    """
    reason: Optional[NoBidReason]

    MEMBERS: ClassVar[Tuple[Member, ...]] = (
        Member("ping_id", "ping_id", str, required=True),
        Member("campaign_id", "campaign_id", str, required=True),
        Member("accepted", "accepted", bool, required=True),
        Member("expires_at", "expires_at", datetime, required=True),
        Member("buyers", "buyers", Offer, required=True, many=True),
        Member("reason", "reason", NoBidReason),
    )

    def __init__(
        self,
        *,
        ping_id: str,
        campaign_id: str,
        accepted: bool,
        expires_at: datetime,
        buyers: List[Offer],
        reason: Optional[Union[NoBidReason, str]] = None,
        extra: Optional[Mapping[str, Any]] = None,
    ) -> None:
        self.ping_id = ping_id
        self.campaign_id = campaign_id
        self.accepted = accepted
        self.expires_at = expires_at
        self.buyers = buyers
        self.reason = None if reason is None else NoBidReason(reason)
        self.extra = dict(extra or {})
