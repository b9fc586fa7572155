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
from pingpost.models.unmatched_reason import UnmatchedReason


@dataclass(init=False, repr=False)
class Error(Model):
    r"""An error. All paths use this form.
    """

    error: ErrorCode
    message: str
    r"""The problem and the remedy as text for people. It never repeats your input.
    """
    request_id: str
    r"""The exchange's id of one request, also in its logs.
    """
    field_errors: Optional[List[FieldError]]
    r"""With `invalid_payload`, all invalid members.
    """
    reason: Optional[UnmatchedReason]
    error_description: Optional[str]
    r"""With the errors of OAuth at `/oauth/token`, the text of `message`.
    """

    MEMBERS: ClassVar[Tuple[Member, ...]] = (
        Member("error", "error", ErrorCode, required=True),
        Member("message", "message", str, required=True),
        Member("request_id", "request_id", str, required=True),
        Member("field_errors", "field_errors", FieldError, many=True),
        Member("reason", "reason", UnmatchedReason),
        Member("error_description", "error_description", str),
    )

    def __init__(
        self,
        *,
        error: Union[ErrorCode, str],
        message: str,
        request_id: str,
        field_errors: Optional[List[FieldError]] = None,
        reason: Optional[Union[UnmatchedReason, str]] = None,
        error_description: Optional[str] = None,
        extra: Optional[Mapping[str, Any]] = None,
    ) -> None:
        self.error = ErrorCode(error)
        self.message = message
        self.request_id = request_id
        self.field_errors = field_errors
        self.reason = None if reason is None else UnmatchedReason(reason)
        self.error_description = error_description
        self.extra = dict(extra or {})
