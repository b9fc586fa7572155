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
    r"""Partial data of a lead, to get bids. It has the members below and the campaign's ping fields. Members for contact data are rejected at any depth with `contact_field_not_allowed`, by the names that `PingRequest` lists. If the campaign has its own field named `campaign_id` or `supplier_id`, the member is that field, and the request needs the `flo_` name.
    """

    campaign_id: Optional[str]
    r"""The campaign, which must have the method `ping_post`.
    """
    supplier_id: Optional[str]
    r"""The supplier, which must own the API key.
    """
    flo_campaign_id: Optional[str]
    r"""Another name of `campaign_id`. If both are present, they must be equal.
    """
    flo_supplier_id: Optional[str]
    r"""Another name of `supplier_id`. If both are present, they must be equal.
    """
    state: Optional[StateCode]
    zip: Optional[str]
    r"""A ZIP code of five digits, or ZIP+4.
    """
    zip3: Optional[str]
    r"""The first three digits of a ZIP code.
    """
    source: Optional[str]
    r"""Text of at most 4,096 bytes. The only control characters allowed are tabs and line ends.
    """
    tcpa_consent: Optional[bool]
    r"""Whether the person agreed to calls.
    """
    consent_cert_url: Optional[str]
    r"""The address of the consent certificate: an absolute https address without user and password. Required if the campaign requires consent for the `source`. A campaign can also restrict the hosts.
    """
    ai_quality_score: Optional[float]
    r"""The lead's estimated quality, usually from 0 to 1.
    """

    MEMBERS: ClassVar[Tuple[Member, ...]] = (
        Member("campaign_id", "campaign_id", str),
        Member("supplier_id", "supplier_id", str),
        Member("flo_campaign_id", "flo_campaign_id", str),
        Member("flo_supplier_id", "flo_supplier_id", str),
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
        campaign_id: Optional[str] = None,
        supplier_id: Optional[str] = None,
        flo_campaign_id: Optional[str] = None,
        flo_supplier_id: Optional[str] = None,
        state: Optional[Union[StateCode, str]] = None,
        zip: Optional[str] = None,
        zip3: Optional[str] = None,
        source: Optional[str] = None,
        tcpa_consent: Optional[bool] = None,
        consent_cert_url: Optional[str] = None,
        ai_quality_score: Optional[float] = None,
        extra: Optional[Mapping[str, Any]] = None,
    ) -> None:
        self.campaign_id = campaign_id
        self.supplier_id = supplier_id
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
