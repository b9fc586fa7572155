# Made by sdk/generate from api/openapi.yaml. Edit that, or sdk/python/templates, and run it again.
# ruff: noqa
# pyright: reportUnusedImport=false
from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any, ClassVar, Dict, List, Mapping, Optional, Tuple, Union

from pingpost._model import Member, Model
from pingpost.models.availability import Availability


@dataclass(init=False, repr=False)
class AvailabilityResponse(Model):
    r"""The answer to a request for bids.
    """

    data: Availability

    MEMBERS: ClassVar[Tuple[Member, ...]] = (
        Member("data", "data", Availability, required=True),
    )

    def __init__(
        self,
        *,
        data: Availability,
        extra: Optional[Mapping[str, Any]] = None,
    ) -> None:
        self.data = data
        self.extra = dict(extra or {})
