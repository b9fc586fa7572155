# Made by sdk/generate from api/openapi.yaml. Edit that, or sdk/python/templates, and run it again.
# ruff: noqa
# pyright: reportUnusedImport=false
from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any, ClassVar, Dict, List, Mapping, Optional, Tuple, Union

from pingpost._model import Member, Model
from pingpost.models.seed_result import SeedResult
from pingpost.models.seeded_lead import SeededLead
from pingpost.models.state_code import StateCode


@dataclass(init=False, repr=False)
class SeedResponse(Model):
    r"""Generated leads. `campaign_id` and `results` are present if the request has a campaign.
    """

    count: int
    r"""The number of leads.
    """
    vertical: str
    r"""A name of 1 to 255 printable characters that is not blank.
    """
    state: StateCode
    seed: int
    r"""The seed of the leads.
    """
    leads: List[SeededLead]
    r"""The leads, in a fixed order.
    """
    campaign_id: Optional[str]
    r"""The campaign that processed the leads.
    """
    results: Optional[List[SeedResult]]
    r"""The outcome of each lead in `leads`, in the same order.
    """

    MEMBERS: ClassVar[Tuple[Member, ...]] = (
        Member("count", "count", int, required=True),
        Member("vertical", "vertical", str, required=True),
        Member("state", "state", StateCode, required=True),
        Member("seed", "seed", int, required=True),
        Member("leads", "leads", SeededLead, required=True, many=True),
        Member("campaign_id", "campaign_id", str),
        Member("results", "results", SeedResult, many=True),
    )

    def __init__(
        self,
        *,
        count: int,
        vertical: str,
        state: Union[StateCode, str],
        seed: int,
        leads: List[SeededLead],
        campaign_id: Optional[str] = None,
        results: Optional[List[SeedResult]] = None,
        extra: Optional[Mapping[str, Any]] = None,
    ) -> None:
        self.count = count
        self.vertical = vertical
        self.state = StateCode(state)
        self.seed = seed
        self.leads = leads
        self.campaign_id = campaign_id
        self.results = results
        self.extra = dict(extra or {})
