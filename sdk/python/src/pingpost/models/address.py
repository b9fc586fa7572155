# Made by sdk/generate from api/openapi.yaml. Edit that, or sdk/python/templates, and run it again.
# ruff: noqa
# pyright: reportUnusedImport=false
from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any, ClassVar, Dict, List, Mapping, Optional, Tuple, Union

from pingpost._model import Member, Model
from pingpost.models.state_code import StateCode


@dataclass(init=False, repr=False)
class Address(Model):
    r"""Where the person lives, as far as it is known. A `state` or a `zip` other than the ping's is refused as `ping_mismatch`.
    """

    line1: Optional[str]
    r"""Text of at most 4,096 bytes, without control characters but tabs and ends of lines.
    """
    city: Optional[str]
    r"""Text of at most 4,096 bytes, without control characters but tabs and ends of lines.
    """
    state: Optional[StateCode]
    zip: Optional[str]
    r"""A ZIP code of five digits, or ZIP+4.
    """

    MEMBERS: ClassVar[Tuple[Member, ...]] = (
        Member("line1", "line1", str),
        Member("city", "city", str),
        Member("state", "state", StateCode),
        Member("zip", "zip", str),
    )

    def __init__(
        self,
        *,
        line1: Optional[str] = None,
        city: Optional[str] = None,
        state: Optional[Union[StateCode, str]] = None,
        zip: Optional[str] = None,
        extra: Optional[Mapping[str, Any]] = None,
    ) -> None:
        self.line1 = line1
        self.city = city
        self.state = None if state is None else StateCode(state)
        self.zip = zip
        self.extra = dict(extra or {})
