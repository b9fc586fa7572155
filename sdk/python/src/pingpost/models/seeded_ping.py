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
class SeededPing(Model):
    r"""The body of a ping without `auction_id` and `expires_at`, with the usual fields of its vertical.
    """

    vertical: str
    r"""A name of 1 to 255 printable characters that is not blank.
    """
    state: StateCode
    zip3: str
    r"""The first three digits of a ZIP code.
    """
    source: str
    r"""Text of at most 4,096 bytes. The only control characters allowed are tabs and line ends.
    """
    tcpa_consent: bool
    r"""Whether the person agreed to calls.
    """
    ai_quality_score: float
    r"""The lead's estimated quality.
    """
    consent_cert_url: str
    r"""The address of the consent certificate: an absolute https address without user and password. Required if the campaign requires consent for the `source`. A campaign can also restrict the hosts.
    """

    MEMBERS: ClassVar[Tuple[Member, ...]] = (
        Member("vertical", "vertical", str, required=True),
        Member("state", "state", StateCode, required=True),
        Member("zip3", "zip3", str, required=True),
        Member("source", "source", str, required=True),
        Member("tcpa_consent", "tcpa_consent", bool, required=True),
        Member("ai_quality_score", "ai_quality_score", float, required=True),
        Member("consent_cert_url", "consent_cert_url", str, required=True),
    )

    def __init__(
        self,
        *,
        vertical: str,
        state: Union[StateCode, str],
        zip3: str,
        source: str,
        tcpa_consent: bool,
        ai_quality_score: float,
        consent_cert_url: str,
        extra: Optional[Mapping[str, Any]] = None,
    ) -> None:
        self.vertical = vertical
        self.state = StateCode(state)
        self.zip3 = zip3
        self.source = source
        self.tcpa_consent = tcpa_consent
        self.ai_quality_score = ai_quality_score
        self.consent_cert_url = consent_cert_url
        self.extra = dict(extra or {})
