# Made by sdk/generate from api/openapi.yaml. Edit that, or sdk/python/templates, and run it again.
# ruff: noqa
# pyright: reportUnusedImport=false
from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any, ClassVar, Dict, List, Mapping, Optional, Tuple, Union

from pingpost._model import Member, Model


@dataclass(init=False, repr=False)
class Consent(Model):
    r"""What is known of the person's consent to be called.
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
    consent_cert_url: Optional[str]
    r"""Where the certificate of the person's consent is: an absolute https address, with neither user nor password. Required where `source` is one for which the campaign asks for it. A campaign may also name the hosts that it takes.
    """

    MEMBERS: ClassVar[Tuple[Member, ...]] = (
        Member("consent_text", "consent_text", str),
        Member("consent_timestamp", "consent_timestamp", datetime),
        Member("ip_address", "ip_address", str),
        Member("consent_cert_url", "consent_cert_url", str),
    )

    def __init__(
        self,
        *,
        consent_text: Optional[str] = None,
        consent_timestamp: Optional[datetime] = None,
        ip_address: Optional[str] = None,
        consent_cert_url: Optional[str] = None,
        extra: Optional[Mapping[str, Any]] = None,
    ) -> None:
        self.consent_text = consent_text
        self.consent_timestamp = consent_timestamp
        self.ip_address = ip_address
        self.consent_cert_url = consent_cert_url
        self.extra = dict(extra or {})
