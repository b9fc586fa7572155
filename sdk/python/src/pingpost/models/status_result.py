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
from pingpost.models.lead_status import LeadStatus
from pingpost.models.return_state import ReturnState


@dataclass(init=False, repr=False)
class StatusResult(Model):
    r"""The result of one report: `status`, or `error` and `message`.
    """

    lead_id: Optional[str]
    r"""The lead's id from the report; null if that was not text.
    """
    status: Optional[LeadStatus]
    return_: Optional[ReturnState]
    error: Optional[ErrorCode]
    message: Optional[str]
    r"""The error as text for people.
    """
    field_errors: Optional[List[FieldError]]
    r"""With `invalid_payload`, the invalid members.
    """

    MEMBERS: ClassVar[Tuple[Member, ...]] = (
        Member("lead_id", "lead_id", str, required=True, nullable=True),
        Member("status", "status", LeadStatus),
        Member("return", "return_", ReturnState),
        Member("error", "error", ErrorCode),
        Member("message", "message", str),
        Member("field_errors", "field_errors", FieldError, many=True),
    )

    def __init__(
        self,
        *,
        lead_id: Optional[str],
        status: Optional[Union[LeadStatus, str]] = None,
        return_: Optional[Union[ReturnState, str]] = None,
        error: Optional[Union[ErrorCode, str]] = None,
        message: Optional[str] = None,
        field_errors: Optional[List[FieldError]] = None,
        extra: Optional[Mapping[str, Any]] = None,
    ) -> None:
        self.lead_id = lead_id
        self.status = None if status is None else LeadStatus(status)
        self.return_ = None if return_ is None else ReturnState(return_)
        self.error = None if error is None else ErrorCode(error)
        self.message = message
        self.field_errors = field_errors
        self.extra = dict(extra or {})
