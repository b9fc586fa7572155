# Made by sdk/generate from api/openapi.yaml. Edit that, or sdk/python/templates, and run it again.
# ruff: noqa
# pyright: reportUnusedImport=false
from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any, ClassVar, Dict, List, Mapping, Optional, Tuple, Union

from pingpost._model import Member, Model
from pingpost.models.lead_event_data import LeadEventData
from pingpost.models.lead_event_type import LeadEventType


@dataclass(init=False, repr=False)
class LeadEvent(Model):
    r"""An event of your lead.
    """

    id: str
    r"""The id of an event. Drop repeats by it.
    """
    type: LeadEventType
    created_at: datetime
    r"""When it happened.
    """
    data: LeadEventData

    MEMBERS: ClassVar[Tuple[Member, ...]] = (
        Member("id", "id", str, required=True),
        Member("type", "type", LeadEventType, required=True),
        Member("created_at", "created_at", datetime, required=True),
        Member("data", "data", LeadEventData, required=True),
    )

    def __init__(
        self,
        *,
        id: str,
        type: Union[LeadEventType, str],
        created_at: datetime,
        data: LeadEventData,
        extra: Optional[Mapping[str, Any]] = None,
    ) -> None:
        self.id = id
        self.type = LeadEventType(type)
        self.created_at = created_at
        self.data = data
        self.extra = dict(extra or {})
