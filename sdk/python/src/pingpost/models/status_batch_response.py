# Made by sdk/generate from api/openapi.yaml. Edit that, or sdk/python/templates, and run it again.
# ruff: noqa
# pyright: reportUnusedImport=false
from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any, ClassVar, Dict, List, Mapping, Optional, Tuple, Union

from pingpost._model import Member, Model
from pingpost.models.status_result import StatusResult


@dataclass(init=False, repr=False)
class StatusBatchResponse(Model):
    r"""The result of each report of a batch, in the same order.
    """

    results: List[StatusResult]
    r"""One result for each report.
    """

    MEMBERS: ClassVar[Tuple[Member, ...]] = (
        Member("results", "results", StatusResult, required=True, many=True),
    )

    def __init__(
        self,
        *,
        results: List[StatusResult],
        extra: Optional[Mapping[str, Any]] = None,
    ) -> None:
        self.results = results
        self.extra = dict(extra or {})
