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
from pingpost.models.seeded_ping import SeededPing


@dataclass(init=False, repr=False)
class SeededLead(Model):
    r"""A generated lead, before and after its sale.
    """

    ping: SeededPing
    lead: PostLead

    MEMBERS: ClassVar[Tuple[Member, ...]] = (
        Member("ping", "ping", SeededPing, required=True),
        Member("lead", "lead", PostLead, required=True),
    )

    def __init__(
        self,
        *,
        ping: SeededPing,
        lead: PostLead,
        extra: Optional[Mapping[str, Any]] = None,
    ) -> None:
        self.ping = ping
        self.lead = lead
        self.extra = dict(extra or {})
