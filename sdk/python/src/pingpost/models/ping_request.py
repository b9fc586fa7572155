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
class PingRequest(Model):
    r"""What is told of a lead before it is sold. Beside the members below it may have any others; they go on to the buyers. Contact details (names, phone, email, street, however they are spelt) are refused with `contact_field_not_allowed`, at any depth. A buyer's endpoint is sent the same form.
    """

    auction_id: str
    r"""The asker's name for an auction, of 1 to 255 printable characters. It names one auction and no other.
    """
    vertical: str
    r"""A name of 1 to 255 printable characters that is not blank.
    """
    sub_vertical: Optional[str]
    r"""A name of 1 to 255 printable characters that is not blank.
    """
    state: StateCode
    zip3: Optional[str]
    r"""The first three digits of a ZIP code.
    """
    currently_insured: Optional[bool]
    r"""Whether the person has insurance of this kind.
    """
    vehicle_count: Optional[int]
    r"""How many vehicles there are to insure.
    """
    driver_age_band: Optional[str]
    r"""The driver's age, as the lower and the upper end of a range.
    """
    ai_quality_score: Optional[float]
    r"""How good the lead is held to be, commonly from 0 to 1.
    """
    source: Optional[str]
    r"""Text of at most 4,096 bytes, without control characters but tabs and ends of lines.
    """
    tcpa_consent: bool
    r"""Whether the person has agreed to be called. In pings to buyers, false where it is not known.
    """
    consent_cert_url: Optional[str]
    r"""Where the certificate of the person's consent is: an absolute https address, with neither user nor password. Required where `source` is one for which the campaign asks for it. A campaign may also name the hosts that it takes.
    """
    expires_at: Optional[datetime]
    r"""Until when the asker listens. Left out, or more than five seconds ahead, it is five seconds from now; what is past is refused as `expired`.
    """

    MEMBERS: ClassVar[Tuple[Member, ...]] = (
        Member("auction_id", "auction_id", str, required=True),
        Member("vertical", "vertical", str, required=True),
        Member("sub_vertical", "sub_vertical", str),
        Member("state", "state", StateCode, required=True),
        Member("zip3", "zip3", str),
        Member("currently_insured", "currently_insured", bool),
        Member("vehicle_count", "vehicle_count", int),
        Member("driver_age_band", "driver_age_band", str),
        Member("ai_quality_score", "ai_quality_score", float),
        Member("source", "source", str),
        Member("tcpa_consent", "tcpa_consent", bool, required=True),
        Member("consent_cert_url", "consent_cert_url", str),
        Member("expires_at", "expires_at", datetime),
    )

    def __init__(
        self,
        *,
        auction_id: str,
        vertical: str,
        sub_vertical: Optional[str] = None,
        state: Union[StateCode, str],
        zip3: Optional[str] = None,
        currently_insured: Optional[bool] = None,
        vehicle_count: Optional[int] = None,
        driver_age_band: Optional[str] = None,
        ai_quality_score: Optional[float] = None,
        source: Optional[str] = None,
        tcpa_consent: bool,
        consent_cert_url: Optional[str] = None,
        expires_at: Optional[datetime] = None,
        extra: Optional[Mapping[str, Any]] = None,
    ) -> None:
        self.auction_id = auction_id
        self.vertical = vertical
        self.sub_vertical = sub_vertical
        self.state = StateCode(state)
        self.zip3 = zip3
        self.currently_insured = currently_insured
        self.vehicle_count = vehicle_count
        self.driver_age_band = driver_age_band
        self.ai_quality_score = ai_quality_score
        self.source = source
        self.tcpa_consent = tcpa_consent
        self.consent_cert_url = consent_cert_url
        self.expires_at = expires_at
        self.extra = dict(extra or {})
