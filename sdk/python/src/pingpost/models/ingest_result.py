# Made by sdk/generate from api/openapi.yaml. Edit that, or sdk/python/templates, and run it again.
# ruff: noqa
# pyright: reportUnusedImport=false
from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any, ClassVar, Dict, List, Mapping, Optional, Tuple, Union

from pingpost._model import Member, Model
from pingpost.models.ingest_status import IngestStatus
from pingpost.models.price import Price
from pingpost.models.unmatched_reason import UnmatchedReason


@dataclass(init=False, repr=False)
class IngestResult(Model):
    r"""The outcome of a lead.
    """

    id: str
    r"""The exchange's id of a lead.
    """
    status: IngestStatus
    buyer_id: Optional[str]
    r"""The buyer; null if unsold.
    """
    campaign_id: str
    r"""The lead's campaign.
    """
    price: Optional[Price]
    reason: Optional[UnmatchedReason]

    MEMBERS: ClassVar[Tuple[Member, ...]] = (
        Member("id", "id", str, required=True),
        Member("status", "status", IngestStatus, required=True),
        Member("buyer_id", "buyer_id", str, required=True, nullable=True),
        Member("campaign_id", "campaign_id", str, required=True),
        Member("price", "price", Price),
        Member("reason", "reason", UnmatchedReason),
    )

    def __init__(
        self,
        *,
        id: str,
        status: Union[IngestStatus, str],
        buyer_id: Optional[str],
        campaign_id: str,
        price: Optional[Price] = None,
        reason: Optional[Union[UnmatchedReason, str]] = None,
        extra: Optional[Mapping[str, Any]] = None,
    ) -> None:
        self.id = id
        self.status = IngestStatus(status)
        self.buyer_id = buyer_id
        self.campaign_id = campaign_id
        self.price = price
        self.reason = None if reason is None else UnmatchedReason(reason)
        self.extra = dict(extra or {})
