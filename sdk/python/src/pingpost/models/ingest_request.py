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
    r"""A whole lead. Beside the members below it has those that the campaign's field mapping names. What nobody has named is dropped, kept for the buyer, or refused as `unknown_field`, as the campaign says.
    """

    flo_campaign_id: str
    r"""The campaign that the lead is for.
    """
    flo_supplier_id: str
    r"""The supplier that sends it, which is the one that the API key belongs to.
    """
    flo_ping_id: Optional[str]
    r"""The `ping_id` of a `POST /api/v1/ping`, to sell to a buyer that it offered. Together with `flo_buyer_id`.
    """
    flo_buyer_id: Optional[str]
    r"""The buyer that was chosen of those in that answer. Together with `flo_ping_id`.
    """
    first_name: str
    r"""Text of at most 4,096 bytes that is not blank, without control characters but tabs and ends of lines.
    """
    last_name: str
    r"""Text of at most 4,096 bytes that is not blank, without control characters but tabs and ends of lines.
    """
    phone: str
    r"""A phone number of digits, spaces, `( ) - .` and a leading `+`, at most 15 digits. A US number unless it begins with `+`. It must be one that can have been given to somebody; 555-0100 to 555-0199 count as such in any US area code. Stored, and sent to buyers, in E.164 form.
    """
    email: str
    r"""An email address: a dot-atom of at most 64 bytes, `@`, and two or more DNS labels with no hyphen at their ends, 254 bytes in all. No quotes, no address literal, no display name. Its domain is stored in lower case; compared and hashed it is lower case throughout.
    """
    state: Optional[StateCode]
    line1: Optional[str]
    r"""Text of at most 4,096 bytes, without control characters but tabs and ends of lines.
    """
    city: Optional[str]
    r"""Text of at most 4,096 bytes, without control characters but tabs and ends of lines.
    """
    zip: Optional[str]
    r"""A ZIP code of five digits, or ZIP+4.
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
    consent_text: Optional[str]
    r"""The words that were agreed to, of at most 16,384 bytes, without control characters but tabs and ends of lines.
    """
    consent_timestamp: Optional[datetime]
    r"""When consent was given, as RFC 3339 has it, in any offset, with at most nine decimals.
    """
    ip_address: Optional[str]
    r"""Text of at most 4,096 bytes, without control characters but tabs and ends of lines.
    """
    ai_quality_score: Optional[float]
    r"""How good the lead is held to be, commonly from 0 to 1.
    """

    MEMBERS: ClassVar[Tuple[Member, ...]] = (
        Member("flo_campaign_id", "flo_campaign_id", str, required=True),
        Member("flo_supplier_id", "flo_supplier_id", str, required=True),
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
        flo_campaign_id: str,
        flo_supplier_id: str,
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
