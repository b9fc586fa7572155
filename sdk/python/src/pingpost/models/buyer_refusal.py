# Made by sdk/generate from api/openapi.yaml. Edit that, or sdk/python/templates, and run it again.
# ruff: noqa
# pyright: reportUnusedImport=false
from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any, ClassVar, Dict, List, Mapping, Optional, Tuple, Union

from pingpost._model import Member, Model


@dataclass(init=False, repr=False)
class BuyerRefusal(Model):
    r"""A buyer's rejection of a lead. All members are optional, because the status decides.
    """

    error: Optional[str]
    r"""The cause as a code.
    """
    message: Optional[str]
    r"""The cause as text for people.
    """

    MEMBERS: ClassVar[Tuple[Member, ...]] = (
        Member("error", "error", str),
        Member("message", "message", str),
    )

    def __init__(
        self,
        *,
        error: Optional[str] = None,
        message: Optional[str] = None,
        extra: Optional[Mapping[str, Any]] = None,
    ) -> None:
        self.error = error
        self.message = message
        self.extra = dict(extra or {})
