# Made by sdk/generate from api/openapi.yaml. Edit that, or sdk/python/templates, and run it again.
# ruff: noqa
# pyright: reportUnusedImport=false
from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any, ClassVar, Dict, List, Mapping, Optional, Tuple, Union

from pingpost._model import Member, Model
from pingpost.models.status_batch_change import StatusBatchChange


@dataclass(init=False, repr=False)
class StatusBatch(Model):
    r"""Reports on many leads.
    """

    changes: List[StatusBatchChange]
    r"""The reports, one for each lead.
    """

    MEMBERS: ClassVar[Tuple[Member, ...]] = (
        Member("changes", "changes", StatusBatchChange, required=True, many=True),
    )

    def __init__(
        self,
        *,
        changes: List[StatusBatchChange],
        extra: Optional[Mapping[str, Any]] = None,
    ) -> None:
        self.changes = changes
        self.extra = dict(extra or {})
