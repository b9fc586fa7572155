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
    r"""The person's consent to calls, as far as known.
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
    consent_cert_url: Optional[str]
    r"""The address of the consent certificate: an absolute https address without user and password. Required if the campaign requires consent for the `source`. A campaign can also restrict the hosts.
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
