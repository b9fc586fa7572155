# Made by sdk/generate from api/openapi.yaml. Edit that, or sdk/python/templates, and run it again.
# ruff: noqa
# pyright: reportUnusedImport=false
from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any, ClassVar, Dict, List, Mapping, Optional, Tuple, Union

from pingpost._model import Member, Model
from pingpost.models.field_error_code import FieldErrorCode


@dataclass(init=False, repr=False)
class FieldError(Model):
    r"""One invalid member of a request.
    """

    field: str
    r"""The member's place, as a path with dots such as `lead.tcpa.consent_cert_url`, or the name of a header.
    """
    code: FieldErrorCode
    expected: str
    r"""The valid form, as text for people.
    """

    MEMBERS: ClassVar[Tuple[Member, ...]] = (
        Member("field", "field", str, required=True),
        Member("code", "code", FieldErrorCode, required=True),
        Member("expected", "expected", str, required=True),
    )

    def __init__(
        self,
        *,
        field: str,
        code: Union[FieldErrorCode, str],
        expected: str,
        extra: Optional[Mapping[str, Any]] = None,
    ) -> None:
        self.field = field
        self.code = FieldErrorCode(code)
        self.expected = expected
        self.extra = dict(extra or {})
