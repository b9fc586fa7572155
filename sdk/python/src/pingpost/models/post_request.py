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
class PostRequest(Model):
    r"""A lead for the bid of its ping.
    """

    auction_id: str
    r"""The caller's id of an auction, of 1 to 255 printable characters. It must be unique.
    """
    bid_token: str
    r"""The `bid_token` of the answer to the ping.
    """
    lead: PostLead

    MEMBERS: ClassVar[Tuple[Member, ...]] = (
        Member("auction_id", "auction_id", str, required=True),
        Member("bid_token", "bid_token", str, required=True),
        Member("lead", "lead", PostLead, required=True),
    )

    def __init__(
        self,
        *,
        auction_id: str,
        bid_token: str,
        lead: PostLead,
        extra: Optional[Mapping[str, Any]] = None,
    ) -> None:
        self.auction_id = auction_id
        self.bid_token = bid_token
        self.lead = lead
        self.extra = dict(extra or {})
