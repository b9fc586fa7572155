# Made by sdk/generate from api/openapi.yaml. Edit that, or sdk/python/templates, and run it again.
# ruff: noqa
# pyright: reportUnusedImport=false
from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any, ClassVar, Dict, List, Mapping, Optional, Tuple, Union

from pingpost._model import Member, Model
from pingpost.models.post_status import PostStatus
from pingpost.models.price import Price


@dataclass(init=False, repr=False)
class PostResponse(Model):
    r"""A sale.
    """

    auction_id: str
    r"""The caller's id of an auction, of 1 to 255 printable characters. It must be unique.
    """
    lead_id: Optional[str]
    r"""The buyer's id of the lead; null if the buyer sent no id.
    """
    id: str
    r"""The exchange's id of a lead.
    """
    status: PostStatus
    buyer_id: str
    r"""The buyer of the lead.
    """
    price: Price

    MEMBERS: ClassVar[Tuple[Member, ...]] = (
        Member("auction_id", "auction_id", str, required=True),
        Member("lead_id", "lead_id", str, required=True, nullable=True),
        Member("id", "id", str, required=True),
        Member("status", "status", PostStatus, required=True),
        Member("buyer_id", "buyer_id", str, required=True),
        Member("price", "price", Price, required=True),
    )

    def __init__(
        self,
        *,
        auction_id: str,
        lead_id: Optional[str],
        id: str,
        status: Union[PostStatus, str],
        buyer_id: str,
        price: Price,
        extra: Optional[Mapping[str, Any]] = None,
    ) -> None:
        self.auction_id = auction_id
        self.lead_id = lead_id
        self.id = id
        self.status = PostStatus(status)
        self.buyer_id = buyer_id
        self.price = price
        self.extra = dict(extra or {})
