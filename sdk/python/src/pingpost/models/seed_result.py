# Made by sdk/generate from api/openapi.yaml. Edit that, or sdk/python/templates, and run it again.
# ruff: noqa
# pyright: reportUnusedImport=false
from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any, ClassVar, Dict, List, Mapping, Optional, Tuple, Union

from pingpost._model import Member, Model
from pingpost.models.error_code import ErrorCode
from pingpost.models.field_error import FieldError
from pingpost.models.ingest_status import IngestStatus
from pingpost.models.price import Price
from pingpost.models.unmatched_reason import UnmatchedReason


@dataclass(init=False, repr=False)
class SeedResult(Model):
    r"""The outcome of one lead: that of an ingest, or `error` if the lead was rejected.
    """

    id: Optional[str]
    r"""The exchange's id of a lead.
    """
    status: Optional[IngestStatus]
    buyer_id: Optional[str]
    r"""The buyer; null if unsold.
    """
    price: Optional[Price]
    reason: Optional[UnmatchedReason]
    error: Optional[ErrorCode]
    field_errors: Optional[List[FieldError]]
    r"""With `invalid_payload`, the invalid members.
    """

    MEMBERS: ClassVar[Tuple[Member, ...]] = (
        Member("id", "id", str),
        Member("status", "status", IngestStatus),
        Member("buyer_id", "buyer_id", str, nullable=True),
        Member("price", "price", Price),
        Member("reason", "reason", UnmatchedReason),
        Member("error", "error", ErrorCode),
        Member("field_errors", "field_errors", FieldError, many=True),
    )

    def __init__(
        self,
        *,
        id: Optional[str] = None,
        status: Optional[Union[IngestStatus, str]] = None,
        buyer_id: Optional[str] = None,
        price: Optional[Price] = None,
        reason: Optional[Union[UnmatchedReason, str]] = None,
        error: Optional[Union[ErrorCode, str]] = None,
        field_errors: Optional[List[FieldError]] = None,
        extra: Optional[Mapping[str, Any]] = None,
    ) -> None:
        self.id = id
        self.status = None if status is None else IngestStatus(status)
        self.buyer_id = buyer_id
        self.price = price
        self.reason = None if reason is None else UnmatchedReason(reason)
        self.error = None if error is None else ErrorCode(error)
        self.field_errors = field_errors
        self.extra = dict(extra or {})
