# Made by sdk/generate from api/openapi.yaml. Edit that, or sdk/python/templates, and run it again.
# ruff: noqa
# pyright: reportUnusedImport=false
from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any, ClassVar, Dict, List, Mapping, Optional, Tuple, Union

from pingpost._model import Member, Model
from pingpost.models.address import Address
from pingpost.models.consent import Consent


@dataclass(init=False, repr=False)
class PostLead(Model):
    r"""A whole lead as a post carries it. Beside the members below it has the campaign's own fields. What it leaves out is taken from the ping.
    """

    lead_uuid: str
    r"""The sender's own id of the lead, of at most 255 printable characters. In posts to buyers, the exchange's.
    """
    first_name: str
    r"""Text of at most 4,096 bytes that is not blank, without control characters but tabs and ends of lines.
    """
    last_name: str
    r"""Text of at most 4,096 bytes that is not blank, without control characters but tabs and ends of lines.
    """
    email: str
    r"""An email address: a dot-atom of at most 64 bytes, `@`, and two or more DNS labels with no hyphen at their ends, 254 bytes in all. No quotes, no address literal, no display name. Its domain is stored in lower case; compared and hashed it is lower case throughout.
    """
    phone: str
    r"""A phone number of digits, spaces, `( ) - .` and a leading `+`, at most 15 digits. A US number unless it begins with `+`. It must be one that can have been given to somebody; 555-0100 to 555-0199 count as such in any US area code. Stored, and sent to buyers, in E.164 form.
    """
    address: Optional[Address]
    tcpa: Optional[Consent]
    source: Optional[str]
    r"""Text of at most 4,096 bytes, without control characters but tabs and ends of lines.
    """
    tcpa_consent: Optional[bool]
    r"""Whether the person has agreed to be called.
    """
    ai_quality_score: Optional[float]
    r"""How good the lead is held to be, commonly from 0 to 1.
    """

    MEMBERS: ClassVar[Tuple[Member, ...]] = (
        Member("lead_uuid", "lead_uuid", str, required=True),
        Member("first_name", "first_name", str, required=True),
        Member("last_name", "last_name", str, required=True),
        Member("email", "email", str, required=True),
        Member("phone", "phone", str, required=True),
        Member("address", "address", Address),
        Member("tcpa", "tcpa", Consent),
        Member("source", "source", str),
        Member("tcpa_consent", "tcpa_consent", bool),
        Member("ai_quality_score", "ai_quality_score", float),
    )

    def __init__(
        self,
        *,
        lead_uuid: str,
        first_name: str,
        last_name: str,
        email: str,
        phone: str,
        address: Optional[Address] = None,
        tcpa: Optional[Consent] = None,
        source: Optional[str] = None,
        tcpa_consent: Optional[bool] = None,
        ai_quality_score: Optional[float] = None,
        extra: Optional[Mapping[str, Any]] = None,
    ) -> None:
        self.lead_uuid = lead_uuid
        self.first_name = first_name
        self.last_name = last_name
        self.email = email
        self.phone = phone
        self.address = address
        self.tcpa = tcpa
        self.source = source
        self.tcpa_consent = tcpa_consent
        self.ai_quality_score = ai_quality_score
        self.extra = dict(extra or {})
