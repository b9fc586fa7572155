# Made by sdk/generate from api/openapi.yaml. Edit that, or sdk/python/templates, and run it again.
# ruff: noqa
# pyright: reportUnusedImport=false
from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any, ClassVar, Dict, List, Mapping, Optional, Tuple, Union

from pingpost._model import Member, Model
from pingpost.models.reported_status import ReportedStatus


@dataclass(init=False, repr=False)
class StatusBatchChange(Model):
    r"""One report of a batch.
    """

    lead_id: str
    r"""The lead's id.
    """
    status: ReportedStatus
    reason: Optional[str]
    r"""The reason, in at most 255 printable characters. Required for `returned`; it must be in the campaign's list of reasons, if there is one. The supplier receives it, without phone numbers and e-mail addresses.
    """
    occurred_at: Optional[datetime]
    r"""When it happened, at most five minutes in the future.
    """

    MEMBERS: ClassVar[Tuple[Member, ...]] = (
        Member("lead_id", "lead_id", str, required=True),
        Member("status", "status", ReportedStatus, required=True),
        Member("reason", "reason", str),
        Member("occurred_at", "occurred_at", datetime),
    )

    def __init__(
        self,
        *,
        lead_id: str,
        status: Union[ReportedStatus, str],
        reason: Optional[str] = None,
        occurred_at: Optional[datetime] = None,
        extra: Optional[Mapping[str, Any]] = None,
    ) -> None:
        self.lead_id = lead_id
        self.status = ReportedStatus(status)
        self.reason = reason
        self.occurred_at = occurred_at
        self.extra = dict(extra or {})
