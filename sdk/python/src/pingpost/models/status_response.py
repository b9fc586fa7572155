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
from pingpost.models.return_state import ReturnState


@dataclass(init=False, repr=False)
class StatusResponse(Model):
    r"""The result of a report.
    """

    lead_id: str
    r"""The exchange's id of a lead.
    """
    status: LeadStatus
    return_: Optional[ReturnState]

    MEMBERS: ClassVar[Tuple[Member, ...]] = (
        Member("lead_id", "lead_id", str, required=True),
        Member("status", "status", LeadStatus, required=True),
        Member("return", "return_", ReturnState),
    )

    def __init__(
        self,
        *,
        lead_id: str,
        status: Union[LeadStatus, str],
        return_: Optional[Union[ReturnState, str]] = None,
        extra: Optional[Mapping[str, Any]] = None,
    ) -> None:
        self.lead_id = lead_id
        self.status = LeadStatus(status)
        self.return_ = None if return_ is None else ReturnState(return_)
        self.extra = dict(extra or {})
