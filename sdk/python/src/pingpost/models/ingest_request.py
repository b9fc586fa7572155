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
class IngestRequest(Model):
    r"""A whole lead: the members below and the fields of the campaign. By the campaign's setting, unknown members are dropped, kept for the buyer, or rejected as `unknown_field`. If the campaign has its own field named `campaign_id` or `supplier_id`, the member is that field, and the request needs the `flo_` name.
    """

    campaign_id: Optional[str]
    r"""The lead's campaign.
    """
    supplier_id: Optional[str]
    r"""The lead's supplier, which must own the API key.
    """
    flo_campaign_id: Optional[str]
    r"""Another name of `campaign_id`. If both are present, they must be equal.
    """
    flo_supplier_id: Optional[str]
    r"""Another name of `supplier_id`. If both are present, they must be equal.
    """
    flo_ping_id: Optional[str]
    r"""The `ping_id` of a `POST /api/v1/ping`, to accept one of its offers. Requires `flo_buyer_id`.
    """
    flo_buyer_id: Optional[str]
    r"""The buyer of the accepted offer. Requires `flo_ping_id`.
    """
    first_name: str
    r"""Text of at most 4,096 bytes that is not blank. The only control characters allowed are tabs and line ends.
    """
    last_name: str
    r"""Text of at most 4,096 bytes that is not blank. The only control characters allowed are tabs and line ends.
    """
    phone: str
    r"""A phone number of digits, spaces, `( ) - .` and a leading `+`, with at most 15 digits. Without `+` it is a US number. It must be a valid number; 555-0100 to 555-0199 are valid in every US area code. The exchange stores and sends it in E.164 form.
    """
    email: str
    r"""An e-mail address: a dot-atom of at most 64 bytes, `@`, and two or more DNS labels without a hyphen at their ends, at most 254 bytes in total. No quotes, no address literal, no display name. The exchange stores the domain in lower case, and compares and hashes the whole address in lower case.
    """
    state: Optional[StateCode]
    line1: Optional[str]
    r"""Text of at most 4,096 bytes. The only control characters allowed are tabs and line ends.
    """
    city: Optional[str]
    r"""Text of at most 4,096 bytes. The only control characters allowed are tabs and line ends.
    """
    zip: Optional[str]
    r"""A ZIP code of five digits, or ZIP+4.
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
    consent_text: Optional[str]
    r"""The text that the person agreed to, of at most 16,384 bytes. The only control characters allowed are tabs and line ends.
    """
    consent_timestamp: Optional[datetime]
    r"""When the person gave consent, in RFC 3339 with any offset and at most nine decimals.
    """
    ip_address: Optional[str]
    r"""Text of at most 4,096 bytes. The only control characters allowed are tabs and line ends.
    """
    ai_quality_score: Optional[float]
    r"""The lead's estimated quality, usually from 0 to 1.
    """

    MEMBERS: ClassVar[Tuple[Member, ...]] = (
        Member("campaign_id", "campaign_id", str),
        Member("supplier_id", "supplier_id", str),
        Member("flo_campaign_id", "flo_campaign_id", str),
        Member("flo_supplier_id", "flo_supplier_id", str),
        Member("flo_ping_id", "flo_ping_id", str),
        Member("flo_buyer_id", "flo_buyer_id", str),
        Member("first_name", "first_name", str, required=True),
        Member("last_name", "last_name", str, required=True),
        Member("phone", "phone", str, required=True),
        Member("email", "email", str, required=True),
        Member("state", "state", StateCode),
        Member("line1", "line1", str),
        Member("city", "city", str),
        Member("zip", "zip", str),
        Member("source", "source", str),
        Member("tcpa_consent", "tcpa_consent", bool),
        Member("consent_cert_url", "consent_cert_url", str),
        Member("consent_text", "consent_text", str),
        Member("consent_timestamp", "consent_timestamp", datetime),
        Member("ip_address", "ip_address", str),
        Member("ai_quality_score", "ai_quality_score", float),
    )

    def __init__(
        self,
        *,
        campaign_id: Optional[str] = None,
        supplier_id: Optional[str] = None,
        flo_campaign_id: Optional[str] = None,
        flo_supplier_id: Optional[str] = None,
        flo_ping_id: Optional[str] = None,
        flo_buyer_id: Optional[str] = None,
        first_name: str,
        last_name: str,
        phone: str,
        email: str,
        state: Optional[Union[StateCode, str]] = None,
        line1: Optional[str] = None,
        city: Optional[str] = None,
        zip: Optional[str] = None,
        source: Optional[str] = None,
        tcpa_consent: Optional[bool] = None,
        consent_cert_url: Optional[str] = None,
        consent_text: Optional[str] = None,
        consent_timestamp: Optional[datetime] = None,
        ip_address: Optional[str] = None,
        ai_quality_score: Optional[float] = None,
        extra: Optional[Mapping[str, Any]] = None,
    ) -> None:
        self.campaign_id = campaign_id
        self.supplier_id = supplier_id
        self.flo_campaign_id = flo_campaign_id
        self.flo_supplier_id = flo_supplier_id
        self.flo_ping_id = flo_ping_id
        self.flo_buyer_id = flo_buyer_id
        self.first_name = first_name
        self.last_name = last_name
        self.phone = phone
        self.email = email
        self.state = None if state is None else StateCode(state)
        self.line1 = line1
        self.city = city
        self.zip = zip
        self.source = source
        self.tcpa_consent = tcpa_consent
        self.consent_cert_url = consent_cert_url
        self.consent_text = consent_text
        self.consent_timestamp = consent_timestamp
        self.ip_address = ip_address
        self.ai_quality_score = ai_quality_score
        self.extra = dict(extra or {})
