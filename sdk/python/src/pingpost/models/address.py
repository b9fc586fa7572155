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
    r"""The person's address, as far as known. A `state` or a `zip` that contradicts the ping is rejected as `ping_mismatch`.
    """

    line1: Optional[str]
    r"""Text of at most 4,096 bytes. The only control characters allowed are tabs and line ends.
    """
    city: Optional[str]
    r"""Text of at most 4,096 bytes. The only control characters allowed are tabs and line ends.
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
