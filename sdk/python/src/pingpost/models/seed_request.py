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
class SeedRequest(Model):
    r"""The parameters of the generated leads.
    """

    count: int
    r"""The number of leads.
    """
    vertical: str
    r"""A name of 1 to 255 printable characters that is not blank.
    """
    state: StateCode
    seed: Optional[int]
    r"""Another seed gives other leads.
    """
    campaign_id: Optional[str]
    r"""A campaign to send the leads through. Without it, the leads are only generated.
    """

    MEMBERS: ClassVar[Tuple[Member, ...]] = (
        Member("count", "count", int, required=True),
        Member("vertical", "vertical", str, required=True),
        Member("state", "state", StateCode, required=True),
        Member("seed", "seed", int),
        Member("campaign_id", "campaign_id", str),
    )

    def __init__(
        self,
        *,
        count: int,
        vertical: str,
        state: Union[StateCode, str],
        seed: Optional[int] = None,
        campaign_id: Optional[str] = None,
        extra: Optional[Mapping[str, Any]] = None,
    ) -> None:
        self.count = count
        self.vertical = vertical
        self.state = StateCode(state)
        self.seed = seed
        self.campaign_id = campaign_id
        self.extra = dict(extra or {})
