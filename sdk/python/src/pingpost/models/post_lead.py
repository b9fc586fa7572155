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
    r"""A whole lead of a post: the members below and the campaign's own fields. The exchange takes missing members from the ping.
    """

    lead_uuid: str
    r"""The sender's id of the lead, of at most 255 printable characters. In posts to buyers, the exchange's id.
    """
    first_name: str
    r"""Text of at most 4,096 bytes that is not blank. The only control characters allowed are tabs and line ends.
    """
    last_name: str
    r"""Text of at most 4,096 bytes that is not blank. The only control characters allowed are tabs and line ends.
    """
    email: str
    r"""An e-mail address: a dot-atom of at most 64 bytes, `@`, and two or more DNS labels without a hyphen at their ends, at most 254 bytes in total. No quotes, no address literal, no display name. The exchange stores the domain in lower case, and compares and hashes the whole address in lower case.
    """
    phone: str
    r"""A phone number of digits, spaces, `( ) - .` and a leading `+`, with at most 15 digits. Without `+` it is a US number. It must be a valid number; 555-0100 to 555-0199 are valid in every US area code. The exchange stores and sends it in E.164 form.
    """
    address: Optional[Address]
    tcpa: Optional[Consent]
    source: Optional[str]
    r"""Text of at most 4,096 bytes. The only control characters allowed are tabs and line ends.
    """
    tcpa_consent: Optional[bool]
    r"""Whether the person agreed to calls.
    """
    ai_quality_score: Optional[float]
    r"""The lead's estimated quality, usually from 0 to 1.
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
