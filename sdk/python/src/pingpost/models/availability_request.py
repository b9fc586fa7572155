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
class AvailabilityRequest(Model):
    r"""What is told of a lead to learn who would buy it. Beside the members below it has the campaign's own fields that go into pings. Contact details are refused with `contact_field_not_allowed`, at any depth.
    """

    flo_campaign_id: str
    r"""The campaign, which must be one that holds auctions.
    """
    flo_supplier_id: str
    r"""The supplier that asks, which is the one that the API key belongs to.
    """
    state: Optional[StateCode]
    zip: Optional[str]
    r"""A ZIP code of five digits, or ZIP+4.
    """
    zip3: Optional[str]
    r"""The first three digits of a ZIP code.
    """
    source: Optional[str]
    r"""Text of at most 4,096 bytes, without control characters but tabs and ends of lines.
    """
    tcpa_consent: Optional[bool]
    r"""Whether the person has agreed to be called.
    """
    consent_cert_url: Optional[str]
    r"""Where the certificate of the person's consent is: an absolute https address, with neither user nor password. Required where `source` is one for which the campaign asks for it. A campaign may also name the hosts that it takes.
    """
    ai_quality_score: Optional[float]
    r"""How good the lead is held to be, commonly from 0 to 1.
    """

    MEMBERS: ClassVar[Tuple[Member, ...]] = (
        Member("flo_campaign_id", "flo_campaign_id", str, required=True),
        Member("flo_supplier_id", "flo_supplier_id", str, required=True),
        Member("state", "state", StateCode),
        Member("zip", "zip", str),
        Member("zip3", "zip3", str),
        Member("source", "source", str),
        Member("tcpa_consent", "tcpa_consent", bool),
        Member("consent_cert_url", "consent_cert_url", str),
        Member("ai_quality_score", "ai_quality_score", float),
    )

    def __init__(
        self,
        *,
        flo_campaign_id: str,
        flo_supplier_id: str,
        state: Optional[Union[StateCode, str]] = None,
        zip: Optional[str] = None,
        zip3: Optional[str] = None,
        source: Optional[str] = None,
        tcpa_consent: Optional[bool] = None,
        consent_cert_url: Optional[str] = None,
        ai_quality_score: Optional[float] = None,
        extra: Optional[Mapping[str, Any]] = None,
    ) -> None:
        self.flo_campaign_id = flo_campaign_id
        self.flo_supplier_id = flo_supplier_id
        self.state = None if state is None else StateCode(state)
        self.zip = zip
        self.zip3 = zip3
        self.source = source
        self.tcpa_consent = tcpa_consent
        self.consent_cert_url = consent_cert_url
        self.ai_quality_score = ai_quality_score
        self.extra = dict(extra or {})
